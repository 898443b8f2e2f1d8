"""samesum bench and samesum kernel: the ladders run, and what is wrong is said to be. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import unittest

from support.program import Case, npy


class Bench(Case):
    def test_sum(self):
        self.array("x.npy", [0.5] * 600)
        found = self.json("bench", "sum", "--device", "cpu", "--data", "x.npy", "--rows", "20", "--runs", "3")
        self.assertEqual((found["rows"], found["columns"], found["exact_sum"]["value"]), (20, 30, 300))
        self.assertTrue(all(row["verdict"] == "right" for row in found["variants"]), found)
        text = self.succeed("bench", "sum", "--device", "cpu", "--size", "2^12", "--runs", "3", "--dtype", "float64")
        self.assertIn("64 x 64 float64", text)
        self.assertIn("no matrix of", self.refuse("bench", "sum", "--device", "cpu", "--data", "x.npy", "--rows", "7"))

    def test_ceiling(self):
        found = self.json("bench", "ceiling", "--device", "cpu", "--size", "64K", "--runs", "3")
        self.assertEqual({read["bytes"] for read in found["reads"]}, {65536})
        self.assertIn("GB/s", self.succeed("bench", "ceiling", "--device", "cpu", "--size", "64K", "--runs", "3"))

    def test_barrier(self):
        self.assertIn("work-groups cannot synchronise", self.refuse("bench", "barrier", "--device", "cpu"))
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ["bench", "barrier", "--device", devices[0], "--rounds", "10", "--runs", "1", "--group", "64", "--no-shapes"]
        found = self.json(*few)
        methods = {row["method"]: row["verdict"] for row in found["neighbour_sums"]}
        self.assertEqual({method for method, verdict in methods.items() if verdict != "right"} - {"none"}, set(), found)
        self.assertIn("barriers/us", self.succeed(*few, "--variant", "best", "--variant", "ticket"))
        self.assertIn("is no method", self.refuse(*few, "--variant", "hope"))

    def test_a_kernel_of_ones_own(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        self.write("sum.cl", b"KERNEL void sum(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
                             b"  REAL total = 0;\n  for (ulong i = group_id(); i < n; i += group_count()) total += in[i];\n"
                             b"  out[group_id()] = total;\n}\n")
        few = ["--device", devices[0], "--runs", "1"]
        rows = {row["name"]: row["verdict"] for row in self.json("bench", "sum", "--size", "2^12", *few, "--kernel", "sum.cl")["variants"]}
        self.assertEqual((rows["sum.cl"], rows["exact_bins"]), ("right", "right"))
        self.write("pairs.cl", b"KERNEL void pairs(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {\n"
                               b"  c[global_id()] = a[0];\n}\n")
        found = self.json("bench", "pairs", "--size", "100", "--variant", "pairs.cl", "--kernel", "pairs.cl", *few, code=1)
        self.assertEqual([row["verdict"] for row in found["variants"]], ["wrong"])
        self.write("h.cl", b"KERNEL void histogram(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {\n"
                           b"  for (ulong i = global_id(); i < n; i += global_size()) atomic_add_global32(&counts[data[i]], 1);\n}\n")
        found = self.json("bench", "histogram", "--size", "10000", "--data", "sky", "--variant", "h.cl", "--kernel", "h.cl", *few)
        self.assertEqual([row["verdict"] for row in found["data"][0]["variants"]], ["right"])
        self.assertIn("nowhere.cl", self.refuse("bench", "pairs", "--kernel", "nowhere.cl", *few))

    def test_pairs(self):
        found = self.json("bench", "pairs", "--device", "cpu", "--size", "300", "--runs", "1", "--f", "sqdist", "--components", "3")
        rows = {row["name"]: row["verdict"] for row in found["variants"]}
        self.assertEqual(rows, {"serial": "skipped", "register_blocks": "right", "compensated": "right", "exact": "right"})
        self.assertIn("of ceiling", self.succeed("bench", "pairs", "--device", "cpu", "--size", "2^8", "--runs", "1"))
        self.assertIn("is no rung", self.refuse("bench", "pairs", "--device", "cpu", "--variant", "magic"))
        for device in [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"][:1]:
            capped = self.json("bench", "pairs", "--device", device, "--size", "300", "--runs", "1", "--registers", "64", "--variant", "register_blocks")
            self.assertIn("resident=4", capped["variants"][-1]["configuration"])


class Kernel(Case):
    def test_listing(self):
        listed = dict(line.split(": ") for line in self.succeed("kernel").splitlines())
        self.assertLessEqual({"sum", "barrier", "pairs"}, set(listed))
        self.assertIn("register_blocks", listed["pairs"].split())
        self.assertIn("is no pattern", self.refuse("kernel", "difference"))
        self.assertIn("is no variant", self.refuse("kernel", "pairs", "difference", "--device", "cpu"))
        self.assertIn("no kernels to show", self.refuse("kernel", "pairs", "naive", "--device", "cpu"))

    def test_source_log_and_machine_code(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        for _ in range(2):  # the second time there is a log, too
            result = self.run_program("kernel", "pairs", "naive", "--device", devices[0], "--group", "32", "--asm", "naive.bin")
            text = result.stdout.decode()
            self.assertEqual(result.returncode, 0)
            self.assertIn("#define GROUP 32", text)
            self.assertIn("KERNEL FIXED_GROUP(GROUP, 1) void naive", text)
            self.assertIn("// --- build log", text)
            self.assertIn("// naive.bin: ", text)
            self.assertGreater(len(self.read("naive.bin")), 100)

    def test_the_kernel_for_so_much_data(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"].startswith("opencl")]
        if not devices:
            self.skipTest("no OpenCL device")
        kernel = ["kernel", "statistics", "extremes", "--device", devices[0]]
        self.assertIn("--size takes a number", self.refuse(*kernel, "--size", "little"))
        self.assertIn("extremes.cl", self.succeed(*kernel, "--size", "4K"))
        self.assertIn("to 16777216 elements", self.refuse("kernel", "pairs", "naive", "--device", devices[0], "--size", "2^30"))
        sums = ["kernel", "sum", "exact_bins", "--device", devices[0], "--size"]
        self.assertIn("#define KEPT 1", self.succeed(*sums, "64K"))  # which stay in a cache
        self.assertIn("#define KEPT 0", self.succeed(*sums, "2^28"))


if __name__ == "__main__":
    unittest.main()
