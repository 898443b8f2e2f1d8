"""Parts of the work on a file (--part, merge) and work that goes on after it was killed (--checkpoint): the bits of one run, or an error."""
import os
import random
import signal
import struct
import subprocess
import time
import unittest

import numpy

from support.informative import informative
from support.program import PROGRAM, Case


def ugly(count, seed=1):
    """Numbers of all magnitudes, which cancel."""
    generator = numpy.random.default_rng(seed)
    values = generator.standard_normal(count) * 2.0 ** generator.integers(-300, 300, count)
    values[count // 2:] = -values[:count - count // 2]
    values[::7] = generator.random(len(values[::7]))
    return values


class Parts(Case):
    def setUp(self):
        super().setUp()
        numpy.save(self.path("x.npy"), ugly(1001))
        numpy.save(self.path("y.npy"), numpy.clip(ugly(1001, 2), -1e38, 1e38).astype("f4"))
        numpy.save(self.path("n.npy"), numpy.arange(-400, 601, dtype="i2"))
        numpy.save(self.path("m.npy"), numpy.arange(30.0).reshape(5, 6))

    def parts(self, parts, *command, file="x.npy"):
        """The files of all parts, in a random order."""
        names = []
        for k in range(1, parts + 1):
            names.append("%s.%d" % (command[0], k))
            self.assertEqual(self.succeed(*command, "--part", "%d/%d" % (k, parts), "--partial", names[-1], file), "")
        random.Random(parts).shuffle(names)
        return names

    def test_the_answer_is_that_of_the_whole(self):
        for parts in (1, 2, 3, 7):
            for command in (["sum"], ["sum", "--hex"], ["stats"], ["stats", "--csv"], ["stats", "--only", "min,argmax,nonzero,norm"], ["std", "--ddof", "1"],
                            ["argmin"], ["hist", "--range", "-1", "1", "--bins", "9", "--csv"], ["hist", "--edges", "-2,0,1e9"],
                            ["hist", "--bin", "x < 0 ? 0 : 1", "--bins", "2", "--csv"], ["hist", "--bin", "x < 0 ? 0 : 1", "--bins", "2"]):
                if parts != 3 and command[0] not in ("sum", "stats"):
                    continue
                whole = self.succeed(*command, "x.npy")
                self.assertEqual(self.succeed("merge", *self.parts(parts, *command)), whole, (parts, command))
        self.assertEqual(self.succeed("merge", *self.parts(40, "sum", file="m.npy")), self.succeed("sum", "m.npy"))

    def test_pairs_share_out_the_vectors_of_a(self):
        random_numbers = numpy.random.default_rng(3)
        numpy.save(self.path("a.npy"), random_numbers.standard_normal((11, 3)))
        numpy.save(self.path("b.npy"), random_numbers.standard_normal((17, 3)))
        numpy.save(self.path("w.npy"), random_numbers.random(17))
        for parts, options in ((1, []), (3, ["--f", "sqdist", "--reduce", "argmin"]), (7, ["--f", "sqdist", "--reduce", "smallest", "--k", "2", "--csv"]),
                               (20, ["--weights", "w.npy", "--hex"]), (2, ["--formula", "exp(-sqdist(a,b)/h)", "--param", "h=2", "--json"])):
            command = ["pairs", "--device", "cpu", *options]
            names = []
            for k in range(1, parts + 1):
                names.append("%d.pairs" % k)
                self.assertEqual(self.succeed(*command, "--part", "%d/%d" % (k, parts), "--partial", names[-1], "a.npy", "b.npy"), "")
            random.Random(parts).shuffle(names)
            if "--json" in options:
                self.assertEqual(self.json("merge", *names)["values"], self.json(*command, "a.npy", "b.npy")["values"])
                self.assertEqual(len(self.json("merge", *names)["values"]), 11)
            else:
                self.assertEqual(self.succeed("merge", *names), self.succeed(*command, "a.npy", "b.npy"), options)
            self.assertEqual(self.succeed("merge", "--out", "merged.npy", *names), "")
            self.succeed("pairs", "--device", "cpu", *[word for word in options if word not in ("--csv", "--hex", "--json")], "-o", "whole.npy", "a.npy", "b.npy")
            self.assertEqual(self.read("merged.npy"), self.read("whole.npy"))
        self.succeed("pairs", "--part", "1/2", "--partial", "1.pairs", "a.npy", "b.npy")
        self.succeed("pairs", "--f", "sqdist", "--part", "2/2", "--partial", "2.pairs", "a.npy", "b.npy")
        self.assertIn("other options", self.refuse("merge", "1.pairs", "2.pairs"))
        self.assertIn("missing: 2", self.refuse("merge", "1.pairs"))
        self.assertIn("--partial", self.refuse("pairs", "--part", "1/2", "a.npy", "b.npy"))
        self.assertIn("--part K/N", self.refuse("pairs", "--partial", "p", "a.npy", "b.npy"))
        self.assertIn("merge", self.refuse("pairs", "--part", "1/2", "--partial", "p", "-o", "c.npy", "a.npy", "b.npy"))
        self.succeed("sum", "--part", "1/1", "--partial", "s.part", "x.npy")
        self.assertIn("pairs", self.refuse("merge", "--out", "c.npy", "s.part"))
        whole = self.read("1.pairs")
        for at in (len(whole) - 1, len(whole) // 2):
            self.write("bad.pairs", whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            self.assertIn("bad.pairs", self.refuse("merge", "bad.pairs"))

    def test_integers_json_and_several_files(self):
        whole, merged = (self.json(*command) for command in (["sum", "n.npy"], ["merge", *self.parts(3, "sum", file="n.npy")]))
        self.assertEqual((merged["value"], merged["type"], merged["count"]), (informative(whole["value"]), "int64", 1001))
        for k in "123":
            self.succeed("stats", "--total", "--json", "--part", k + "/3", "--partial", k + ".st", "x.npy", "y.npy", "n.npy")
        merged = self.json("merge", "1.st", "3.st", "2.st")["files"][0]
        self.assertEqual(merged["statistics"], self.json("stats", "--total", "x.npy", "y.npy", "n.npy")["files"][0]["statistics"])
        self.write("raw", ugly(999).tobytes())
        merged = self.succeed("merge", *self.parts(3, "sum", "--dtype", "f8", "--offset", "8", "--count", "990", file="raw"))
        self.assertEqual(merged, self.succeed("sum", "--dtype", "f8", "--offset", "8", "--count", "990", "raw"))

    def test_dot_products(self):
        numpy.save(self.path("z.npy"), ugly(1001, 3))
        for files in (["x.npy", "z.npy"], ["n.npy", "n.npy"]):
            for k in "123":
                self.succeed("dot", "--part", k + "/3", "--partial", k + ".dot", *files)
            self.assertEqual(self.succeed("merge", "2.dot", "3.dot", "1.dot"), self.succeed("dot", *files))

    def test_groups_of_rows_by_files(self):
        """--by shares out a list of files. Keys in other orders, with commas and line ends in them, and files without some or all of them."""
        generator = random.Random(4)
        names, keys = [], ["a", "b,c", "new\nline", "é", "", "10"]
        for i in range(5):
            rows = ["city,price,n"]
            for _ in range(40 if i != 3 else 0):
                key = generator.choice(keys[:1 + i])
                rows.append('"%s",%r,%s' % (key, generator.uniform(-1, 1) * 2.0 ** generator.randrange(-200, 200), generator.choice(["3", "-4", "NA"])))
            names.append(self.write("%d.csv" % i, ("\n".join(rows) + "\n").encode()))
        names.append(self.write("e.csv", b"city,price,n\n"))
        columns = ["--column", "price,n", "--by", "city"]
        for command in (["sum", *columns], ["stats", *columns, "--sorted"], ["stats", *columns, "--only", "min,var,norm", "--json"], ["sum", *columns, "--csv"]):
            command = [*command, "--allow-empty"]
            whole, notes = self.noted(*command, *names)
            for parts in (1, 2, 3, 7):
                for k in range(1, parts + 1):
                    self.noted(*command, "--part", "%d/%d" % (k, parts), "--partial", "by.%d" % k, *names)
                merged, merged_notes = self.noted("merge", *["by.%d" % k for k in reversed(range(1, parts + 1))])
                self.assertEqual((merged, merged_notes), (whole, notes), (command, parts))
        informative(float(self.succeed("sum", "--column", "price", "--plain", names[0])))
        self.assertIn("of the 7 parts of the by of 0.csv", self.refuse("merge", "by.1"))
        self.noted("sum", "--column", "price", "--by", "city", "--part", "1/7", "--partial", "other", *names)
        self.assertIn("other options", self.refuse("merge", "by.2", "other"))
        good = self.read("by.1")
        for size in range(0, len(good), 41):
            self.write("bad", good[:size])
            self.assertIn("bad: ", self.refuse("merge", "bad"))
        self.assertIn("leave out one of --checkpoint and --by", self.refuse("sum", *columns, "--checkpoint", "state", *names))
        self.assertIn("name the part", self.refuse("sum", *columns, "--partial", "p", *names))
        self.assertIn("shares out a list of files", self.refuse("sum", *columns, "--part", "1/2", "--partial", "p", "-"))

    def test_whole_inputs_merge_too(self):
        numpy.save(self.path("a.npy"), ugly(1001)[:400])
        numpy.save(self.path("b.npy"), ugly(1001)[400:])
        for command in (["stats"], ["hist", "--range", "-1", "1", "--csv"]):
            for name in "ab":
                self.assertEqual(self.succeed(*command, "--partial", name + ".part", name + ".npy"), self.succeed(*command, name + ".npy"))
            options = ["--csv"] if "--csv" in command else []
            self.assertEqual(self.succeed("merge", *options, "a.part", "b.part"), self.succeed(*command, "x.npy"))
        self.succeed("sum", "--partial", "s.part", "a.npy")
        message = self.refuse("merge", "a.part", "s.part")
        self.assertIn("a.part is a histogram, s.part a partial sum: they cannot be merged", message)

    def test_parts_that_do_not_fit_are_named(self):
        self.parts(3, "sum")
        self.assertIn("of the 3 parts of the sum of x.npy there is one missing: 2", self.refuse("merge", "sum.1", "sum.3"))
        self.write("copy", self.read("sum.2"))
        self.assertIn("sum.2 and copy are both part 2 of 3", self.refuse("merge", "sum.1", "sum.2", "copy", "sum.3"))
        self.succeed("sum", "--part", "2/3", "--partial", "other", "y.npy")
        self.assertIn("sum.1 and other are parts of different work: sum of x.npy and sum of y.npy", self.refuse("merge", "sum.1", "other"))
        self.succeed("stats", "--part", "2/3", "--partial", "other", "x.npy")
        self.assertIn("sum of x.npy and stats of x.npy", self.refuse("merge", "sum.1", "other"))
        self.succeed("sum", "--part", "2/4", "--partial", "other", "x.npy")
        self.assertIn("sum.1 is one of 3 parts, other one of 4", self.refuse("merge", "sum.1", "other"))
        self.succeed("sum", "--partial", "other", "x.npy")
        self.assertIn("merge the parts first", self.refuse("merge", "sum.1", "other"))
        for low in "01":
            self.succeed("hist", "--range", low, "9", "--part", str(int(low) + 1) + "/2", "--partial", "h" + low, "x.npy")
        self.assertIn("other options", self.refuse("merge", "h0", "h1"))
        os.mkdir(self.path("later"))
        numpy.save(self.path("later/x.npy"), ugly(1001, 5))
        self.succeed("sum", "--part", "2/3", "--partial", "other", "later/x.npy")
        self.assertIn("of files of this name with other contents", self.refuse("merge", "sum.1", "other"))

    def test_damaged_files_are_refused(self):
        self.parts(2, "stats")
        good = self.read("stats.1")
        generator = random.Random(1)
        for _ in range(25):
            place = generator.randrange(len(good))
            self.write("bad", good[:place])
            self.assertIn("bad: ", self.refuse("merge", "bad", "stats.2"))
            self.write("bad", good[:place] + bytes([good[place] ^ 1 << generator.randrange(8)]) + good[place + 1:])
            self.assertIn("bad: ", self.refuse("merge", "bad", "stats.2"))

    def test_usage(self):
        for part in ("0/3", "4/3", "3", "1/", "/3", "a/b", "1/3x", "-1/3", "1/99999999"):
            self.assertIn("--part", self.refuse("sum", "--part=" + part, "--partial", "p", "x.npy"))
        self.assertIn("--partial p3.sum", self.refuse("sum", "--part", "1/2", "x.npy"))
        self.write("t.txt", b"1 2 3\n")
        self.assertIn("t.txt: --part and --checkpoint are for arrays", self.refuse("sum", "--part", "1/2", "--partial", "p", "t.txt"))
        self.assertIn("standard input: ", self.refuse("sum", "--part", "1/2", "--partial", "p", "-"))
        self.assertIn("--range", self.refuse("hist", "--part", "1/2", "--partial", "p", "x.npy"))
        self.assertIn("--total", self.refuse("stats", "--part", "1/2", "--partial", "p", "x.npy", "y.npy"))
        self.assertIn("tree", self.refuse("stats", "--only", "prod", "--part", "1/2", "--partial", "p", "x.npy"))
        self.assertIn("leave out", self.refuse("sum", "--axis", "0", "--part", "1/2", "--partial", "p", "m.npy"))
        numpy.save(self.path("f.npy"), numpy.asfortranarray(numpy.arange(30.0).reshape(5, 6)))
        self.assertIn("C order", self.refuse("stats", "--part", "1/2", "--partial", "p", "f.npy"))
        self.assertEqual(self.succeed("merge", *self.parts(3, "sum", file="f.npy")), self.succeed("sum", "m.npy"))
        self.assertFalse(os.path.exists(self.path("p")))


class Checkpoints(Case):
    """16 pieces of 32 MiB, in a sparse file with a few numbers here and there."""

    def setUp(self):
        super().setUp()
        self.size = 16 << 22
        with open(self.path("big"), "wb") as file:
            file.truncate(8 * self.size)
            for i, value in enumerate(ugly(200)):
                file.seek(8 * (i * 335544 + i % 5))
                file.write(struct.pack("<d", value))
        self.command = ["sum", "--dtype", "f8", "--hex", "--threads", "1", "big"]

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_kills_at_random_moments(self):
        begin = time.monotonic()
        right = self.succeed(*self.command)
        duration = time.monotonic() - begin
        generator = random.Random(7)
        killed = 0
        for _ in range(12):
            process = self.start(*self.command, "--checkpoint", "state", "--every", "0")
            time.sleep(generator.random() * 0.5 * duration)
            process.send_signal(signal.SIGKILL)
            out, _ = process.communicate()
            self.assertIn(out.decode(), ("", right))  # killed behind its last line, too
            killed += process.returncode != 0
        out, _ = self.noted(*self.command, "--checkpoint", "state", "--every", "0")
        self.assertEqual(out, right)
        self.assertGreater(killed, 0)
        self.assertFalse(os.path.exists(self.path("state")))

    def checkpoint(self, *command):
        """A checkpoint of unfinished work."""
        for _ in range(50):
            process = self.start(*command, "--checkpoint", "state", "--every", "0")
            while process.poll() is None and not os.path.exists(self.path("state")):
                time.sleep(0.0005)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            if os.path.exists(self.path("state")):
                return
        self.fail("no checkpoint was caught")

    def test_cut_off_anywhere(self):
        """A file that lost its end is refused, whatever is left of it; so is one that got more."""
        self.checkpoint(*self.command)
        good = self.read("state")
        generator = random.Random(3)
        for size in {0, 1, 7, 8, 9, 14, len(good) - 1, len(good) - 8, *(generator.randrange(len(good)) for _ in range(12))}:
            self.write("state", good[:size])
            self.assertIn("state: ", self.refuse(*self.command, "--checkpoint", "state"))
            self.assertEqual(self.read("state"), good[:size])
        self.write("state", good + b"0")
        self.assertIn("state: ", self.refuse(*self.command, "--checkpoint", "state"))

    def test_a_disk_that_is_full(self):
        """What was kept stays as it was, and is gone on from when there is room again."""
        library = os.path.join(os.environ.get("SAMESUM_FAKES", ""), "libfake_disk.so")
        if not os.path.exists(library):
            self.skipTest("SAMESUM_FAKES does not name the folder of libfake_disk.so")
        right = self.succeed(*self.command)
        self.checkpoint(*self.command)
        good = self.read("state")
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        message = self.refuse(*self.command, "--checkpoint", "state", "--every", "0",
                              environment={"LD_PRELOAD": library, "SAMESUM_FAKE_DISK": "full", "ASAN_OPTIONS": options})
        self.assertIn("state: cannot be written: No space left on device", message)
        self.assertEqual((self.read("state"), sorted(os.listdir(self.folder))), (good, ["big", "state"]))
        out, _ = self.noted(*self.command, "--checkpoint", "state")
        self.assertEqual(out, right)

    def test_what_a_checkpoint_is_not_for(self):
        self.checkpoint(*self.command)
        self.assertIn("is a checkpoint of unfinished work", self.refuse("merge", "state"))
        message = self.refuse("stats", "--dtype", "f8", "--only", "max", "big", "--checkpoint", "state")
        self.assertIn("state: is a checkpoint of other work (sum of big and stats of big): remove it", message)
        message = self.refuse(*self.command, "--checkpoint", "state", "--part", "1/2", "--partial", "p")
        self.assertIn("part 1 of 1, and this is part 1 of 2", message)
        good = self.read("state")
        self.write("state", good[:-1])
        self.assertIn("truncated or damaged", self.refuse(*self.command, "--checkpoint", "state"))
        self.write("state", good)
        with open(self.path("big"), "r+b") as file:
            file.write(b"\x01")
        self.assertIn("other contents", self.refuse(*self.command, "--checkpoint", "state"))
        self.succeed("sum", "--dtype", "f8", "--part", "1/99999", "--partial", "p", "big")
        self.assertIn("p: is no checkpoint", self.refuse(*self.command, "--checkpoint", "p"))
        self.assertIn("one of the inputs", self.refuse(*self.command, "--checkpoint", "big"))
        self.assertIn("nowhere/state: cannot be written", self.refuse(*self.command, "--checkpoint", "nowhere/state"))

    def test_statistics_go_on_with_their_indices(self):
        command = ["stats", "--dtype", "f8", "--threads", "1", "--json", "big"]
        right = self.json(*command[:-2], "big")["files"][0]["statistics"]
        self.checkpoint(*command)
        result = self.run_program(*command, "--checkpoint", "state")
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"elements were done before", result.stderr)
        import json
        self.assertEqual(json.loads(result.stdout)["files"][0]["statistics"], right)


if __name__ == "__main__":
    unittest.main()
