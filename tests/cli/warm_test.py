"""samesum warm: what plain calls need is in the cache afterwards, and they compile nothing."""
import array
import json
import pathlib
import unittest

from support.program import Case

DEVICE = "opencl:0"


class Warm(Case):
    def setUp(self):
        super().setUp()
        self.environment = {"SAMESUM_CACHE_DIR": self.path("cache")}

    def warm(self, *options):
        return json.loads(self.succeed("warm", "--json", "--device", DEVICE, *options, environment=self.environment))

    def entries(self):
        return {path.name: path.stat().st_mtime_ns for path in pathlib.Path(self.path("cache")).glob("*.kernel")}

    def test_later_calls_compile_nothing(self):
        if f"{DEVICE} " not in self.succeed("devices"):
            self.skipTest("there is no OpenCL device")
        what = ("--operation", "sum", "--operation", "axes", "--dtype", "int16")
        first = self.warm(*what)
        self.assertEqual(first["failures"], [])
        self.assertGreater(first["compiled"], 2)
        self.assertEqual(first["compiled"], first["programs"])
        kept = self.entries()
        self.assertGreaterEqual(len(kept), first["compiled"])
        again = self.warm(*what)
        self.assertEqual((again["compiled"], again["calls"]), (0, first["calls"]))
        pathlib.Path(self.path("x.raw")).write_bytes(array.array("h", range(1000)).tobytes())
        command = ("sum", "--plain", "--device", DEVICE, "--dtype", "int16", "x.raw")
        self.assertEqual(self.succeed(*command, environment=self.environment), "499500\n")
        self.assertEqual(self.entries(), kept)

    def test_what_cannot_be_warmed(self):
        self.assertIn("cpu compiles no kernels", self.refuse("warm", "--device", "cpu"))
        if f"{DEVICE} " in self.succeed("devices"):
            self.assertIn("no operation 'sums': there are sum, dot,", self.refuse("warm", "--device", DEVICE, "--operation", "sums"))


if __name__ == "__main__":
    unittest.main()
