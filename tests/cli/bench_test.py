"""samesum bench and samesum kernel: the ladders run, and wrong results are reported. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import os
import pty
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import numpy

from support.program import PROGRAM, Case, npy


class Bench(Case):
    def test_sum(self):
        self.array("x.npy", [0.5] * 600)
        found = self.json("bench", "sum", "--device", "cpu", "--data", "x.npy", "--rows", "20", "--runs", "3")
        self.assertEqual((found["rows"], found["columns"], found["exact_sum"]["value"]), (20, 30, 300))
        self.assertTrue(all(row["verdict"] == "right" for row in found["variants"]), found)
        text = self.succeed("bench", "sum", "--device", "cpu", "--size", "2^12", "--runs", "3", "--dtype", "float64")
        self.assertIn("64 x 64 float64", text)
        cpu = ["bench", "sum", "--device", "cpu", "--runs", "1", "--seconds", "0.01"]
        self.assertIn("600 elements are no matrix of 7 rows: ", self.refuse(*cpu, "--data", "x.npy", "--rows", "7"))
        self.assertIn("600 elements are no matrix of 7 columns: ", self.refuse(*cpu, "--data", "x.npy", "--columns", "7"))
        self.assertIn("600 elements are more than 11 rows of 40 with a pitch of 51, and too few for one more: --rows 11 leaves the rest out",
                      self.refuse(*cpu, "--data", "x.npy", "--columns", "40", "--pitch", "51"))
        left = self.json(*cpu, "--data", "x.npy", "--columns", "40", "--pitch", "51", "--rows", "11", "--variant", "sequential")
        self.assertEqual((left["rows"], left["columns"]), (11, 40))
        for given, shape in (("--rows", (100, 2048)), ("--columns", (2048, 100))):
            found = self.json(*cpu, given, "100", "--variant", "sequential")
            self.assertEqual((found["rows"], found["columns"]), shape)

    def test_data_that_cannot_be_made(self):
        for command in (["sum"], ["reduce"]):
            self.assertIn("--data normal: made-up integers are 'uniform' over all values of int32, or half of them are 0",
                          self.refuse("bench", *command, "--dtype", "int32", "--data", "normal", "--device", "cpu"))
        self.assertIn("makes float32, float64 or integers, not float16", self.refuse("bench", "pairs", "--dtype", "float16", "--device", "cpu"))

    def test_items_of_pairs(self):
        found = self.json("bench", "pairs", *self.few()[2:-2], "--size", "512", "--variant", "register_blocks", "--items", "2", "--seconds", "0.01")
        rows = [row for row in found["variants"] if "cpu" not in row["where"]]
        self.assertEqual(([row["verdict"] for row in rows], rows[0]["configuration"].split()[1]), (["right"], "items=2"))

    def test_what_options_take(self):
        self.write("empty.bin", b"")
        for command in ("sum", "reduce", "pairs"):
            self.assertIn("empty.bin: there are no elements in it", self.refuse("bench", command, "--data", "empty.bin", "--device", "cpu"))
        self.assertIn("--seconds takes a number from 1e-06 to 1000000, not '-1'", self.refuse("bench", "sum", "--seconds", "-1").replace("1e+06", "1000000"))
        self.assertIn("--group takes a number of work-items such as 256, or best, not 'foo'", self.refuse("bench", "pairs", "--group", "foo"))
        for words, option, taker in ((["sum", "--tile", "4x16", "--variant", "exact_blocks"], "--tile", "tile_passes"),
                                     (["sum", "--block", "8x32", "--variant", "tile_passes"], "--block", "tree_passes"),
                                     (["reduce", "--ladder", "max", "--tile", "4x16", "--variant", "sequential"], "--tile", "tile_passes"),
                                     (["pairs", "--items", "3", "--variant", "serial"], "--items", "register_blocks")):
            self.assertIn("%s is an option of %s" % (option, taker), self.refuse("bench", *words, "--device", "cpu"))
        self.array("one.npy", [3.5])
        for command in (["sum"], ["reduce", "--ladder", "max"], ["pairs"]):
            self.assertIn("--seed is for made-up data", self.refuse("bench", *command, "--data", "one.npy", "--seed", "5", "--device", "cpu"))
            self.assertIn("--kernel-seconds is for --kernel: add --kernel, or leave it out",
                          self.refuse("bench", *command, "--kernel-seconds", "5", "--device", "cpu"))
        row = self.json("bench", "reduce", "--ladder", "max", "--variant", "tree_passes", "--data", "one.npy", *self.few()[2:-2])["operations"][0]
        self.assertEqual((row["verdict"], row.get("seconds")), ("right", None))
        self.assertIn("reading 3 bytes has no rate: measure with 32 or more", self.refuse("bench", "ceiling", "--device", "cpu", "--size", "3"))
        found = self.run_program("bench", "pairs", "--size", "100", "--y", "20000", "--variant", "local_all", *self.few()[2:-2])
        self.assertIn("local_all takes all of B in local memory, which is 80000 bytes; 49152 have room, the most that every device has: 12288 y",
                      found.stderr.decode())

    def test_nothing_measured(self):
        """Rows that were all skipped are bad options: the exit code says so, and the table still says why for each."""
        few = self.few()
        for command, why in ((["sum", *few[2:-2], "--size", "600", "--tile", "1x1", "--variant", "tile_passes"], "needs tiles of 2 elements or more"),
                             (["pairs", *few[2:-2], "--size", "64", "--variant", "vec4", "--components", "17"], "vectors of up to 16 components"),
                             (["reduce", *few[2:-2], "--size", "64", "--ladder", "max", "--tile", "1x1", "--variant", "tile_passes"], "tiles of 2")):
            result = self.run_program("bench", *command)
            self.assertEqual(result.returncode, 2)
            self.assertIn("skipped: ", result.stdout.decode())
            self.assertIn("samesum: nothing was measured: ", result.stderr.decode())
            self.assertIn(why, result.stderr.decode())

    def on_terminal(self, *arguments):
        """What a terminal shows of a ladder in the end, without colours and without what was written over."""
        with tempfile.TemporaryFile() as seen:
            master, slave = pty.openpty()
            def drain():
                try:
                    while block := os.read(master, 65536):
                        seen.write(block)
                except OSError:  # the last writer has gone
                    pass
            reader = threading.Thread(target=drain)
            reader.start()
            result = self.run_program(*arguments, stdout=slave, environment={"TERM": "xterm"})
            os.close(slave)
            reader.join()
            os.close(master)
            self.assertEqual(result.returncode, 0, result.stderr)
            seen.seek(0)
            return [re.sub("\x1b\\[[0-9;]*m", "", line) for line in seen.read().decode().replace("\r", "").splitlines()]

    def test_bars_on_a_terminal(self):
        """The bar after each fraction of the ceiling has its length in eighths of a character. Pipes have no bars, and columns are aligned in both."""
        few = ["bench", "sum", "--device", "cpu", "--size", "2^12", "--runs", "1", "--seconds", "0.001"]
        piped = self.succeed(*few)
        self.assertNotRegex(piped, "[\u2588-\u258f]")
        shown = self.on_terminal(*few)
        rows = [line for line in shown if re.match(r"\w+ +cpu, \d thread", line)]
        self.assertEqual(len(rows), 4, shown)
        for line in rows:
            percent, drawn = re.search("([0-9.]+)% ([\u2588-\u258f]+) +\\S", line).groups()
            length = sum(8 if character == "\u2588" else 0x2590 - ord(character) for character in drawn)
            self.assertAlmostEqual(length, max(1, min(1, float(percent) / 100) * 96), delta=0.6, msg=line)
        for lines in (piped.splitlines(), shown):
            table = [line for line in lines if re.match(r"variant |\w+ +cpu, \d thread", line)]
            self.assertEqual(len(table), 5)
            self.assertEqual(len({re.search("(?<=  )(check|exact|within)", line).start() for line in table}), 1, table)

    def test_a_faulty_kernel_is_right_by_chance(self):
        """One byte is counted by one work-item: no other one is there to race with."""
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        text = self.succeed("bench", "histogram", "--device", devices[0], "--size", "1", "--data", "equal", "--variant", "racy", "--variant", "privatized", "--runs", "1")
        self.assertRegex(text, r"racy .* right by chance  ")
        self.assertRegex(text, r"privatized .* right  ")

    def test_rounds_stand_below_their_row(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ["--device", devices[0], "--size", "2^12", "--runs", "1", "--variant", "one_scalar", "--variant", "tile_passes"]
        for command in (["bench", "sum"], ["bench", "reduce", "--ladder", "sum", "--dtype", "int32", "--device-only"]):
            rounds = [re.split(r"  +", line.strip())[:2] for line in self.succeed(*command, *few).splitlines() if line.startswith("  round")]
            self.assertEqual(rounds, [["round 1", "clearing the result"], ["round 2", "64 x 64 -> 1 x 1"], ["round 1", "64 x 64 -> 8 x 8"], ["round 2", "8 x 8 -> 1 x 1"]])

    def test_ceiling(self):
        found = self.json("bench", "ceiling", "--device", "cpu", "--size", "64K", "--runs", "3")
        self.assertEqual({read["bytes"] for read in found["reads"]}, {65536})
        self.assertIn("GB/s", self.succeed("bench", "ceiling", "--device", "cpu", "--size", "64K", "--runs", "3", "--seconds", "0.1"))

    def test_atomics(self):
        self.assertIn("cpu runs no kernels, so there are no atomics", self.refuse("bench", "ceiling", "--device", "cpu", "--atomics"))
        self.assertIn("--size is for reading memory", self.refuse("bench", "ceiling", "--atomics", "--size", "64K"))
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ["bench", "ceiling", "--device", devices[0], "--atomics", "--runs", "1", "--seconds", "0.01"]
        found = self.json(*few)
        self.assertEqual((found["reads"], found["arithmetic"], found["latencies"]), ([], [], []))
        rates = {(rate["memory"], rate["addresses"]): rate for rate in found["atomics"]}
        self.assertLessEqual({(memory, "one word") for memory in ("local", "global")}, set(rates))
        self.assertEqual(len(rates), 7, rates)
        for rate in rates.values():
            self.assertTrue(1e-10 < rate["latency_seconds"]["median"] < 1e-3, rate)
            self.assertTrue(1e5 < rate["operations_per_second"] < 1e14, rate)
        self.assertIn("one word", self.succeed(*few))

    def test_barrier(self):
        self.assertIn("cpu runs no kernels, which is what the barrier is for: name a device", self.refuse("bench", "barrier", "--device", "cpu"))
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ["bench", "barrier", "--device", devices[0], "--rounds", "10", "--runs", "1", "--group", "64", "--no-shapes"]
        found = self.json(*few)
        methods = {row["method"]: row["verdict"] for row in found["neighbour_sums"]}
        self.assertEqual({method for method, verdict in methods.items() if verdict != "right"} -
                         {"none", "reset_every_item", "reset_group_leader", "plain_flag"}, set(), found)
        self.assertIn("barriers/us", self.succeed(*few, "--variant", "best", "--variant", "ticket"))
        self.assertIn("is no method", self.refuse(*few, "--variant", "hope"))

    def skipped(self, *arguments):
        """Why the only variant was skipped: with --json the message alone."""
        message = self.refuse(*arguments, "--json")
        self.assertTrue(message.startswith("nothing was measured: "), message)
        return message

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

    def test_results_of_ones_own(self):
        """--expect and --accept: a kernel that computes something else than its ladder."""
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ["--device", devices[0], "--runs", "1", "--seconds", "0.01"]
        x = numpy.arange(1, 101, dtype="f4")
        numpy.save(self.path("x.npy"), x)
        # Of squares: the second launch, over the groups' sums, must not square again.
        self.write("sum.cl", b"KERNEL void sum(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  if (local_id() != 0) return;\n"
                             b"  REAL total = 0;\n  for (ulong i = group_id(); i < n; i += group_count()) total += n == 100 ? in[i] * in[i] : in[i];\n"
                             b"  out[group_id()] = total;\n}\n")
        numpy.save(self.path("squares.npy"), [float((x * x).sum())])
        numpy.save(self.path("near.npy"), [float((x * x).sum()) + 1])

        def verdict(expected, *more, ladder=("sum",), kernel="sum.cl", code=0):
            found = self.json("bench", *ladder, "--data", "x.npy", "--variant", kernel, "--kernel", kernel, "--expect", expected, *more, *few, code=code)
            rows = found.get("variants", found.get("operations"))
            self.assertEqual(len(rows), 1, rows)
            return rows[0]["verdict"], rows[0]["reason"]

        self.assertEqual(verdict("squares.npy"), ("right", ""))
        self.assertEqual(verdict("near.npy", code=1), ("wrong", "number 0 is 338350, and 338351 is expected"))
        self.assertEqual(verdict("near.npy", "--accept", "abs(a - b) <= 1e-3*b"), ("right", ""))
        self.write("pairs.cl", b"KERNEL void pairs(GLOBAL const REAL* a, GLOBAL const REAL* b, GLOBAL REAL* c, ulong x_count, ulong y_count) {\n"
                               b"  if (global_id() < x_count) c[global_id()] = a[global_id()] + 1;\n}\n")
        numpy.save(self.path("c.npy"), x + 1)
        self.assertEqual(verdict("c.npy", ladder=("pairs",), kernel="pairs.cl"), ("right", ""))
        numpy.save(self.path("c.npy"), numpy.where(x == 8, -1, x + 1))
        self.assertEqual(verdict("c.npy", ladder=("pairs",), kernel="pairs.cl", code=1), ("wrong", "number 7 is 9, and -1 is expected"))
        numpy.save(self.path("c.npy"), x[:5])
        self.assertIn("100 numbers, and 5", verdict("c.npy", ladder=("pairs",), kernel="pairs.cl", code=1)[1])
        self.write("reduce.cl", b"KERNEL void reduce(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n"
                                b"  if (local_id() == 0) out[group_id()] = 5;\n}\n")
        numpy.save(self.path("five.npy"), [5.0])
        self.assertEqual(verdict("five.npy", ladder=("reduce", "--ladder", "max"), kernel="reduce.cl"), ("right", ""))
        self.assertIn("give it as --kernel", self.refuse("bench", "sum", "--expect", "five.npy"))
        self.assertIn("give a file of results", self.refuse("bench", "sum", "--accept", "a == b", "--kernel", "sum.cl"))
        self.assertIn("a condition, such as", self.skipped("bench", "sum", "--data", "x.npy", "--variant", "sum.cl", "--kernel", "sum.cl", "--expect",
                                                          "near.npy", "--accept", "a - b", *few))

    SUM = b"KERNEL void sum(GLOBAL const REAL* in, ulong n, GLOBAL REAL* out) {\n  %s\n}\n"
    LOOP = SUM % b"volatile GLOBAL REAL* place = out;\n  for (;;) place[0] = 1;"

    def few(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["is_cpu"] and device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no kernels run on this processor")
        return ["--size", "2^12", "--runs", "1", "--device", devices[0], "--variant", "tree_passes"]

    def test_a_kernel_of_ones_own_is_never_left_out(self):
        few = self.few()
        self.write("good.cl", self.SUM % b"REAL total = 0; for (ulong i = 0; i < n; ++i) total += in[i]; out[group_id()] = group_id() == 0 ? total : 0;")
        rows = {row["name"]: row["verdict"] for row in self.json("bench", "sum", *few, "--kernel", "good.cl")["variants"]}
        self.assertEqual(rows, {"tree_passes": "right", "good.cl": "right"})
        self.assertIn("good.cl: cpu runs no kernels", self.refuse("bench", "sum", "--size", "2^12", "--device", "cpu", "--kernel", "good.cl"))
        sources = {"sum": self.SUM % b"out[0] = nothing;",
                   "pairs": b"KERNEL void pairs(GLOBAL const REAL* a) { nothing; }",
                   "histogram": b"KERNEL void histogram(GLOBAL const uchar* data) { nothing; }"}
        for ladder, source in sources.items():
            self.write("bad.cl", source)
            variant = ["--variant", {"sum": "tree_passes", "pairs": "naive", "histogram": "racy"}[ladder]]
            result = self.run_program("bench", ladder, *few[:-2], *variant, "--kernel", "bad.cl")
            message = result.stderr.decode()
            self.assertEqual(result.returncode, 2, message)
            self.assertIn("samesum: bad.cl: cannot build the kernel '%s'" % ladder, message)
            self.assertRegex(message, "build log: .*'?nothing'?")

    def test_a_kernel_that_ends_never_or_badly(self):
        few = self.few()
        for name, source, message in [("loop.cl", self.LOOP, "loop.cl: the kernel was not done after 1 s"),
                                      ("wild.cl", self.SUM % b"out[(ulong)1 << 42] = 1;", "wild.cl: the process crashed .* while the kernel ran")]:
            self.write(name, source)
            result = self.run_program("bench", "sum", *few, "--kernel", name, "--kernel-seconds", "1" if name == "loop.cl" else "60")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr.decode(), "samesum: " + message)

    def test_signals_end_a_kernel_too(self):
        few = self.few()
        self.write("loop.cl", self.LOOP)
        for number in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([PROGRAM, "bench", "sum", *few, "--kernel", "loop.cl"], cwd=self.folder, stdout=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            children = "/proc/%d/task/%d/children" % (process.pid, process.pid)
            child = self.until(lambda: open(children).read().split())[0]
            process.send_signal(number)
            self.assertEqual(process.wait(20), -number)
            self.until(lambda: not os.path.exists("/proc/" + child) or " Z " in open("/proc/%s/stat" % child).read())

    def until(self, what):
        for _ in range(2000):
            found = what()
            if found:
                return found
            time.sleep(0.01)
        raise AssertionError("it never happened")

    def test_a_limit_on_registers(self):
        for device in [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"][:1]:
            for pattern in (["sum"], ["reduce", "--ladder", "min"], ["histogram", "--data", "uniform"]):
                with self.subTest(pattern=pattern):
                    shown = self.succeed("bench", *pattern, "--device", device, "--size", "5000", "--runs", "1", "--seconds", "0.1", "--registers", "32", "--json")
                    verdicts = re.findall(r'"verdict": ?"(\w+)"', shown)
                    self.assertGreater(verdicts.count("right"), 3)
                    self.assertLessEqual(verdicts.count("wrong"), 1)  # the variant that is wrong on purpose
                    self.assertLessEqual(set(verdicts), {"right", "wrong", "skipped", "not_comparable"})

    def test_pairs(self):
        found = self.json("bench", "pairs", "--device", "cpu", "--size", "300", "--runs", "1", "--f", "sqdist", "--components", "3")
        rows = {row["name"]: row["verdict"] for row in found["variants"]}
        self.assertEqual(rows, {"serial": "skipped", "register_blocks": "right", "compensated": "right", "exact": "right"})
        self.assertIn("of ceiling", self.succeed("bench", "pairs", "--device", "cpu", "--size", "2^8", "--runs", "1", "--seconds", "0.1"))
        self.assertIn("is no rung", self.refuse("bench", "pairs", "--device", "cpu", "--variant", "magic"))
        for device in [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"][:1]:
            for few in ("1", "3", "25"):  # of blocks that hold more
                rows = self.json("bench", "pairs", "--device", device, "--size", few, "--runs", "1", "--variant", "register_blocks")["variants"]
                self.assertEqual({row["verdict"] for row in rows}, {"right"})
            capped = self.json("bench", "pairs", "--device", device, "--size", "300", "--runs", "1", "--registers", "64", "--variant", "register_blocks")
            self.assertIn("resident=4", capped["variants"][-1]["configuration"])
            textbook = {"naive", "local_all", "local_tiled", "vec4", "vec8", "vec8_local", "vec8_both", "vec8_tile"}
            for f, reduction, size, dtype, components in (
                    ("difference", "sum", "101", "float32", 1), ("absdiff", "max", "300", "float64", 2), ("sqdist", "min", "77", "float32", 3),
                    ("gaussian", "sum", "1500", "float32", 1), ("invdist", "argmax", "90", "float32", 5), ("product", "min", "31", "float64", 1),
                    ("sqdist", "argmin", "101", "float32", 3), ("product", "sum", "65", "int32", 3), ("absdiff", "argmin", "40", "int64", 1),
                    ("sqdist", "max", "33", "uint16", 2)):
                with self.subTest(f=f, reduction=reduction):
                    found = self.json("bench", "pairs", "--device", device, "--size", size, "--y", "1037", "--f", f, "--reduce", reduction, "--dtype", dtype,
                                      "--components", str(components), "--runs", "1", "--seconds", "0.001", "--group", "32",
                                      *(word for name in sorted(textbook | {"register_blocks"}) for word in ("--variant", name)))
                    rows = [(row["name"], row["verdict"]) for row in found["variants"] if row["where"] == device]
                    self.assertEqual(sorted(rows), sorted((name, "right") for name in textbook | {"register_blocks"}), found)
            skipped = self.skipped("bench", "pairs", "--device", device, "--size", "64", "--components", "17", "--variant", "naive", "--runs", "1")
            self.assertIn("vectors of up to 16 components", skipped)

    def test_pairs_by_formula(self):
        """Every rung with any f; what none can do is said."""
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no device here runs kernels")
        few = ("--device", devices[0], "--size", "150", "--y", "67", "--runs", "1", "--seconds", "0.01")
        for arguments in (["--formula", "exp(-sqdist(a, b)/h)", "--param", "h=2"],
                          ["--formula", "let d = a - b; max(abs(d[0]), abs(d[1]))", "--components", "2", "--reduce", "argmin"],
                          ["--formula", "1/sqrt(sqdist(a, b) + s)", "--param", "s=0.5", "--components", "3", "--dtype", "float64"],
                          ["--formula", "gcd(a[0], b[0]) + k", "--param", "k=2", "--dtype", "uint32", "--reduce", "max"]):
            found = self.json("bench", "pairs", *arguments, *few)
            self.assertEqual(found["f"].replace(" ", ""), arguments[1].replace(" ", ""))
            verdicts = {row["name"]: row["verdict"] for row in found["variants"] if row["name"] not in ("serial", "local_all")}
            self.assertGreater(len(verdicts), 7)
            self.assertEqual(set(verdicts.values()), {"right"}, (arguments, verdicts))
        self.assertIn("the textbook has sums", self.skipped("bench", "pairs", "--formula", "(a[0], b[0])", "--variant", "naive", *few))
        self.assertIn("--f and --formula cannot be used together", self.refuse("bench", "pairs", "--f", "sqdist", "--formula", "a*b", *few))

    def test_indices_of_pairs_of_ugly_numbers(self):
        """NaN, infinities, equal values and both zeros: the textbook's indices are those of the product's minima, in every rung."""
        nan, inf = float("nan"), float("inf")
        self.array("x.npy", [0.0, -0.0, 1.5, inf, -inf, nan, 1e-45, 3.0], "f")
        for name, y in (("nan", [2, nan, -3, nan]), ("zeros", [0.0, -0.0] * 6 + [0.0]), ("infinite", [inf] * 9),
                        ("equal", [7] * 37), ("one", [-5])):
            self.array("y.npy", y, "f")
            for device in [device["selector"] for device in self.json("devices")["devices"] if device["selector"] != "cpu"][:1]:
                for reduction in ("argmin", "argmax"):
                    with self.subTest(y=name, reduction=reduction):
                        found = self.json("bench", "pairs", "--device", device, "--data", "x.npy", "--data", "y.npy", "--reduce", reduction, "--runs", "1",
                                          "--seconds", "0.001", "--group", "32", "--variant", "naive", "--variant", "vec8_tile", "--variant", "register_blocks")
                        self.assertEqual({row["verdict"] for row in found["variants"] if row["where"] == device}, {"right"}, found)


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
        for _ in range(2):  # a log is there the second time too
            result = self.run_program("kernel", "pairs", "naive", "--device", devices[0], "--group", "32", "--asm", "naive.bin")
            text = result.stdout.decode()
            self.assertEqual(result.returncode, 0)
            self.assertIn("#define GROUP 32", text)
            self.assertIn("KERNEL FIXED_GROUP(GROUP, RESIDENT) void from_global", text)
            self.assertIn("// --- build log", text)
            self.assertIn("// naive.bin: ", text)
            self.assertRegex(text, r"// --- launch: groups=\d+ group_size=32 x_per_item=1; 0 bytes of local memory from the launch")
            self.assertGreater(len(self.read("naive.bin")), 100)

    def test_launch_and_ptx(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["is_cpu"] and device["selector"] != "cpu"]
        if not devices:
            self.skipTest("no kernels run on this processor")
        of = ["--device", devices[0]]
        for pattern, variant, launch in (("histogram", "best", r"local32x\d+ .*; [1-9]\d+ bytes"), ("histogram", "privatized", "group_size=256; 0 bytes"),
                                         ("sum", "tree_passes", "group_size=256 tile=16x16; 0 bytes"), ("barrier", "ticket", r"groups=\d+ group_size=256; 0 bytes"),
                                         ("reduce", "product", r"group_size=\d+ loads=\d+; 0 bytes")):
            with self.subTest(pattern=pattern, variant=variant):
                self.assertRegex(self.succeed("kernel", pattern, variant, *of), "// --- launch: .*" + launch)
        self.assertIn("has no PTX", self.refuse("kernel", "sum", "tree_passes", *of, "--ptx", "sum.ptx"))

    def test_the_kernel_for_so_much_data(self):
        devices = [device["selector"] for device in self.json("devices")["devices"] if device["selector"].startswith("opencl")]
        if not devices:
            self.skipTest("no OpenCL device")
        kernel = ["kernel", "reduce", "extremes", "--device", devices[0]]
        self.assertIn("--size takes a number", self.refuse(*kernel, "--size", "little"))
        self.assertIn("extremes.cl", self.succeed(*kernel, "--size", "4K"))
        self.assertIn("to 16777216 elements", self.refuse("kernel", "pairs", "naive", "--device", devices[0], "--size", "2^30"))


if __name__ == "__main__":
    unittest.main()
