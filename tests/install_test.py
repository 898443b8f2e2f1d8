"""What other projects get: an installed samesum, found with find_package and with pkg-config, wherever the folder was moved."""
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

import numpy

PROGRAM = pathlib.Path(os.environ["SAMESUM_PROGRAM"])
BUILD = PROGRAM.parent.parent
SOURCE = pathlib.Path(__file__).resolve().parent.parent


def from_cache(name):
    for line in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + ":"):
            return line.partition("=")[2]
    raise KeyError(name)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


@unittest.skipUnless((BUILD / "CMakeCache.txt").exists(), "there is no build tree to install from")
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = pathlib.Path(scratch.name)
        run("cmake", "--install", BUILD, "--prefix", cls.scratch / "first")
        cls.prefix = (cls.scratch / "first").rename(cls.scratch / "moved")
        cls.array = cls.scratch / "x.npy"
        numpy.save(cls.array, numpy.array([2.0**-149, 1, 1e30, -1e30], dtype="f4"))

    def check(self, program):
        self.assertEqual(run(program), "1\n")
        self.assertEqual(run(program, self.array), run(PROGRAM, "sum", "--plain", self.array))
        with self.assertRaisesRegex(AssertionError, "none.npy"):
            run(program, self.scratch / "none.npy")

    def configure(self, source, build):
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={from_cache('CMAKE_CXX_COMPILER')}",
            f"-DCMAKE_CXX_FLAGS={from_cache('CMAKE_CXX_FLAGS')}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")

    def test_find_package(self):
        build = self.scratch / "find_package"
        self.configure(SOURCE / "examples" / "find_package", build)
        run("cmake", "--build", build)
        self.check(build / "total")

    def test_another_minor_version_is_refused(self):
        source = self.scratch / "other"
        shutil.copytree(SOURCE / "examples" / "find_package", source)
        listing = source / "CMakeLists.txt"
        listing.write_text(listing.read_text(encoding="utf-8").replace("samesum 0.1", "samesum 0.99"), encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, 'compatible with requested version "0.99"'):
            self.configure(source, self.scratch / "other_build")

    def test_pkg_config(self):
        folder = next(self.prefix.glob("lib/**/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "samesum", env=dict(os.environ, PKG_CONFIG_PATH=str(folder)))
        program = self.scratch / "total"
        run(from_cache("CMAKE_CXX_COMPILER"), "-std=c++20", *shlex.split(from_cache("CMAKE_CXX_FLAGS")),
            SOURCE / "examples" / "find_package" / "total.cpp", "-o", program, *shlex.split(flags))
        self.check(program)

    def test_nothing_of_the_build_tree_is_in_it(self):
        for path in self.prefix.rglob("*"):
            if path.suffix in (".cmake", ".pc", ".hpp"):
                text = path.read_text(encoding="utf-8")
                self.assertNotIn(str(SOURCE), text, path)
                self.assertNotIn(str(self.scratch), text, path)

    def test_every_header_stands_alone(self):
        include = self.prefix / "include"
        for header in sorted(include.rglob("*.hpp")):
            run(from_cache("CMAKE_CXX_COMPILER"), "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-I", include, "-include",
                header, os.devnull)


if __name__ == "__main__":
    unittest.main()
