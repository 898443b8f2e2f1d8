"""Faulty drivers: they report missing capabilities, hang, throw, cannot write files, or run out of memory. In all of these cases the
program says what was wrong, and ends. tests/fakes/fake_opencl.cpp wraps the machine's OpenCL driver."""
import os
import pathlib
import resource
import struct
import unittest

from support.program import Case, header, npy, sanitized

FAKE = pathlib.Path(os.environ.get("SAMESUM_FAKES", "")) / "libfake_opencl.so"
DEVICE = "opencl:0"


@unittest.skipUnless(FAKE.exists(), "there is no OpenCL driver to stand before")
class Drivers(Case):
    def setUp(self):
        super().setUp()
        self.array("x.npy", [1e30, 1, -1e30] * 100, "f")
        self.array("y.npy", [float(i % 37) for i in range(5000)], "f")
        self.write("n.npy", npy(header("'<i4'", "(4999,)"), struct.pack("<4999i", *range(1, 5000))))

    def fake(self, words, **more):
        return dict(SAMESUM_OPENCL_LIBRARY=str(FAKE), FAKE_OPENCL=words, **more)

    def test_that_names_every_extension(self):
        """Its kernels are those that it can compile; and a GPU's, on PoCL."""
        environment = self.fake("claims gpu")
        listed = self.succeed("devices", environment=environment)
        self.assertIn("lacks subgroups: OpenCL C does not say how many work-items a sub-group has", listed)
        for command in (["sum", "x.npy"], ["max", "y.npy"], ["hist", "--csv", "y.npy"],
                        ["reduce", "--combine", "a*b % 1000003", "--identity", "1", "n.npy"]):
            with self.subTest(command=command):
                found = self.succeed(*command, "--device", DEVICE, environment=environment)
                self.assertEqual(found, self.succeed(*command, "--device", "cpu"))

    def test_whose_compiler_throws(self):
        message = self.refuse("sum", "x.npy", "--device", DEVICE, environment=self.fake("bad_alloc", SAMESUM_CACHE="0"))
        self.assertIn("the driver's compiler broke off", message)
        self.assertIn(DEVICE, message)

    def test_that_takes_long(self):
        environment = self.fake("slow", SAMESUM_CACHE_DIR=self.path("cache"), SAMESUM_DRIVER_SECONDS="0.3")
        result = self.run_program("sum", "--plain", "x.npy", "--device", DEVICE, environment=environment)
        self.assertEqual((result.returncode, result.stdout), (0, b"100\n"), result.stderr)
        message = result.stderr.decode()
        self.assertRegex(message, r"still waiting: the driver of opencl:0 \(.+\) has not returned from clBuildProgram for [0-9.]+ seconds")
        self.assertIn("--device cpu", message)
        environment["SAMESUM_DRIVER_SECONDS"] = "0"
        self.assertEqual(self.run_program("sum", "x.npy", "--device", DEVICE, environment=environment).stderr, b"")

    def pocl(self):
        if "Portable Computing Language" not in self.succeed("devices"):
            self.skipTest("the OpenCL driver is not PoCL")

    def test_without_a_folder_to_write_to(self):
        self.pocl()
        # In the order in which PoCL tries them.
        for variable, folder in ({"HOME": "/proc/self/fdinfo", "XDG_CACHE_HOME": "/dev/null", "POCL_CACHE_DIR": "/proc/none"}).items():
            if set(os.environ) & {"HOME": {"XDG_CACHE_HOME", "POCL_CACHE_DIR"}, "XDG_CACHE_HOME": {"POCL_CACHE_DIR"}}.get(variable, set()):
                continue
            with self.subTest(variable=variable):
                message = self.refuse("sum", "x.npy", "--device", DEVICE, environment={variable: folder, "SAMESUM_CACHE": "0"})
                self.assertIn("PoCL builds its kernels in the folder " + folder, message)
                self.assertIn("set POCL_CACHE_DIR", message)

    def test_without_memory(self):
        """PoCL aborts, crashes or hangs where it runs out of memory, so it is not called then."""
        if sanitized():
            self.skipTest("a sanitizer needs all the addresses there are")
        self.pocl()
        environment = {"SAMESUM_CACHE_DIR": self.path("cache")}
        for mebibytes in (200, 400, 600):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            with self.subTest(mebibytes=mebibytes):
                message = self.refuse("sum", "x.npy", "--device", DEVICE, environment=environment, preexec_fn=limit)
                self.assertRegex(message, r"this process can have no \d+ MiB of memory more.*raise its limit \(ulimit -v\)")


if __name__ == "__main__":
    unittest.main()
