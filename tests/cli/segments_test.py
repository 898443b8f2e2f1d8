"""Reductions by segment on the command line: values beside exact fractions, as many files as there are formats, and refusals."""
import math
import struct
import unittest
from fractions import Fraction

from support.program import Case, header, npy

OFFSETS = [0, 1, 1, 5, 6, 1006, 1006, 1010]


def ugly(count):
    """Numbers that cancel: a wide range of exponents, each soon followed by its negative."""
    values = []
    for i in range(count):
        value = math.ldexp(1 + (i * 7919 % 1009) / 1009, i * 37 % 601 - 300)
        values.append(-values[-2] if i % 4 == 3 else value)
    return values


class Segments(Case):
    def setUp(self):
        super().setUp()
        self.values = ugly(OFFSETS[-1] + 3)  # the last three belong to no segment
        self.file = self.write("x.npy", npy(header("'<f8'", "(%d,)" % len(self.values)), struct.pack("<%dd" % len(self.values), *self.values)))
        self.offsets = self.integers("o.npy", OFFSETS)
        self.segments = [self.values[a:b] for a, b in zip(OFFSETS, OFFSETS[1:])]

    def test_missing_numbers_would_shift_positions(self):
        self.write("gaps.txt", b"1\nNA\n3\n4\n5\n9\n")
        self.write("gaps.csv", b"v\n5\nNA\n7\n")
        short = self.integers("short.npy", [0, 3, 5])
        says = "1 number is missing, and here each number has its position: write nan for it"
        for command in (["sum", "--offsets", short, "gaps.txt"], ["median", "--offsets", short, "gaps.txt"], ["scan", "gaps.txt"],
                        ["sum", "--offsets", "gaps.txt", self.file], ["sum", "--lengths", "gaps.txt", self.file],
                        ["scan", "--column", "v", "gaps.csv"], ["reduce", "--column", "v", "--combine", "a + b", "gaps.csv"],
                        ["reduce", "--column", "v", "--map", "(x, i)", "--combine", "b[0] > a[0] ? b : a", "gaps.csv"]):
            self.assertIn(says, self.refuse(*command))

    def integers(self, name, numbers):
        return self.write(name, npy(header("'<i8'", "(%d,)" % len(numbers)), struct.pack("<%dq" % len(numbers), *numbers)))

    def lines(self, *arguments):
        return [float(line) for line in self.succeed(*arguments).split()]

    def same(self, found, expected):
        self.assertEqual([struct.pack("<d", 0.0 if x == 0 else x) for x in found], [struct.pack("<d", x) for x in expected])

    def test_values(self):
        exact = [sum(map(Fraction, segment), Fraction(0)) for segment in self.segments]
        self.same(self.lines("sum", "--offsets", self.offsets, self.file), [float(x) for x in exact])
        means = self.lines("mean", "--offsets", self.offsets, self.file)
        for segment, total, mean in zip(self.segments, exact, means):
            self.assertEqual(mean, float(total / len(segment))) if segment else self.assertTrue(math.isnan(mean))
        for name, function in (("min", min), ("max", max)):
            found = self.lines(name, "--offsets", self.offsets, self.file)
            for segment, one in zip(self.segments, found):
                self.assertEqual(one, function(segment)) if segment else self.assertTrue(math.isnan(one))
        found = self.lines("var", "--ddof", "1", "--offsets", self.offsets, self.file)
        for segment, total, one in zip(self.segments, exact, found):
            if len(segment) < 2:
                self.assertTrue(math.isnan(one))
            else:
                mean = total / len(segment)
                self.assertEqual(one, float(sum((Fraction(x) - mean) ** 2 for x in segment) / (len(segment) - 1)))
        counts = self.succeed("stats", "--only", "count", "--offsets", self.offsets, self.file).split()
        self.assertEqual([int(count) for count in counts], [len(segment) for segment in self.segments])

    def test_lengths_and_text(self):
        lengths = [len(segment) for segment in self.segments]
        wanted = self.succeed("sum", "--offsets", self.offsets, self.file)
        self.assertEqual(self.succeed("sum", "--lengths", self.integers("l.npy", lengths), self.file), wanted)
        text = self.write("l.txt", "".join("%d\n" % length for length in lengths).encode())
        self.assertEqual(self.succeed("sum", "--lengths", text, self.file), wanted)
        numbers = self.write("x.txt", "".join("%r\n" % value for value in self.values).encode())
        self.assertEqual(self.succeed("sum", "--lengths", text, numbers), wanted)
        found = self.json("sum", "--lengths", text, self.file)
        self.assertEqual((found["segments"], found["shape"]), (len(lengths), [len(lengths)]))
        self.succeed("sum", "--lengths", text, self.file, "-o", "y.npy")
        with open(self.path("y.npy"), "rb") as file:
            self.same(struct.unpack("<%dd" % len(lengths), file.read()[-8 * len(lengths):]), [float(line) for line in wanted.split()])

    def test_integers(self):
        numbers = self.integers("n.npy", [2**62, 2**62 - 1, -5, 7, 2**62, 2**62])
        self.assertEqual(self.succeed("sum", "--lengths", self.integers("a.npy", [2, 0, 3]), numbers).split(),
                         [str(2**63 - 1), "0", str(2**62 + 2)])
        self.assertIn("group 1", self.refuse("min", "--lengths", self.integers("b.npy", [2, 0]), numbers, code=1))
        self.assertIn("group 0", self.refuse("sum", "--lengths", self.integers("c.npy", [3, 3]), self.integers("m.npy", [2**62, 2**62, 1, 0, 0, 0]),
                                             code=1))

    def test_refusals(self):
        self.assertIn("ascend", self.refuse("sum", "--offsets", self.integers("d.npy", [0, 5, 4]), self.file))
        self.assertIn("negative", self.refuse("sum", "--lengths", self.integers("m.npy", [5, -1]), self.file))
        self.assertIn("2000", self.refuse("sum", "--offsets", self.integers("f.npy", [0, 2000]), self.file))
        self.assertIn("o.txt", self.refuse("sum", "--offsets", self.write("o.txt", b"0 1.5 3\n"), self.file))
        self.assertIn("say the same", self.refuse("sum", "--offsets", self.offsets, "--lengths", self.offsets, self.file))
        self.assertIn("--axis", self.refuse("sum", "--offsets", self.offsets, "--axis", "0", self.file))
        self.assertIn("argmin", self.refuse("argmin", "--offsets", self.offsets, self.file))
        self.assertIn("--only", self.refuse("stats", "--offsets", self.offsets, self.file))
        self.assertIn("--keepdims", self.refuse("sum", "--offsets", self.offsets, "--keepdims", self.file))


if __name__ == "__main__":
    unittest.main()
