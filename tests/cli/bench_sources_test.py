"""The programs under bench/, which no target of a usual build compiles, go with the headers as they are now. Those for nvcc are not looked at."""
import os
import pathlib
import shutil
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ELSEWHERE = {"mpi_sums.cpp", "all_reduce.cpp"}  # they need the headers of an MPI


class BenchSources(unittest.TestCase):
    def test_every_program_compiles(self):
        if not SOURCE.joinpath("bench").is_dir():
            self.skipTest("the sources are not beside the tests")
        compiler = shutil.which("g++")
        if compiler is None:
            self.skipTest("there is no g++")
        files = [file for file in sorted(SOURCE.glob("bench/**/*.cpp")) if file.name not in ELSEWHERE]
        self.assertGreater(len(files), 10)
        for file in files:
            with self.subTest(file=str(file.relative_to(SOURCE))):
                # Constraints of assembler instructions are looked at where code is made, which takes longer.
                to = ["-c", "-o", os.devnull] if "asm" in file.read_text(encoding="utf-8") else ["-fsyntax-only"]
                done = subprocess.run([compiler, "-std=c++20", *to, "-I", SOURCE / "include", "-I", SOURCE / "src", '-DPEERS_PYTHON=""',
                                       '-DPEERS_SOURCE=""', '-DHISTOGRAMS_SOURCE=""', file], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr[:2000])


if __name__ == "__main__":
    unittest.main()
