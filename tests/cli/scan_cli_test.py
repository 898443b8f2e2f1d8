"""Scans on the command line: values beside exact fractions and numpy's, files for numpy, pipes, and refusals."""
import struct
import unittest
from fractions import Fraction

from support.informative import informative
from support.program import Case, header, npy

try:
    import numpy
except ImportError:
    numpy = None


class Scans(Case):
    def numbers(self):
        values = [0.1 * i * (-1) ** i * 10.0 ** (i % 40) for i in range(1, 301)]
        return values, self.write("x.npy", npy(header("'<f8'", "(300,)"), struct.pack("<300d", *values)))

    def test_every_prefix_is_rounded_once(self):
        values, file = self.numbers()
        expected, total = [], Fraction(0)
        for value in values:
            total += Fraction(value)
            expected.append(float(total))
        self.assertEqual([float(line) for line in self.succeed("scan", file).split()], expected)
        self.assertEqual([float(line) for line in self.succeed("scan", "--exclusive", file).split()], [0.0] + expected[:-1])
        found = self.json("scan", file)
        self.assertEqual((found["shape"], found["type"], found["operation"]), ([300], "float64", "sum"))
        self.assertEqual([value["value"] for value in found["values"]], expected)
        self.assertEqual(self.succeed("scan", "--csv", file).splitlines()[:3], ["index,sum", "0,-1", "1,19"])
        lows = [min(values[:i + 1]) for i in range(len(values))]
        self.assertEqual([float(line) for line in self.succeed("scan", "--op", "min", file).split()], lows)

    def test_pipes(self):
        self.assertEqual(self.succeed("scan", "-", input=b"1 2 3\n4\n").split(), ["1", "3", "6", "10"])
        self.assertEqual(self.succeed("scan", "--op", "prod", "-", input=b"1 2 3\n4\n").split(), ["1", "2", "6", "24"])
        self.assertEqual(self.succeed("scan", "--op", "count", "-", input=b"0 7 0 1").split(), ["0", "1", "1", "2"])
        offsets, lengths = self.write("o.txt", b"0 2 2 5"), self.write("l.txt", b"2 0 3")
        for option, name in (("--offsets", offsets), ("--lengths", lengths)):
            self.assertEqual(self.succeed("scan", option, name, "-", input=b"1 2 3 4 5").split(), ["1", "3", "3", "7", "12"])
            self.assertEqual(self.succeed("scan", option, name, "--exclusive", "-", input=b"1 2 3 4 5").split(), ["0", "1", "0", "3", "7"])
        self.assertIn("l.txt", self.refuse("scan", "--offsets", lengths, "-", input=b"1 2 3 4 5"))
        self.assertIn("beyond", self.refuse("scan", "--offsets", offsets, "-", input=b"1 2 3"))
        self.assertIn("l.txt: they add up to 5, and there are 6 elements", self.refuse("scan", "--lengths", lengths, "-", input=b"1 2 3 4 5 6"))
        self.assertIn("before all elements", self.refuse("scan", "--combine", "a+b", "--identity", "5", "-", input=b"1 2"))
        self.assertIn("writes a .npy file", self.refuse("scan", "-o", "y.npz", "-", input=b"1 2"))
        self.assertEqual(self.json("scan", "--allow-empty", "-", input=b"")["values"], [])
        self.assertEqual(self.succeed("scan", "--nan", "skip", "-", input=b"1 nan 2").split(), ["1", "1", "3"])
        self.assertEqual(self.succeed("scan", "--float32", "-", input=b"16777216 1 1").split(), ["16777216", "16777216", "16777218"])

    def test_integers_of_a_text(self):
        """Sums and extremes of a text's integers are those of sum and max, which are exact, in scans, along axes and in segments."""
        odd = 2 ** 53 + 1
        text = b"%d 2" % odd
        self.assertEqual(self.succeed("scan", "-", input=text).split(), [str(odd), str(odd + 2)])
        self.assertEqual(self.json("scan", "-", input=text)["type"], "int64")
        self.assertEqual(self.json("scan", "-", input=b"1 %d" % (2 ** 64 - 2))["values"][1]["value"], 2 ** 64 - 1)
        self.assertEqual(self.succeed("scan", "--op", "max", "-", input=text).split(), [str(odd)] * 2)
        self.assertEqual(self.succeed("sum", "--axis", "0", "-", input=text.replace(b" ", b"\n")).split(), [str(odd + 2)])
        self.assertEqual(self.succeed("max", "--axis", "1", "-", input=text).split(), [str(odd)])
        offsets = self.write("o.txt", b"0 2 3")
        self.assertEqual(self.succeed("max", "--offsets", offsets, "-", input=b"%d 1 1" % odd).split(), [str(odd), "1"])
        self.assertIn("int64", self.refuse("scan", "-", input=b"%d 1" % (2 ** 63 - 1), code=1))
        # Beside fractions they are float64, or refused.
        self.assertEqual(self.succeed("scan", "-", input=b"0 0.5 -0 4").split(), ["0", "0.5", "0.5", "4.5"])
        for command in (["scan"], ["sum", "--offsets", offsets], ["scan", "--op", "max"]):
            self.assertIn("number 1, from 0 on, is -%d, which has no exact float64" % odd,
                          self.refuse(*command, "-", input=b"0.5 -%d" % odd))
        self.assertIn("the number in row 1, column 0, from 0 on, is -%d, which has no exact float64" % odd,
                      self.refuse("sum", "--axis", "0", "-", input=b"0.5 1\n-%d 7" % odd))
        self.assertIn("no exact uint64", self.refuse("scan", "-", input=b"-1 %d" % (2 ** 64 - 1)))

    @unittest.skipIf(numpy is None, "no numpy")
    def test_files(self):
        random = numpy.random.default_rng(4)
        x = random.integers(-1000, 1000, (5, 6, 70)).astype(numpy.int32)
        numpy.save(self.path("x.npy"), x)
        numpy.save(self.path("f.npy"), numpy.asfortranarray(x))
        for file in "x.npy", "f.npy":
            for axis in 0, 1, 2, -1:
                self.succeed("scan", "--axis", str(axis), file, "-o", "y.npy")
                y = numpy.load(self.path("y.npy"))
                self.assertEqual(y.dtype, numpy.int64)
                numpy.testing.assert_array_equal(y, informative(x.cumsum(axis=axis)))
            self.succeed("scan", file, "-o", "y.npy")
            numpy.testing.assert_array_equal(numpy.load(self.path("y.npy")), x.cumsum().reshape(x.shape))
            self.succeed("scan", "--op", "max", "--axis", "1", file, "-o", "y.npy")
            y = numpy.load(self.path("y.npy"))
            self.assertEqual(y.dtype, numpy.int32)
            numpy.testing.assert_array_equal(y, numpy.maximum.accumulate(x, axis=1))
        self.succeed("scan", "--combine", "gcd(a, b)", "x.npy", "-o", "y.npy")
        numpy.testing.assert_array_equal(numpy.load(self.path("y.npy")), numpy.gcd.accumulate(x.ravel().astype(numpy.int64)).reshape(x.shape))
        self.succeed("scan", "--combine", "a + b", "--identity", "5", "--exclusive", "x.npy", "-o", "y.npy")
        self.assertEqual(numpy.load(self.path("y.npy")).ravel()[:2].tolist(), [5, int(x.ravel()[0])])

    def test_refusals(self):
        _, file = self.numbers()
        self.assertIn("there is no axis 1", self.refuse("scan", "--axis", "1", file))
        self.assertIn("one file", self.refuse("scan", file, file))
        self.assertIn("leave out --axis", self.refuse("scan", "--axis", "0", "--offsets", file, file))
        self.assertIn("say the same", self.refuse("scan", "--lengths", file, "--offsets", file, file))
        self.assertIn("--op is sum", self.refuse("scan", "--op", "mean", file))
        self.assertIn("--combine", self.refuse("scan", "--op", "max", "--combine", "a + b", file))
        self.assertIn("--identity is the first result of --combine", self.refuse("scan", "--identity", "0", file))
        self.assertIn("extremes have none", self.refuse("scan", "--exclusive", "--op", "max", file))
        self.assertIn("identity", self.refuse("scan", "--exclusive", "--combine", "a + b", file))
        self.assertIn("--json", self.refuse("scan", "--json", "-o", "y.npy", file))
        self.assertIn("--float32", self.refuse("scan", "--float32", "--op", "prod", file))
        big = self.write("big.npy", npy(header("'<i8'", "(3,)"), struct.pack("<3q", 2 ** 62, 1, 2 ** 62)))
        self.assertIn("at index 2", self.refuse("scan", big, "-o", "y.npy", code=1))
        self.assertEqual(self.succeed("scan", "--exclusive", big).split(), ["0", str(2 ** 62), str(2 ** 62 + 1)])


if __name__ == "__main__":
    unittest.main()
