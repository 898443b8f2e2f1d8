"""Drivers at their worst: that promise what they have not, hang, throw, cannot write where they must, or find no memory. In all of these the
program says what was wrong, and ends. tests/fake_opencl.cpp stands before the machine's OpenCL driver."""
import os
import pathlib
import resource
import unittest

from support.program import PROGRAM, Case

FAKE = pathlib.Path(os.environ.get("SAMESUM_FAKES", "")) / "libfake_opencl.so"
DEVICE = "opencl:0"


def sanitized():
    """A sanitizer's runtime takes terabytes of addresses."""
    return b"__asan_init" in pathlib.Path(PROGRAM).read_bytes() or b"__tsan_init" in pathlib.Path(PROGRAM).read_bytes()


@unittest.skipUnless(FAKE.exists(), "there is no OpenCL driver to stand before")
class Drivers(Case):
    def setUp(self):
        super().setUp()
        self.array("x.npy", [1e30, 1, -1e30] * 100, "f")
        self.array("y.npy", [float(i % 37) for i in range(5000)], "f")

    def fake(self, words, **more):
        return dict(SAMESUM_OPENCL_LIBRARY=str(FAKE), FAKE_OPENCL=words, **more)

    def test_that_names_every_extension(self):
        """Its kernels are those that it can compile; and a GPU's, on PoCL."""
        environment = self.fake("claims gpu")
        listed = self.succeed("devices", environment=environment)
        self.assertIn("lacks subgroups: OpenCL C does not say how many work-items a sub-group has", listed)
        for command in (["sum", "x.npy"], ["max", "y.npy"], ["dot", "y.npy", "y.npy"], ["std", "y.npy"], ["hist", "--csv", "y.npy"]):
            with self.subTest(command=command):
                found = self.succeed(*command, "--device", DEVICE, environment=environment)
                self.assertEqual(found, self.succeed(*command, "--device", "cpu"))

    def test_whose_compiler_throws(self):
        for attempt in (["sum", "x.npy"], ["stats", "x.npy"]):
            message = self.refuse(*attempt, "--device", DEVICE, environment=self.fake("bad_alloc", SAMESUM_CACHE="0"))
            self.assertIn("the driver's compiler broke off", message)
            self.assertIn(DEVICE, message)

    def test_that_takes_long(self):
        environment = self.fake("slow", SAMESUM_CACHE_DIR=self.path("cache"), SAMESUM_DRIVER_SECONDS="0.5")
        result = self.run_program("sum", "--plain", "x.npy", "--device", DEVICE, environment=environment)
        self.assertEqual((result.returncode, result.stdout), (0, b"100\n"), result.stderr)
        message = result.stderr.decode()
        self.assertRegex(message, r"still waiting: the driver of opencl:0 \(.+\) has not returned from clBuildProgram for [1-9]")
        self.assertIn("--device cpu", message)
        environment["SAMESUM_DRIVER_SECONDS"] = "0"
        environment["SAMESUM_CACHE_DIR"] = self.path("other")
        self.assertEqual(self.run_program("sum", "x.npy", "--device", DEVICE, environment=environment).stderr, b"")

    def pocl(self):
        if "Portable Computing Language" not in self.succeed("devices"):
            self.skipTest("the OpenCL driver is not PoCL")

    def test_without_a_folder_to_write_to(self):
        self.pocl()
        for place in ({"POCL_CACHE_DIR": "/proc/none"}, {"POCL_CACHE_DIR": "", "XDG_CACHE_HOME": "/dev/null"},
                      {"POCL_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/proc/self/fdinfo"}):
            with self.subTest(place=place):
                folder = next(path for path in place.values() if path)
                message = self.refuse("sum", "x.npy", "--device", DEVICE, environment={**place, "SAMESUM_CACHE": "0"})
                self.assertIn("PoCL builds its kernels in the folder " + folder, message)
                self.assertIn("set POCL_CACHE_DIR", message)

    def test_on_a_cold_cache_says_nothing(self):
        self.pocl()
        self.succeed("stats", "x.npy", "--device", DEVICE, environment={"SAMESUM_CACHE": "0", "POCL_CACHE_DIR": self.folder})

    def test_without_memory(self):
        """PoCL aborts, crashes or hangs where memory ends within it. It is not asked then."""
        if sanitized():
            self.skipTest("a sanitizer needs all the addresses there are")
        self.pocl()
        environment = {"SAMESUM_CACHE_DIR": self.path("cache"), "OMP_NUM_THREADS": "1"}
        outcomes = set()
        for mebibytes in (200, 400, 600):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            with self.subTest(mebibytes=mebibytes):
                message = self.refuse("sum", "x.npy", "--device", DEVICE, environment=environment, preexec_fn=limit)
                self.assertRegex(message, r"this process can have no \d+ MiB of memory more.*raise its limit \(ulimit -v\)")


if __name__ == "__main__":
    unittest.main()
