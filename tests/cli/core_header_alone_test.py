"""samesum_core.hpp: as it is written from src/exact; compiled by itself, for this machine and for others, it has the bits of the library."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = SOURCE / "tests/core_header"
STRICT = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror"]


def tools(*names):
    """A decorator: skips where one of the programs is not installed."""
    missing = [name for name in names if shutil.which(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


@unittest.skipUnless((SOURCE / "tools/write-core-header.py").exists(), "the header is written in a checkout")
class CoreHeader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The header alone, where no other header of the project is found.
        shutil.copy(SOURCE / "include/samesum/samesum_core.hpp", self.folder)
        shutil.copy(SOURCE / "tests/support/core_golden.hpp", self.folder)

    def compiled(self, compiler, *options):
        program = self.folder / "golden.exe"
        command = [compiler, *STRICT, *options, "-I", self.folder, GOLDEN / "golden.cpp", GOLDEN / "second.cpp", "-o", program]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        return program

    def succeeds(self, *command):
        found = subprocess.run([str(part) for part in command], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_is_up_to_date(self):
        self.succeeds(sys.executable, SOURCE / "tools/write-core-header.py", "--check")

    @tools("g++")
    def test_by_itself(self):
        self.succeeds(self.compiled("g++"))

    @tools("clang++-15")
    def test_by_clang(self):
        self.succeeds(self.compiled("clang++-15"))

    @tools("aarch64-linux-gnu-g++", "qemu-aarch64-static")
    def test_on_aarch64(self):
        self.succeeds("qemu-aarch64-static", self.compiled("aarch64-linux-gnu-g++", "-static"))

    @tools("s390x-linux-gnu-g++", "qemu-s390x-static")
    def test_on_a_machine_with_the_highest_byte_first(self):
        self.succeeds("qemu-s390x-static", self.compiled("s390x-linux-gnu-g++", "-static"))

    @tools("x86_64-w64-mingw32-g++-posix")
    def test_for_windows(self):
        program = self.compiled("x86_64-w64-mingw32-g++-posix", "-static")
        wine = shutil.which("wine64") or shutil.which("wine") or "/usr/lib/wine/wine64"
        if not pathlib.Path(wine).exists():
            self.skipTest("compiled, not run: wine is not installed")
        environment = {"WINEPREFIX": str(self.folder / "wine"), "WINEDEBUG": "-all", "PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        found = subprocess.run([wine, str(program)], env=environment, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(found.returncode, 0, found.stdout)


if __name__ == "__main__":
    unittest.main()
