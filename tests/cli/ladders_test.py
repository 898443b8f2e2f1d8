"""The ladders with the reader's own operators, data, bins and kernels; samesum kernel --file; samesum check. Run with SAMESUM_PROGRAM."""
import glob
import math
import signal
import struct
import subprocess
import unittest

from support.program import PROGRAM, Case, header, npy

OCLGRIND = glob.glob("/usr/lib/oclgrind/liboclgrind-rt-icd.so") + glob.glob("/usr/lib/*/oclgrind/liboclgrind-rt-icd.so")
SUM = (b"KERNEL void sum(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
       b"  REAL total = 0;\n  for (ulong i = group_id(); i < n; i += group_count()) total += in[i];\n  out[group_id()] = total;\n}\n")
REDUCE = (b"KERNEL void reduce(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
          b"  REAL all = IDENTITY;\n  for (ulong i = group_id(); i < n; i += group_count()) all = combine(all, in[i]);\n"
          b"  out[group_id()] = all;\n}\n")
HISTOGRAM = (b"KERNEL void histogram(GLOBAL const uchar* data, ulong n, GLOBAL uint* counts) {\n"
             b"  for (ulong i = global_id(); i < n; i += global_size())\n"
             b"    if (data[i] * BINS / 256 < BINS) atomic_add_global32(&counts[data[i] * BINS / 256], 1);\n}\n")
BARRIER = (b"FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) {\n  const uint round = ++grid->number;\n"
           b"  GLOBAL uint* counter = grid_counter(grid, 0);\n  grid_group_barrier();\n"
           b"  if (local_id() == 0) {\n    grid_add(counter, 1);\n    grid_wait(grid, counter, round * grid->groups);\n  }\n"
           b"  grid_group_barrier();\n  return grid->scratch[0] == 0;\n}\n")
PAIRS = (b"KERNEL void pairs(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {\n"
         b"  REAL total = 0;\n  for (ulong y = 0; y < y_count; ++y) total += a[global_id()] * b[y];\n  c[global_id()] = total;\n}\n")


