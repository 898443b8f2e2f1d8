"""Every pattern's kernels in Oclgrind, which interprets the work-items one by one and checks each access: no data races, no access
out of bounds, no misuse of the interface; and the answers are the CPU's. The barrier has its own test."""
import glob
import os
import pathlib
import random
import re
import struct
import subprocess
import unittest

from support.program import PROGRAM, Case, header, npy

LIBRARY = next(iter(glob.glob("/usr/lib/oclgrind/liboclgrind-rt-icd.so") + glob.glob("/usr/lib/*/oclgrind/liboclgrind-rt-icd.so")), None)
RUNNER = pathlib.Path(PROGRAM).resolve().parent.parent / "tests/samesum_tests"
CHECKED = {"OCL_ICD_VENDORS": LIBRARY, "OCLGRIND_DATA_RACES": "1", "OCLGRIND_CHECK_API": "1", "SAMESUM_CACHE": "0"}


@unittest.skipUnless(LIBRARY, "Oclgrind is not installed (Debian package oclgrind)")
class Oclgrind(Case):
    def setUp(self):
        super().setUp()
        random.seed(11)
        self.array("f.npy", [random.gauss(0, 1) * 2.0 ** random.randint(-40, 40) for _ in range(5000)], "f")
        self.array("d.npy", [random.gauss(0, 1) for _ in range(300)])
        self.write("b.npy", npy(header("'|u1'", "(5000,)"), bytes(random.choices(range(256), range(256), k=5000))))
        self.write("s.npy", npy(header("'<u2'", "(700,)"), struct.pack("<700H", *(random.randrange(65536) for _ in range(700)))))

    def check(self, *arguments):
        """The CPU's answer, and no other messages."""
        with self.subTest(arguments=arguments):
            result = self.run_program(*arguments, "--device", "opencl:0", environment=CHECKED)
            if missing := re.search(rb"Undefined external function: (llvm\.\S+)", result.stderr):
                self.skipTest("this Oclgrind has no " + missing[1].decode())
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertEqual(result.stdout.decode(), self.succeed(*arguments, "--device", "cpu"))

    def passes(self, test):
        """One of the C++ tests."""
        if not RUNNER.exists():
            self.skipTest("the C++ tests are not here")
        done = subprocess.run([RUNNER, "--gtest_filter=" + test], env={**os.environ, **CHECKED, "GTEST_OUTPUT": ""},
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_sums(self):
        for name in ("f.npy", "d.npy", "b.npy", "s.npy"):
            self.check("sum", "--plain", name)

    def test_extremes_and_products(self):
        for command in ("min", "argmax", "prod"):
            for name in ("f.npy", "d.npy"):
                self.check(command, name)

    def test_scans(self):
        for name in ("f.npy", "d.npy", "s.npy"):
            self.check("scan", "--plain", name)
            self.check("scan", "--plain", "--float32", "--exclusive", name)

    def test_statistics(self):
        self.check("var", "f.npy")
        self.check("dot", "d.npy", "d.npy")

    def test_histograms(self):
        self.check("hist", "--csv", "b.npy")
        self.check("hist", "--csv", "s.npy", "--bins", "65536", "--range", "0", "65536")
        self.check("hist", "--csv", "f.npy", "--bins", "100", "--range", "-4", "4")
        self.check("hist", "--csv", "f.npy", "--edges=-1,0,0.5,7")

    def test_pairs(self):
        self.check("pairs", "d.npy", "d.npy", "--f", "sqdist", "--reduce", "argmin")
        self.check("pairs", "d.npy", "d.npy", "--f", "product", "--accuracy", "exact")

    def test_plans_of_products(self):
        self.passes("ProductPlan.OfFewElements")

    def test_channels_by_counters_that_are_emptied(self):
        self.passes("HistogramOfChannels.NarrowCountersOfFewBytesAreRight")

    def test_a_race_is_found(self):
        result = self.run_program("bench", "histogram", "--variant", "racy", "--size", "2^8", "--runs", "1", "--device", "opencl:0",
                                  environment=CHECKED)
        self.assertIn(b"Read-write data race at global memory", result.stderr)


if __name__ == "__main__":
    unittest.main()
