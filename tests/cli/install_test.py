"""The installed library in other projects: found by find_package and pkg-config, also after the folder was moved; static and
shared, with only the requested components, and exporting only its public interface."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import numpy

PROGRAM = pathlib.Path(os.environ["SAMESUM_PROGRAM"])
BUILD = PROGRAM.parent.parent
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


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
class InstallAndUninstall(unittest.TestCase):
    """make install and make uninstall, but for the building."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "root"

    def make(self, goal, prefix):
        folder = [BUILD] if goal == "install" else []
        return run(SOURCE / "tools" / f"{goal}.sh", *folder, prefix, env=dict(os.environ, DESTDIR=str(self.root)))

    def there(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))

    def test_all_of_it_is_there_and_then_nothing(self):
        self.make("install", "/opt/samesum")
        there = self.there()
        for one in ("bin/samesum", "include/samesum/samesum.hpp", "share/man/man1/samesum.1", "share/man/man1/samesum-bench-sum.1",
                    "share/bash-completion/completions/samesum", "share/zsh/site-functions/_samesum", "share/fish/vendor_completions.d/samesum.fish"):
            self.assertIn("opt/samesum/" + one, there)
        self.make("uninstall", "/opt/samesum")
        self.assertEqual(self.there(), [])
        with self.assertRaisesRegex(AssertionError, "nothing was installed"):
            self.make("uninstall", "/opt/samesum")

    def test_what_others_have_there_stays(self):
        for folder in ("usr/local/bin", "usr/local/lib/cmake", "usr/local/share"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "usr/local/bin/other").write_text("other", encoding="utf-8")
        before = self.there()
        self.make("install", "/usr/local")
        (self.root / "usr/local/share/man/man1/other.1").write_text("later than samesum", encoding="utf-8")
        self.make("install", "/usr/local")  # once more, as of a newer version
        self.make("uninstall", "/usr/local")
        self.assertEqual(self.there(), sorted([*before, "usr/local/share/man", "usr/local/share/man/man1", "usr/local/share/man/man1/other.1"]))

    def test_a_prefix_is_absolute(self):
        with self.assertRaisesRegex(AssertionError, "absolute"):
            self.make("install", "here")


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

    def configure(self, source, build, *options):
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_COMPILER={from_cache('CMAKE_CXX_COMPILER')}",
            f"-DCMAKE_CXX_FLAGS={from_cache('CMAKE_CXX_FLAGS')}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", *options)

    def loaded_by(self, binary):
        """Its direct dependencies on shared libraries."""
        return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", binary)))

    def library(self, name):
        return next(self.prefix.glob("lib/**/" + name))

    def test_find_package(self):
        # Neither image libraries nor build dependencies are needed: they must not even be searched for.
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("PNG", "JPEG", "TIFF", "fmt", "nlohmann_json")]
        for kind, choice in (("static", "OFF"), ("shared", "ON")):
            with self.subTest(kind=kind):
                build = self.scratch / f"find_package_{kind}"
                self.configure(SOURCE / "examples" / "find_package", build, f"-DBUILD_SHARED_LIBS={choice}", *absent)
                run("cmake", "--build", build)
                self.check(build / "total")
                loaded = self.loaded_by(build / "total")
                self.assertEqual("libsamesum.so.0" in loaded, kind == "shared", loaded)
                self.assertFalse([name for name in loaded if re.match("lib(png|jpeg|fmt|samesum_image)", name)], loaded)

    def test_find_package_with_images(self):
        source = self.scratch / "images"
        source.mkdir()
        (source / "main.cpp").write_text("""#include <samesum/samesum.hpp>
            int main(int, char** path) try { samesum::load_image(path[1]); return 1; } catch (const samesum::Error& error) { return 0; }
            """, encoding="utf-8")
        (source / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.22)
            project(images LANGUAGES CXX)
            find_package(samesum 0.1 REQUIRED COMPONENTS core image)
            add_executable(user main.cpp)
            target_link_libraries(user PRIVATE samesum::samesum)
            add_library(part MODULE main.cpp)  # the static library can be part of a shared one too
            target_link_libraries(part PRIVATE samesum::image samesum::core)
            """, encoding="utf-8")
        for kind, choice in (("static", "OFF"), ("shared", "ON")):
            with self.subTest(kind=kind):
                build = self.scratch / f"images_{kind}"
                self.configure(source, build, f"-DBUILD_SHARED_LIBS={choice}")
                run("cmake", "--build", build)
                run(build / "user", self.array)
                self.assertEqual("libsamesum_image.so.0" in self.loaded_by(build / "user"), kind == "shared")
        with self.assertRaisesRegex(AssertionError, "sound"):
            text = (source / "CMakeLists.txt").read_text(encoding="utf-8").replace("core image", "core sound")
            (source / "CMakeLists.txt").write_text(text, encoding="utf-8")
            self.configure(source, self.scratch / "sound")

    def test_shared_libraries_show_the_public_interface_alone(self):
        for name, some in (("libsamesum.so", "samesum::choose_device("), ("libsamesum_image.so", "samesum::load_image(")):
            library = self.library(name)
            self.assertIn(f"Library soname: [{name}.0]", run("readelf", "-dW", library))
            self.assertNotRegex(run("readelf", "-dW", library), r"path: \[(?!\$ORIGIN\])")
            shown = [line.split(" ", 2)[2] for line in run("nm", "-DC", "--defined-only", library).splitlines() if " A " not in line]
            self.assertTrue(any(symbol.startswith(some) for symbol in shown), shown)
            inside = "|".join(path.name for path in (SOURCE / "src").iterdir() if path.name not in ("bench", "nccl"))  # samesum::nccl is public: samesum/nccl.hpp
            inside += "|all_pairs|binning|simd|hard|product_tree"
            for symbol in shown:
                plain = re.sub(r"^(typeinfo|typeinfo name|vtable|guard variable) for ", "", symbol)
                self.assertTrue(plain.startswith(("samesum::", "samesum_")), f"{name} shows {symbol}")  # the second: the C interface
                self.assertNotRegex(plain, rf"^samesum::({inside})::|^samesum::[^(]*::State::", f"{name} shows what is inside")
        self.assertFalse({entry for entry in self.loaded_by(self.library("libsamesum.so")) if re.match("lib(png|jpeg|fmt)", entry)})

    def test_another_minor_version_is_refused(self):
        source = self.scratch / "other"
        shutil.copytree(SOURCE / "examples" / "find_package", source)
        listing = source / "CMakeLists.txt"
        listing.write_text(listing.read_text(encoding="utf-8").replace("samesum 0.1", "samesum 0.99"), encoding="utf-8")
        with self.assertRaisesRegex(AssertionError, 'compatible with requested version "0.99"'):
            self.configure(source, self.scratch / "other_build")

    def test_the_program_needs_no_more_than_shared_libraries_show(self):
        commands = (BUILD / "compile_commands.json").read_text(encoding="utf-8")  # those of now: older objects may lie there too
        objects = [BUILD / path for path in re.findall(r" -o (\S+/samesum_program\.dir/\S+)", commands)]
        self.assertTrue(objects)
        folder, program = self.library("libsamesum.so").parent, self.scratch / "samesum_shared"
        run(from_cache("CMAKE_CXX_COMPILER"), *shlex.split(from_cache("CMAKE_CXX_FLAGS")), *objects, "-o", program, "-L", folder, "-lsamesum_image",
            "-lsamesum", "-lfmt", "-ldl", "-pthread", f"-Wl,-rpath,{folder}")
        self.assertEqual(run(program, "sum", "--plain", self.array), run(PROGRAM, "sum", "--plain", self.array))

    def test_pkg_config(self):
        folder = self.library("samesum.pc").parent
        environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
        source = SOURCE / "examples" / "find_package" / "total.cpp"
        compiler = [from_cache("CMAKE_CXX_COMPILER"), "-std=c++20", *shlex.split(from_cache("CMAKE_CXX_FLAGS")), source, "-o"]
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "samesum", env=environment))
        shared = self.scratch / "total_shared"
        run(*compiler, shared, *flags, f"-Wl,-rpath,{folder.parent}")
        self.check(shared)
        flags = shlex.split(run("pkg-config", "--static", "--cflags", "--libs", "samesum", env=environment))
        static = self.scratch / "total_static"
        run(*compiler, static, *[flag.replace("-lsamesum", "-l:libsamesum.a") for flag in flags])
        self.check(static)
        self.assertNotIn("libsamesum.so.0", self.loaded_by(static))
        flags = shlex.split(run("pkg-config", "--static", "--libs", "samesum_image", env=environment))
        self.assertTrue({"-lsamesum_image", "-lsamesum", "-lpng", "-ljpeg"} <= set(flags), flags)

    def foreign(self, compiler, *command):
        """Builds and runs an example in another language with the shared library."""
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed")
        if "-fsanitize" in from_cache("CMAKE_CXX_FLAGS"):
            self.skipTest("a program of another language does not start with the sanitizers")
        program = self.scratch / f"sums_{compiler}"
        run(compiler, *command, "-o", program)
        run(program)
        self.assertIn("libsamesum.so.0", self.loaded_by(program))

    def flags(self, *options):
        folder = self.library("samesum.pc").parent
        return shlex.split(run("pkg-config", *options, "samesum", env=dict(os.environ, PKG_CONFIG_PATH=str(folder))))

    def test_c(self):
        source = SOURCE / "examples" / "c" / "sums.c"
        strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source]
        self.foreign("cc", *strict, *self.flags("--cflags", "--libs"), f"-Wl,-rpath,{self.library('libsamesum.so').parent}")
        program = self.scratch / "sums_static"
        run("cc", *strict, *[flag.replace("-lsamesum", "-l:libsamesum.a") for flag in self.flags("--static", "--cflags", "--libs")], "-o", program)
        run(program)

    def test_fortran(self):
        folder = self.library("libsamesum.so").parent
        self.foreign("gfortran", "-J", self.scratch, SOURCE / "examples" / "c" / "sums.f90", *self.flags("--libs"), f"-Wl,-rpath,{folder}")

    def test_rust(self):
        folder = self.library("libsamesum.so").parent
        self.foreign("rustc", SOURCE / "examples" / "c" / "sums.rs", "-L", folder, "-l", "samesum", "-C", f"link-arg=-Wl,-rpath,{folder}")

    def test_nothing_of_the_build_tree_is_in_it(self):
        for path in self.prefix.rglob("*"):
            if path.suffix in (".cmake", ".pc", ".hpp", ".h"):
                text = path.read_text(encoding="utf-8")
                self.assertNotIn(str(SOURCE), text, path)
                self.assertNotIn(str(self.scratch), text, path)


if __name__ == "__main__":
    unittest.main()
