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
        self.write("x.npy", npy(header("'<f8'", "(%d,)" % OFFSETS[-1]), struct.pack("<%dd" % OFFSETS[-1], *self.values[:OFFSETS[-1]])))
        wanted = self.succeed("sum", "--offsets", self.offsets, self.file)
        self.assertEqual(self.succeed("sum", "--lengths", self.integers("l.npy", lengths), self.file), wanted)
        text = self.write("l.txt", "".join("%d\n" % length for length in lengths).encode())
        self.assertEqual(self.succeed("sum", "--lengths", text, self.file), wanted)
        numbers = self.write("x.txt", "".join("%r\n" % value for value in self.values[:OFFSETS[-1]]).encode())
        self.assertEqual(self.succeed("sum", "--lengths", text, numbers), wanted)
        found = self.json("sum", "--lengths", text, self.file)
        self.assertEqual((found["segments"], found["shape"]), (len(lengths), [len(lengths)]))
        self.succeed("sum", "--lengths", text, self.file, "-o", "y.npy")
        with open(self.path("y.npy"), "rb") as file:
            self.same(struct.unpack("<%dd" % len(lengths), file.read()[-8 * len(lengths):]), [float(line) for line in wanted.split()])

    def test_integers(self):
        numbers = self.integers("n.npy", [2**62, 2**62 - 1, -5, 7, 2**62, 2**62])
        self.assertEqual(self.succeed("sum", "--lengths", self.integers("a.npy", [2, 0, 3, 1]), numbers).split(),
                         [str(2**63 - 1), "0", str(2**62 + 2), str(2**62)])
        self.assertIn("segment 1", self.refuse("min", "--lengths", self.integers("b.npy", [2, 0, 4]), numbers, code=1))
        self.assertIn("key -7", self.refuse("sum", "--keys", self.integers("s.npy", [1, -7, -7, 1, -7, -7]), numbers, code=1))
        for lengths, total in (([2, 3], 5), ([2, 5], 7)):
            self.assertIn("they add up to %d, and there are 6 elements" % total, self.refuse("sum", "--lengths", self.integers("w.npy", lengths), numbers))
        self.assertIn("segment 0", self.refuse("sum", "--lengths", self.integers("c.npy", [3, 3]), self.integers("m.npy", [2**62, 2**62, 1, 0, 0, 0]),
                                             code=1))

    def test_every_reduction_of_segments(self):
        found = self.json("stats", "--only", "count,nonzero,sqnorm,nan,prod", "--offsets", self.offsets, self.file)["values"]
        for k, segment in enumerate(self.segments):
            self.assertEqual([found[name][k]["value"] for name in ("count", "nonzero", "nan")], [len(segment), sum(x != 0 for x in segment), 0])
            self.assertEqual(found["sqnorm"][k]["value"], float(sum(Fraction(x) ** 2 for x in segment)))
        full = self.integers("full.npy", [0, 1, 5, 1006])
        for name, best in (("argmin", min), ("argmax", max)):
            expected = [a + self.values[a:b].index(best(self.values[a:b])) for a, b in ((0, 1), (1, 5), (5, 1006))]
            self.assertEqual(self.succeed(name, "--offsets", full, self.file).split(), [str(place) for place in expected])
        numbers = [12, 18, 30, 7, 21, 35, 2, 4]
        file, offsets = self.integers("gcd.npy", numbers), self.integers("go.npy", [0, 3, 6, 8])
        self.assertEqual(self.succeed("reduce", "--combine", "gcd(a, b)", "--offsets", offsets, file).split(), ["6", "7", "2"])
        self.assertEqual(self.succeed("prod", "--offsets", offsets, file).split(), [str(12 * 18 * 30), str(7 * 21 * 35), "8"])
        self.assertEqual(self.succeed("sum", "--map", "x*x", "--offsets", offsets, file).split(), ["1368", "1715", "20"])
        self.assertEqual(self.succeed("median", "--map", "x - y", "--offsets", offsets, file, file).split(), ["0", "0", "0"])

    def test_keys_of_arrays(self):
        keys = [[-3, 2**40, 7, 0][i * i % 11 % 4] for i in range(len(self.values))]
        file = self.integers("k.npy", keys)
        groups = {key: [x for x, of in zip(self.values, keys) if of == key] for key in sorted(set(keys))}
        lines = self.succeed("sum", "--keys", file, self.file).splitlines()
        self.assertEqual([line.split("\t")[0] for line in lines], [str(key) for key in groups])
        self.same([float(line.split("\t")[1]) for line in lines], [float(sum(map(Fraction, part))) for part in groups.values()])
        self.assertEqual(self.succeed("sum", "--plain", "--keys", file, self.file).split(), [line.split("\t")[1] for line in lines])
        self.assertEqual(self.succeed("sum", "--csv", "--keys", file, self.file).splitlines(), ["key,sum"] + [line.replace("\t", ",") for line in lines])
        found = self.json("stats", "--only", "max,argmax", "--keys", file, self.file)
        self.assertEqual((found["groups"], found["keys"]), (len(groups), list(groups)))
        self.assertEqual([each["value"] for each in found["values"]["max"]], [max(part) for part in groups.values()])
        places = [next(i for i, (x, of) in enumerate(zip(self.values, keys)) if of == key and x == max(groups[key])) for key in groups]
        self.assertEqual([each["value"] for each in found["values"]["argmax"]], places)
        text = "".join("%.18e\n" % key for key in keys).encode()  # as numpy's savetxt writes them
        self.assertEqual(self.run_program("sum", "--keys", "-", self.file, input=text).stdout.decode().splitlines(), lines)
        self.succeed("sum", "--keys", file, self.file, "-o", "of_keys.npy")
        with open(self.path("of_keys.npy"), "rb") as written:
            self.same(struct.unpack("<%dd" % len(groups), written.read()[-8 * len(groups):]), [float(line.split("\t")[1]) for line in lines])
        lengths = self.succeed("reduce", "--map", "(x, i)", "--combine", "b[0] > a[0] ? b : a", "--finish", "a[1]", "--keys", file, self.file)
        self.assertEqual([line.split("\t")[1] for line in lengths.splitlines()], [str(place) for place in places])

    def test_refusals(self):
        self.assertIn("ascend", self.refuse("sum", "--offsets", self.integers("d.npy", [0, 5, 4]), self.file))
        self.assertIn("negative", self.refuse("sum", "--lengths", self.integers("m.npy", [5, -1]), self.file))
        self.assertIn("2000", self.refuse("sum", "--offsets", self.integers("f.npy", [0, 2000]), self.file))
        self.assertIn("o.txt", self.refuse("sum", "--offsets", self.write("o.txt", b"0 1.5 3\n"), self.file))
        self.assertIn("say the same", self.refuse("sum", "--offsets", self.offsets, "--lengths", self.offsets, self.file))
        self.assertIn("--axis", self.refuse("sum", "--offsets", self.offsets, "--axis", "0", self.file))
        self.assertIn("argmin of segment 1: it has no elements", self.refuse("argmin", "--offsets", self.offsets, self.file, code=1))
        self.assertIn("leave all out but one", self.refuse("sum", "--keys", self.offsets, "--lengths", self.offsets, self.file))
        self.assertIn("each element needs one key", self.refuse("sum", "--keys", self.offsets, self.file))
        self.assertIn("keys are integers", self.refuse("sum", "--keys", self.file, self.file))
        self.assertIn("number 1 is 0.5", self.refuse("sum", "--keys", self.write("half.txt", b"1 0.5\n"), self.file))
        self.assertIn("on the CPU", self.refuse("sum", "--keys", self.offsets, "--device", "opencl:0", self.file))
        self.assertIn("'bogus'", self.refuse("stats", "--only", "bogus,sum", "--offsets", self.offsets, self.file))
        self.assertIn("there is no 'missing'", self.refuse("stats", "--only", "missing", "--axis", "0", self.file))
        self.assertIn("--by is for tables", self.refuse("prod", "--by", "1", "--offsets", self.offsets, self.file))
        large = self.write("ids.txt", b"9007199254740993\n9007199254740992\n9007199254740993\n")
        self.assertEqual(self.succeed("sum", "--keys", large, self.write("three.txt", b"1\n2\n4\n")), "9007199254740992\t2\n9007199254740993\t5\n")
        self.assertIn("there is no 'any'", self.refuse("stats", "--only", "any,sum", "--offsets", self.offsets, self.file))
        self.assertIn("--keepdims", self.refuse("sum", "--offsets", self.offsets, "--keepdims", self.file))


if __name__ == "__main__":
    unittest.main()
