"""Reductions along axes on the command line: values beside numpy's, files for numpy, and refusals."""
import math
import struct
import unittest

from support.informative import informative
from support.program import Case, header, npy

try:
    import numpy
except ImportError:
    numpy = None


class Axes(Case):
    def matrix(self):
        values = [0.1 * i - 3 for i in range(12)]
        return values, self.write("x.npy", npy(header("'<f8'", "(3, 4)"), struct.pack("<12d", *values)))

    def test_values(self):
        values, file = self.matrix()
        columns = [math.fsum(values[i::4]) for i in range(4)]
        rows = [math.fsum(values[4 * i:4 * i + 4]) for i in range(3)]
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "0", file).split()], columns)
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "-1", file).split()], rows)
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "0,1", file).split()], [math.fsum(values)])
        self.assertEqual([int(line) for line in self.succeed("argmax", "--axis", "1", file).split()], [3, 3, 3])
        self.assertEqual([float(line) for line in self.succeed("max", "--axis", "0", file).split()], values[8:])
        found = self.json("mean", "--axis", "1", "--keepdims", file)
        self.assertEqual((found["shape"], found["type"], found["axis"]), ([3, 1], "float64", [1]))
        self.assertEqual([value["value"] for value in found["values"]], [row / 4 for row in rows])
        self.assertEqual(self.succeed("sum", "--axis", "1", "--csv", file).splitlines()[:2], ["index,sum", "0,%r" % rows[0]])

    @unittest.skipIf(numpy is None, "no numpy")
    def test_files(self):
        random = numpy.random.default_rng(4)
        x = random.integers(-1000, 1000, (5, 6, 7)).astype(numpy.int32)
        numpy.save(self.path("x.npy"), x)
        numpy.save(self.path("f.npy"), numpy.asfortranarray(x))
        for file in "x.npy", "f.npy":
            for axes in (0,), (1,), (2,), (0, 2), (0, 1, 2):
                self.succeed("sum", "--axis", ",".join(map(str, axes)), file, "-o", "y.npy")
                y = numpy.load(self.path("y.npy"))
                self.assertEqual(y.dtype, numpy.int64)
                numpy.testing.assert_array_equal(y, informative(x.sum(axis=axes)))
            self.succeed("argmin", "--axis", "1", file, "-o", "y.npy")
            numpy.testing.assert_array_equal(numpy.load(self.path("y.npy")), x.argmin(axis=1))
            self.succeed("var", "--axis", "0", file, "-o", "y.npy")
            numpy.testing.assert_allclose(numpy.load(self.path("y.npy")), x.var(axis=0), rtol=1e-13)
        numpy.save(self.path("h.npy"), x.astype(numpy.float16))
        self.succeed("max", "--axis", "0", "h.npy", "-o", "y.npy")
        y = numpy.load(self.path("y.npy"))
        self.assertEqual(y.dtype, numpy.float16)
        numpy.testing.assert_array_equal(y, x.max(axis=0))

    def test_products_and_operators(self):
        numbers = list(range(1, 13))
        file = self.write("n.npy", npy(header("'<i4'", "(3, 4)"), struct.pack("<12i", *numbers)))
        columns = [math.prod(numbers[i::4]) for i in range(4)]
        self.assertEqual([int(line) for line in self.succeed("prod", "--axis", "0", file).split()], columns)
        self.assertEqual(self.json("prod", "--axis", "1", "--keepdims", file)["shape"], [3, 1])
        rows = [math.gcd(*numbers[i:i + 4]) for i in (0, 4, 8)]
        gcd = "reduce", "--combine", "gcd(a, b)", "--axis", "1", file
        self.assertEqual([int(line) for line in self.succeed(*gcd).split()], rows)
        self.assertEqual(self.succeed(*gcd, "--csv").splitlines()[:2], ["index,value", "0,%d" % rows[0]])
        self.assertEqual(self.json(*gcd)["values"][2]["value"], rows[2])
        place = "reduce", "--map", "(x % 5, i)", "--combine", "b[0] > a[0] ? b : a", "--axis", "0", file
        where = []
        for i in range(4):
            where.append(max(((numbers[k] % 5, -k) for k in range(i, 12, 4))))
        self.assertEqual(self.succeed(*place, "--plain").splitlines(), ["%d\t%d" % (most, -at) for most, at in where])
        self.assertIn("--finish", self.refuse(*place, "-o", "y.npy"))
        found = self.succeed(*place, "--finish", "a[1]").split()
        self.assertEqual([int(line) for line in found], [-at for _, at in where])
        self.assertIn("--check", self.refuse(*gcd, "--check"))
        self.assertIn("--exact", self.refuse("prod", "--exact", "--axis", "0", file))

    def test_lines_of_a_text_are_rows(self):
        self.write("m.txt", b"1 2 3\n4 5 6\n")
        self.write("m.csv", b"x,y,z\n1,2.5,3\n\n4,5,-6\n")
        self.assertEqual(self.succeed("sum", "--axis", "0", "m.txt").split(), ["5", "7", "9"])
        self.assertEqual(self.succeed("sum", "--axis", "1", "m.csv").split(), ["6.5", "3"])
        self.assertEqual(self.json("sum", "--axis", "1", "--keepdims", "m.txt")["shape"], [2, 1])
        self.assertEqual(self.json("sum", "--axis", "0", "m.txt")["type"], "int64")
        self.assertEqual(self.json("max", "--axis", "0", "-", input=b"1\n2\n18446744073709551615\n")["values"][0]["value"], 2 ** 64 - 1)
        self.assertEqual(self.succeed("mean", "--axis", "0,1", "-", input=b"1\t2\n3\t4\n").split(), ["2.5"])
        self.assertEqual(self.succeed("sum", "--axis", "1", "--map", "x/y", "x=m.csv", "y=m.txt").split(), ["3.25", "1"])
        self.assertEqual(self.succeed("sum", "--axis", "0", "--column", "y", "m.csv").split(), ["7.5"])
        self.assertEqual(self.succeed("scan", "--axis", "0", "--plain", "m.txt").split(), ["1", "2", "3", "5", "7", "9"])
        self.assertEqual(self.succeed("sum", "--tile", "1x3", "m.txt").split(), ["6", "15"])
        self.assertEqual(self.succeed("sum", "m.txt").split(), ["21"])  # as before: all numbers
        self.assertEqual(self.succeed("sum", "--axis", "1", "--header", "m.csv").split(), ["6.5", "3"])
        self.assertEqual(self.succeed("sum", "--axis", "1", "--no-header", "m.txt").split(), ["6", "15"])
        self.assertEqual(self.succeed("sum", "--axis", "1", "--column", "z,x", "m.csv").split(), ["4", "-2"])
        for line in (b"1,000;2,000", b"(1+2j);3j", b"1.2.3;4.5.6", b"2024-01-01;x"):
            self.assertIn("is no number, and hardly a name", self.refuse("sum", "--axis", "1", "--sep", ";", "-", input=line + b"\n3;4\n"))
        self.assertEqual(self.succeed("sum", "--axis", "1", "--header", "-", input=b"1st,2nd\n3,4\n").split(), ["7"])
        self.assertIn("'int64(x)'", self.refuse("sum", "--axis", "1", "--map", "popcount(x)", "m.txt"))
        self.assertEqual(self.succeed("sum", "--axis", "1", "--map", "popcount(int64(x))", "m.txt").split(), ["4", "5"])
        many = [[(7 * i * i + j) % 1000 for j in range(9)] for i in range(5000)]
        self.write("many.txt", "".join(" ".join(map(str, row)) + "\n" for row in many).encode())
        self.assertEqual(self.succeed("sum", "--axis", "1", "many.txt").split(), [str(sum(row)) for row in many])
        self.assertEqual(self.succeed("max", "--axis", "0", "many.txt").split(), [str(max(column)) for column in zip(*many)])
        self.assertIn("m.txt:2:4: a line of 2 fields", self.refuse("sum", "--axis", "0", self.write("m.txt", b"1 2 3\n4 5\n")))
        self.assertIn("line 2: 'Rome' is no number", self.refuse("sum", "--axis", "0", self.write("w.csv", b"a,b\nRome,3\n")))
        self.assertIn("column '2' has 1 missing number", self.refuse("sum", "--axis", "0", self.write("n.csv", b"1,NA\n2,3\n")))

    def test_formulas(self):
        values, file = self.matrix()
        center = self.write("c.npy", npy(header("'<f8'", "(4,)"), struct.pack("<4d", 1, 2, 3, 4)))
        expected = [math.fsum((values[4 * i + k] - k - 1)**2 for k in range(4)) for i in range(3)]
        found = self.succeed("sum", "--map", "(x - c)^2", "--axis", "1", file, "c=" + center)
        self.assertEqual([float(line) for line in found.split()], expected)
        found = self.json("argmax", "--map", "abs(x)", "--axis", "0,1", "--keepdims", file)
        self.assertEqual((found["shape"], found["values"][0]["value"]), ([1, 1], 0))
        self.assertIn("--map", self.refuse("sum", "--map", "x", "--tile", "2x2", file))

    def test_ddof(self):
        self.write("d.npy", npy(header("'<f8'", "(2, 3)"), struct.pack("<6d", 1, 2, 4, 10, 20, 60)))
        self.assertEqual(self.succeed("var", "--axis", "1", "--ddof", "1", "d.npy").split(), ["2.3333333333333335", "700"])
        self.assertEqual(self.succeed("var", "--axis", "0", "--ddof", "1", "--map", "2*x", "d.npy").split(), ["162", "648", "6272"])
        self.assertIn("700", self.succeed("stats", "--axis", "1", "--ddof", "1", "--csv", "d.npy"))
        self.assertIn("needs more than 2", self.refuse("std", "--axis", "0", "--ddof", "2", "d.npy", code=1))
        self.assertIn("--tile", self.refuse("var", "--tile", "2x3", "--ddof", "1", "d.npy"))

    def test_rows_of_statistics(self):
        values, file = self.matrix()
        text = self.succeed("stats", "--axis", "0", "--csv", file).splitlines()
        self.assertEqual(text[0], "index,count,min,max,sum,mean,var")
        column = values[1::4]
        self.assertEqual(text[2].split(",")[:5], ["1", "3", repr(column[0]), repr(column[2]), repr(math.fsum(column))])
        found = self.json("stats", "--axis", "-1", "--only", "count,nan,norm", "--map", "x > 0 ? 0/(x - x) : x", file)
        self.assertEqual([value["value"] for value in found["values"]["nan"]], [sum(x > 0 for x in values[4 * i:4 * i + 4]) for i in range(3)])
        self.assertEqual([value["value"] for value in found["values"]["count"]], [4, 4, 4])
        self.assertEqual(len(self.succeed("stats", "--axis", "0,1", file).splitlines()), 2)
        self.assertIn("--only", self.refuse("stats", "--axis", "0", file, "-o", "y.npy"))
        self.succeed("stats", "--axis", "0", "--only", "mean", file, "-o", "y.npy")
        self.assertIn("'any'", self.refuse("stats", "--axis", "0", "--only", "any,all", file))

    def test_refusals(self):
        _, file = self.matrix()
        self.assertIn("there is no axis 2", self.refuse("sum", "--axis", "2", file))
        self.assertIn("named twice", self.refuse("sum", "--axis", "0,-2", file))
        self.assertIn("one file", self.refuse("sum", "--axis", "0", file, file))
        self.assertIn("--keepdims goes with --axis", self.refuse("sum", "--keepdims", file))
        self.assertIn("--out goes with --axis", self.refuse("mean", "-o", "y.npy", file))
        self.assertIn("one device", self.refuse("sum", "--axis", "0", "--device", "all", file))
        self.assertIn("--partial", self.refuse("sum", "--axis", "0", "--partial", "p", file))
        self.assertIn("--json", self.refuse("sum", "--axis", "0", "--json", "-o", "y.npy", file))


if __name__ == "__main__":
    unittest.main()
