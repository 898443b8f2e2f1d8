"""Every public header, as installed, is compiled by itself, as the first thing that a program includes."""
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["SAMESUM_PROGRAM"]).parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


@unittest.skipUnless((BUILD / "CMakeCache.txt").exists(), "there is no build tree to install from")
class HeadersAlone(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.run_command("cmake", "--install", BUILD, "--prefix", scratch.name)
        self.include = pathlib.Path(scratch.name) / "include"

    def run_command(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}:\n{done.stdout}{done.stderr}")

    def test_in_cpp(self):
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        compiler = next(line.partition("=")[2] for line in cache if line.startswith("CMAKE_CXX_COMPILER:"))
        headers = sorted(self.include.rglob("*.hpp"))
        self.assertGreater(len(headers), 50)
        for header in headers:
            if header.name in ("mpi.hpp", "mpi_product.hpp"):
                continue  # over the user's MPI, whose compiler builds it alone in the tests mpi_*
            self.run_command(compiler, "-std=c++20", *WARNINGS, "-x", "c++", "-I", self.include, "-include", header, os.devnull)

    def test_in_c(self):
        headers = [self.include / "samesum" / "samesum.h", *(self.include / "samesum" / "c").glob("*.h")]
        self.assertGreater(len(headers), 5)
        for header in headers:
            self.run_command("cc", "-std=c11", "-Wpedantic", *WARNINGS, "-x", "c", "-I", self.include, header)


if __name__ == "__main__":
    unittest.main()
