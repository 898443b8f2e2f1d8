"""The headers over MPI from C++, C and Fortran, compiled by each MPI of Debian that is installed, and run with several numbers of ranks."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = pathlib.Path(os.environ["SAMESUM_LIBRARY"])
INCLUDE = SOURCE / "include"
WARNINGS = ["-O1", "-Wall", "-Wextra", "-Werror"]


class Languages(unittest.TestCase):
    """With Open MPI, and again with MPICH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_with(self, mpi, compiler, *command, ranks=(1, 3)):
        compiler, start = f"{compiler}.{mpi}", f"mpirun.{mpi}"
        for tool in (compiler, start):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        program = self.folder / "program"
        arguments = [compiler, *map(str, command), str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-o", str(program)]
        found = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stderr)
        outputs = set()
        for count in ranks:
            found = subprocess.run([start, "-n", str(count), str(program)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                   timeout=200, check=False)
            self.assertEqual(found.returncode, 0, f"{count} ranks: {found.stdout}{found.stderr}")
            outputs.add(found.stdout.split(":", 1)[-1].split(", by plain")[0])
        self.assertEqual(len(outputs), 1, outputs)
        return outputs.pop()

    def c(self, mpi):
        self.run_with(mpi, "mpicc", "-std=c11", "-Wpedantic", *WARNINGS, "-I", INCLUDE, SOURCE / "tests/mpi/c_mpi_test.c", "-lm", ranks=(1, 2, 3, 7))

    def fortran(self, mpi):
        answer = self.run_with(mpi, "mpif90", "-O1", "-Wall", INCLUDE / "samesum/samesum_mpi.f90", SOURCE / "examples/mpi/sum.f90", ranks=(1, 2, 7))
        self.assertIn("sum 3FE161DA28FF31EF", answer)

    def cpp(self, mpi):
        skip = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
        answer = self.run_with(mpi, "mpicxx", "-std=c++20", *WARNINGS, *skip, "-I", INCLUDE, SOURCE / "examples/mpi/sum.cpp")
        self.assertIn("sum 0x1.161da28ff31efp-1", answer)

    def test_c_with_open_mpi(self):
        self.c("openmpi")

    def test_c_with_mpich(self):
        self.c("mpich")

    def test_fortran_with_open_mpi(self):
        self.fortran("openmpi")

    def test_fortran_with_mpich(self):
        self.fortran("mpich")

    def test_cpp_with_mpich(self):
        self.cpp("mpich")


if __name__ == "__main__":
    unittest.main()
