"""The memory of the commands does not grow with their input. Run with SAMESUM_PROGRAM=build/release/cli/samesum.

RLIMIT_DATA counts what a process may write to (heap, stacks, buffers), and no file that is mapped to be read. The inputs are larger than the
limit and sparse, so that they take no disk space."""
import os
import resource
import struct
import subprocess
import unittest

from support.program import Case, header, npy

LIMIT = 100 << 20
SIZE = 128 << 20  # bytes of numbers in an input


def confine():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # each thread has a stack
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


class Memory(Case):
    def setUp(self):
        super().setUp()
        if self.run_program("--version", preexec_fn=confine).returncode != 0:
            self.skipTest("this program does not even start in so little memory")
        self.zeros("x.npy", "(%d,)" % (SIZE // 8))
        self.write("x.raw", b"")
        os.truncate(self.path("x.raw"), SIZE)

    def zeros(self, name, shape):
        text = header("'<f8'", shape)
        start = npy(text.rstrip().ljust(117) + "\n", b"")  # 128 bytes: elements are aligned, as numpy has them
        self.write(name, start)
        os.truncate(self.path(name), len(start) + SIZE)

    def limited(self, *arguments, file=None, **options):
        arguments += ("--device", "cpu") if arguments[0] not in ("median", "quantile") else ()
        if file is None:
            return self.succeed(*arguments, preexec_fn=confine, **options)
        with open(self.path(file), "rb") as stream:
            return self.succeed(*arguments, preexec_fn=confine, stdin=stream, **options)

    def test_files(self):
        count = SIZE // 8
        self.assertEqual(self.limited("sum", "--plain", "x.npy"), "0\n")
        self.assertIn("argmax\t0\n", self.limited("stats", "x.npy"))
        self.assertEqual(self.limited("prod", "x.npy"), "0\n")
        self.assertEqual(self.limited("dot", "x.npy", "x.npy"), "0\n")
        self.assertEqual(self.limited("median", "x.npy"), "0\n")
        self.assertEqual(self.limited("quantile", "-q", "0.1,0.9", "--dtype", "uint16", "x.raw"), "0.1\t0\n0.9\t0\n")
        self.assertIn("0,2,%d\n" % count, self.limited("hist", "--edges", "0,2", "--csv", "x.npy"))
        self.assertIn('"agree": true', self.limited("compare", "--json", "x.npy"))

    def test_a_result_of_pairs_is_written_block_by_block(self):
        self.array("two.npy", [2.0])
        with open(self.path("x.npy"), "r+b") as file:
            for index in (0, 2**20 - 1, 2**20, SIZE // 8 - 1):  # where a block begins and ends
                file.seek(128 + 8 * index)
                file.write(struct.pack("<d", index + 0.5))
        self.assertEqual(self.limited("pairs", "x.npy", "two.npy", "-o", "c.npy"), "")
        self.assertEqual(os.path.getsize(self.path("c.npy")), 128 + SIZE)
        with open(self.path("c.npy"), "rb") as file:
            for index in (0, 1, 2**20 - 1, 2**20, 2**20 + 1, SIZE // 8 - 1):
                file.seek(128 + 8 * index)
                self.assertEqual(struct.unpack("<d", file.read(8))[0], 0 if index % 2**20 == 1 else 2 * index + 1, index)
        start = npy(header("'<f8'", "(%d,)" % (SIZE // 8)).rstrip().ljust(118) + "\n", b"")  # an odd length: no element is aligned
        self.write("odd.npy", start)
        os.truncate(self.path("odd.npy"), len(start) + SIZE)
        self.assertEqual(self.limited("pairs", "two.npy", "odd.npy"), "0\n")

    def test_pairs(self):
        self.array("one.npy", [2.0])
        self.assertEqual(self.limited("pairs", "one.npy", "x.npy"), "0\n")
        self.assertEqual(self.limited("pairs", "--accuracy", "exact", "one.npy", "x.npy"), "0\n")
        self.zeros("vectors.npy", "(%d, 4)" % (SIZE // 32))
        self.write("vector.npy", npy(header("'<f8'", "(1, 4)"), struct.pack("<4d", 1, 0, 0, 0)))
        self.assertEqual(self.limited("pairs", "--f", "sqdist", "--accuracy", "exact", "vector.npy", "vectors.npy"), "%d\n" % (SIZE // 32))

    def test_text(self):
        # Numbers of many digits: the text is larger than the limit, and comes from a pipe.
        commands = [("sum", "--plain", "--column", "2"), ("max", "--column", "2"), ("median", "--column", "2"),
                    ("hist", "--column", "2", "--edges", "0,2", "--csv")]
        for command in commands:
            with subprocess.Popen("yes 0000000000000000000000000000000000000,1 | head -c %d" % (40 * (SIZE // 40)), shell=True,
                                  stdout=subprocess.PIPE) as text:
                found = self.limited(*command, "-", stdin=text.stdout)
            self.assertIn({"sum": "%d\n" % (SIZE // 40), "hist": "0,2,%d\n" % (SIZE // 40)}.get(command[0], "1\n"), found)

    def test_without_data(self):
        raw = ("--nodata", "0", "--dtype", "uint8", "x.raw")
        empty = self.run_program("stats", *raw, "--device", "cpu", preexec_fn=confine)
        self.assertEqual((empty.returncode, empty.stderr.count(b"no elements")), (0, 5))  # least, greatest, where, mean: why not
        self.assertIn(b"count\t0\n", empty.stdout)
        self.assertEqual(self.limited("prod", "--plain", *raw), "1\n")
        self.assertIn("no elements", self.refuse("median", *raw, code=1, preexec_fn=confine))

    def test_standard_input(self):
        self.assertEqual(self.limited("sum", "--plain", "-", file="x.npy"), "0\n")
        self.assertIn("argmax\t0\n", self.limited("stats", "-", file="x.npy"))
        self.assertEqual(self.limited("median", "-", file="x.npy"), "0\n")
        self.assertIn(",%d\n" % (SIZE // 8), self.limited("hist", "--bins", "1", "--csv", "-", file="x.npy"))
        self.assertIn('"agree": true', self.limited("compare", "--json", "-", file="x.npy"))


if __name__ == "__main__":
    unittest.main()