class Ladders(Case):
    def kernels(self):
        """The options of short measurements on the processor's OpenCL."""
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["is_cpu"] and device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no kernels run on this processor")
        return ["--runs", "1", "--device", devices[0]]

    def verdicts(self, found):
        return {row["operation"]: row["verdict"] for row in found["operations"]}

    def test_any_operation_and_type(self):
        few = self.kernels()
        rungs = {"sequential", "one_scalar", "missing_barrier", "tree_passes", "tile_passes", "grid_stride_two_pass", "unrolled", "templated",
                 "grid_stride_atomic", "single_pass"}
        for ladder, dtype, more in [("min", "int32", []), ("sum", "int32", ["--data", "bits"]), ("max", "int8", []), ("gcd(a, b)", "int32", ["--identity", "0"]),
                                    ("a + b - a*b", "float64", ["--identity", "0"])]:
            with self.subTest(ladder=ladder, dtype=dtype):
                size = "1001"
                found = self.verdicts(self.json("bench", "reduce", "--ladder", ladder, "--dtype", dtype, "--size", size, *more, *few,
                                                "--seconds", "0.001", "--device-only", "--group", "64"))
                for rung in rungs - {"sequential"}:
                    verdict = found[f"{ladder} {rung}"]
                    if rung == "missing_barrier":
                        self.assertIn(verdict, ("wrong", "right"))
                    else:
                        self.assertIn(verdict, ("right", "skipped") if rung in ("grid_stride_atomic", "one_scalar") else ("right",), rung)

    def test_a_missing_barrier_is_seen(self):
        few = self.kernels()
        found = self.json("bench", "reduce", "--ladder", "sum", "--dtype", "int32", "--size", "100000", "--variant", "missing_barrier", *few)
        self.assertEqual([row["verdict"] for row in found["operations"]], ["wrong"])

    def test_own_data_seed_and_tiles(self):
        few = self.kernels()
        self.write("n.npy", npy(header("'<i4'", "(600,)"), b"".join((7 * k - 900).to_bytes(4, "little", signed=True) for k in range(600))))
        tiled = self.json("bench", "reduce", "--ladder", "min", "--data", "n.npy", "--variant", "tile_passes", "--tile", "3x5", *few)
        row = tiled["operations"][0]
        self.assertEqual((tiled["size"], row["verdict"]), (600, "right"))
        rows, columns = 8, 75  # as close to a square as powers of two allow
        while rows * columns > 1:
            step = row["rounds"].pop(0)
            self.assertEqual((step["rows"], step["columns"]), (rows, columns))
            high, wide = (1, 15) if rows == 1 else (15, 1) if columns == 1 else (3, 5)
            rows, columns = math.ceil(rows / high), math.ceil(columns / wide)
            self.assertEqual((step["result_rows"], step["result_columns"]), (rows, columns))
        self.assertEqual(row["rounds"], [])
        sums = [self.json("bench", "sum", "--size", "999", "--seed", seed, "--variant", "sequential", "--device", "cpu", "--runs", "1")["exact_sum"]
                for seed in ("1", "2", "1")]
        self.assertEqual(sums[0], sums[2])
        self.assertNotEqual(sums[0], sums[1])
        block = self.json("bench", "sum", "--size", "2^12", "--variant", "tree_passes", "--block", "2x32", *few)["variants"][0]
        self.assertEqual((block["verdict"], block["configuration"]), ("right", "group_size=64 tile=2x32"))
        pitched = self.json("bench", "sum", "--rows", "20", "--columns", "30", "--pitch", "32", "--result-align", "4", *few)
        self.assertEqual((pitched["rows"], pitched["columns"], pitched["pitch"]), (20, 30, 32))
        rows = {row["name"]: row for row in pitched["variants"]}
        self.assertEqual(rows["tile_passes"]["configuration"], "group_size=256 tile=8x8 pitch=32 result_align=4")
        self.assertEqual([rows[name]["verdict"] for name in ("parallel", "tree_passes", "tile_passes", "single_pass")], ["right"] * 3 + ["skipped"])
        self.write("p.npy", npy(header("'<f4'", "(4, 8)"), struct.pack("<32f", *range(32))))
        own = self.json("bench", "sum", "--data", "p.npy", "--columns", "5", "--pitch", "8", "--variant", "tile_passes", *few)
        self.assertEqual((own["rows"], own["columns"], own["exact_sum"]["value"]), (4, 5, sum(i for i in range(32) if i % 8 < 5)))
        self.assertIn("goes with --columns from 1 to 8", self.refuse("bench", "sum", "--data", "p.npy", "--columns", "9", "--pitch", "8"))
        self.assertIn("4 rows of 5 with a pitch of 8, not 5", self.refuse("bench", "sum", "--data", "p.npy", "--columns", "5", "--pitch", "8", "--rows", "5"))
        self.assertIn("--tile takes a side", self.refuse("bench", "sum", "--tile", "3y5"))
        self.assertIn("'float' has no ladder", self.refuse("bench", "reduce", "--ladder", "float"))
        self.assertIn("needs its --identity", self.refuse("bench", "reduce", "--ladder", "gcd(a, b)"))

    def test_own_reduction(self):
        few = self.kernels()
        self.write("my.cl", REDUCE)
        for ladder, identity in (("max", []), ("gcd(a, b)", ["--identity", "0"])):
            found = self.verdicts(self.json("bench", "reduce", "--ladder", ladder, *identity, "--dtype", "int32", "--size", "1000", "--variant",
                                            "tree_passes", "--kernel", "my.cl", *few))
            self.assertEqual(found, {f"{ladder} tree_passes": "right", "my.cl": "right"})
        self.assertIn("--ladder names it", self.refuse("bench", "reduce", "--kernel", "my.cl"))

    def test_kernels_within_the_bound_that_are_wrong(self):
        """An error bound has room for elements that are left out. Whole numbers do not."""
        few = self.kernels()
        tail = (b"i < n;", b"i < (n > 2000 ? n / 256 * 256 : n);")
        for command, text, fault in ((["sum", "--variant", "tree_passes"], SUM, tail),
                                     (["reduce", "--ladder", "sum", "--variant", "tree_passes"], REDUCE, tail),
                                     (["sum", "--dtype", "float64", "--variant", "tree_passes"], SUM, (b"= total;", b"= total + 1e-9;")),
                                     (["pairs", "--variant", "naive"], PAIRS, (b"y < y_count", b"y + 1 < y_count"))):
            for source, verdict, code in ((text, "right", 0), (text.replace(*fault), "wrong", 1)):
                with self.subTest(command=command, verdict=verdict):
                    self.write("my.cl", source)
                    found = self.json("bench", *command, "--size", "8191" if command[0] == "pairs" else "100100", "--kernel", "my.cl", *few, "--seconds", "0.01", code=code)
                    row = found["operations" if "operations" in found else "variants"][-1]
                    self.assertEqual(row["verdict"], verdict, row)
                    self.assertIn("exact in any order" if code else "", row["reason"])
        self.write("my.cl", SUM.replace(b"= total;", b"= total + (n > 2000 ? 1 : 0);"))
        self.assertRegex(self.succeed("bench", "sum", "--size", "10100", "--kernel", "my.cl", "--variant", "tree_passes", *few, code=1),
                         "my.cl .* wrong: of 10100 numbers 1, 2 and 3, whose sum is exact in any order, it is \\d+ instead of \\d+  ")

    def test_no_reader_is_no_crash(self):
        few = self.kernels()
        self.write("my.cl", SUM)
        with subprocess.Popen([PROGRAM, "bench", "sum", "--size", "1e5", "--kernel", "my.cl", *few], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertNotIn(b"crashed", process.stderr.read())
        self.assertEqual(process.returncode, -signal.SIGPIPE)

    def test_why_a_rung_is_wrong(self):
        few = [*self.kernels(), "--variant", "sequential", "--variant", "unrolled"]
        self.array("nan.npy", [1, 2, math.nan, 4])
        rows = self.json("bench", "reduce", "--ladder", "min", "--data", "nan.npy", *few, code=1)["operations"]
        self.assertEqual({row["reason"] for row in rows}, {"1 instead of nan: there are NaNs among the elements, which the textbook's comparisons skip"})
        for formula, identity, dtype, why in (("a - b", "0", "int32", "0 is no identity of a - b: with "), ("a + b", "5", "int32", "5 is no identity of a . b: with "),
                                              ("a*2 + b", "0", "float32", "a.2 . b does not commute: of "),
                                              ("max(a, b) - min(a, b)", "0", "float32", "is not associative: of the elements ")):
            rows = self.json("bench", "reduce", "--ladder", formula, "--identity", identity, "--dtype", dtype, "--size", "1000", *few,
                             code=1)["operations"]
            self.assertRegex(rows[-1]["reason"], "instead of .*: .*" + why)

    def test_own_barrier(self):
        few = self.kernels()
        self.write("my.cl", BARRIER)
        barrier = ["bench", "barrier", *few, "--rounds", "5", "--group", "64", "--items", "256", "--no-shapes"]
        found = self.json(*barrier, "--variant", "none", "--kernel", "my.cl", "--variant", "my.cl")
        rows = {row["method"]: row for row in found["neighbour_sums"]}
        self.assertEqual((found["elements"], rows["my.cl"]["verdict"]), (256, "right"))
        self.assertGreater(rows["my.cl"]["seconds_of_run"], 0)
        self.assertGreater(rows["my.cl"]["seconds_without_barriers"], 0)
        self.write("bad.cl", b"FN bool synchronize(GridBarrier* grid, GLOBAL uint* words) { return nothing; }\n")
        result = self.run_program(*barrier, "--kernel", "bad.cl")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr.decode(), "samesum: bad.cl: cannot build the kernel(.|\n)*nothing")

    def test_faulty_barriers_end(self):
        few = self.kernels()
        found = self.json("bench", "barrier", *few, "--rounds", "5", "--group", "64", "--no-shapes", "--variant", "reset_every_item", "--variant",
                          "reset_group_leader", "--variant", "plain_flag", "--variant", "std_barrier")
        verdicts = {row["method"]: row["verdict"] for row in found["neighbour_sums"]}
        self.assertEqual(set(verdicts), {"reset_every_item", "reset_group_leader", "plain_flag", "std_barrier"})
        self.assertEqual(verdicts["std_barrier"], "right")

    def test_bins_of_ones_choice(self):
        few = self.kernels()
        self.write("text.txt", b"the quick brown fox jumps over the lazy dog " * 40)
        self.write("my.cl", HISTOGRAM)
        for bins in (["--bins", "7", "--bin", "(x - 97)/4"], ["--bins", "10"], ["--bins", "3", "--bin", "x % 5"], []):
            found = self.json("bench", "histogram", "--data", "text.txt", *bins, *few)["data"][0]
            for row in found["variants"]:
                self.assertIn(row["verdict"], ("right", "wrong") if row["name"] == "racy" else ("right",), (bins, row))
        own = self.json("bench", "histogram", "--data", "text.txt", "--bins", "10", "--kernel", "my.cl", "--variant", "my.cl", *few)
        self.assertEqual([row["verdict"] for row in own["data"][0]["variants"]], ["right"])
        self.assertIn("--bin takes --bins", self.refuse("bench", "histogram", "--bin", "x/2"))

    def test_own_kernels_shown(self):
        few = self.kernels()[2:]
        for name, text in (("sum", SUM), ("reduce", REDUCE), ("histogram", HISTOGRAM), ("barrier", BARRIER), ("pairs", PAIRS)):
            self.write("my.cl", text)
            with self.subTest(pattern=name):
                shown = self.succeed("kernel", "--file", "my.cl", *few, "--asm", "my.asm")
                self.assertIn(text.decode().splitlines()[0], shown)
                self.assertIn("// --- build log", shown)
                self.assertGreater(len(self.read("my.asm")), 100)
        self.write("my.cl", SUM.replace(b"total += in[i]", b"total += nothing"))
        result = self.run_program("kernel", "--file", "my.cl", *few)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr.decode(), "my.cl: cannot build the kernel 'sum'(.|\n)*nothing")
        self.write("my.cl", b"KERNEL void fast(void) {}\n")
        self.assertIn("my.cl: it has no function that a pattern calls", self.refuse("kernel", "--file", "my.cl"))

    def test_check(self):
        if not OCLGRIND:
            self.skipTest("Oclgrind is not installed (Debian package oclgrind)")
        for text in (SUM, REDUCE, HISTOGRAM, PAIRS):
            self.write("my.cl", text)
            self.assertIn("no wild access and no data race; its result is right", self.succeed("check", "my.cl"))
        self.write("my.cl", REDUCE)
        gcd = ["check", "my.cl", "--ladder", "gcd(a, b)", "--identity", "0"]
        self.assertIn("nothing was measured: formula, column 1: 'gcd' takes integers", self.refuse(*gcd))
        self.assertIn("its result is right", self.succeed(*gcd, "--dtype", "uint32"))
        for fault, text in (("data race", HISTOGRAM.replace(b"atomic_add_global32(&counts[data[i] * BINS / 256], 1)", b"counts[data[i]] += 1")),
                            ("Invalid read", SUM.replace(b"i < n", b"i < n + 64")),
                            ("Invalid write", PAIRS.replace(b"c[global_id()] = total", b"c[global_id() + 1000000] = total"))):
            self.write("my.cl", text)
            result = self.run_program("check", "my.cl")
            self.assertEqual((result.returncode, result.stderr), (1, b""))
            self.assertIn(fault, result.stdout.decode())
            self.assertIn("of my.cl:", result.stdout.decode())
            self.assertNotIn("#line", result.stdout.decode())
        self.write("my.cl", b"KERNEL void sum(GLOBAL const float* x, GLOBAL float* y, uint n) { y[0] = x[n]; }")
        self.assertIn("its parameters are others", self.refuse("check", "my.cl", code=1))


if __name__ == "__main__":
    unittest.main()
