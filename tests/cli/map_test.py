"""Formulas on the command line: --map in front of every reduction, and operators of one's own."""
import functools
import math
import struct
import unittest

from support.program import Case, header, npy


class Map(Case):
    def floats(self, name, values):
        return self.array(name, values)

    def integers(self, name, values):
        return self.write(name, npy(header("'<i4'", "(%d,)" % len(values)), struct.pack("<%di" % len(values), *values)))

    def setUp(self):
        super().setUp()
        self.x = [0.1 * i - 2 for i in range(50)]
        self.y = [3.0 / (i + 1) for i in range(50)]
        self.floats("x.npy", self.x)
        self.floats("y.npy", self.y)

    def number(self, *arguments):
        return float(self.succeed(*arguments))

    def test_reductions_of_formulas(self):
        products = [a * b for a, b in zip(self.x, self.y)]
        self.assertEqual(self.number("sum", "--map", "x*y", "x.npy", "y.npy"), math.fsum(products))
        self.assertEqual(self.number("sum", "--map", "w*v", "w=x.npy", "v=y.npy"), math.fsum(products))
        self.assertEqual(self.number("sum", "--map", "x*h", "--param", "h=0.5", "x.npy"), math.fsum(0.5 * a for a in self.x))
        self.assertEqual(self.number("max", "--map", "abs(x)", "x.npy"), max(map(abs, self.x)))
        self.assertEqual(self.number("argmax", "--map", "abs(x)", "x.npy"), max(range(50), key=lambda i: abs(self.x[i])))
        low, high = sorted(a * a for a in self.x)[24:26]
        self.assertEqual(self.number("median", "--map", "x*x", "x.npy"), (low + high) / 2)
        stats = self.json("stats", "--map", "x - y", "x.npy", "y.npy")
        self.assertEqual(stats["files"][0]["statistics"]["sum"]["value"], math.fsum(a - b for a, b in zip(self.x, self.y)))

    def test_histograms_of_formulas(self):
        lengths = [math.sqrt(a * a + b * b) for a, b in zip(self.x, self.y)]
        found = self.json("hist", "--map", "sqrt(x*x + y*y)", "--bins", "4", "--range", "0", "4", "x.npy", "y.npy")
        counts = [sum(k <= v < k + 1 or (k == 3 and v == 4) for v in lengths) for k in range(4)]
        self.assertEqual(found["channels"][0]["counts"], counts)

    def test_columns_of_a_table(self):
        self.write("sales.csv", b"city,price,amount\nA,1.5,2\nB,2.25,3\nA,4,1\n")
        self.assertEqual(self.number("sum", "--map", "price*amount", "sales.csv"), 1.5 * 2 + 2.25 * 3 + 4)
        self.assertIn("cost", self.refuse("sum", "--map", "cost*amount", "sales.csv"))
        self.write("xy.csv", b"x,y\n1.5,2\n4,1\n")
        self.assertEqual(self.number("sum", "--map", "x*y", "xy.csv"), 7)
        self.write("gaps.csv", b"price,amount\n1.5,2\n,3\n4,1\n")
        self.assertIn("1 missing in price", self.refuse("sum", "--map", "price*amount", "gaps.csv"))

    def test_numbers_of_a_text(self):
        """Whether some are whole, and where blocks of the text end, is nothing to a formula: all are float64, or all int64."""
        many = 200_000  # several blocks
        self.write("whole.txt", b"3\n" * many)
        self.write("mixed.txt", b"3\n" * many + b"5.5\n" * many + b"-3\n" * many)
        self.assertEqual(self.number("sum", "--map", "x/2", "whole.txt"), 1.5 * many)
        self.assertEqual(self.number("sum", "--map", "x/2", "mixed.txt"), 2.75 * many)
        self.assertEqual(self.number("max", "--map", "-x/2", "mixed.txt"), 1.5)
        counts = self.json("hist", "--bin", "x/2 + 2", "--bins", "5", "mixed.txt")["channels"][0]["counts"]
        self.assertEqual(counts, [many, 0, 0, many, many])
        # A formula that takes integers only takes them as int64.
        self.assertEqual(self.number("sum", "--map", "popcount(x) + (x & 1)", "whole.txt"), 3 * many)
        self.assertIn("no exact int64", self.refuse("sum", "--map", "x & 1", "mixed.txt"))
        counts = self.json("hist", "--bin", "clz(x)", "--bins", "65", "whole.txt")["channels"][0]["counts"]
        self.assertEqual(counts[62], many)
        self.assertIn("no exact int64", self.refuse("hist", "--bin", "clz(x)", "--bins", "65", "mixed.txt"))
        odd = b"1 %d" % (2 ** 53 + 1)
        for command in (["sum", "--map", "x*2"], ["reduce", "--combine", "max(a, b)"], ["scan", "--combine", "max(a, b)"]):
            self.assertIn("is 9007199254740993, which has no exact float64", self.refuse(*command, "-", input=odd))
        self.assertEqual(float(self.succeed("reduce", "--combine", "a/b", "-", input=b"3 4 5")), 3 / 4 / 5)
        self.assertIn("--map 'int64(x)'", self.refuse("reduce", "--combine", "gcd(a, b)", "-", input=b"12 18"))
        self.assertNotIn("int64(x)", self.refuse("reduce", "--combine", "a + c", "-", input=b"12 18"))
        self.assertEqual(self.succeed("reduce", "--map", "int64(x)", "--combine", "gcd(a, b)", "-", input=b"12 18").split(), ["6"])

    def test_names_that_are_none(self):
        self.assertIn("the formula does not use 'x', which x.npy is: it has X", self.refuse("sum", "--map", "X", "x.npy"))
        self.assertIn("'h' in the formula is none of its inputs (x): give a number (--param h=0.5) or a file (h=FILE)",
                      self.refuse("sum", "--map", "x/h", "x.npy"))
        self.assertIn("save it to a file", self.refuse("sum", "--map", "price*amount", "-", input=b"price,amount\n1,2\n"))
        self.assertIn("found '*'; a power is x^2", self.refuse("sum", "--map", "x**2", "x.npy"))
        self.assertIn("found '/'; a quotient rounded down is floor(x/y)", self.refuse("sum", "--map", "x//2", "x.npy"))
        self.assertTrue(self.refuse("sum", "--map", "x*", "x.npy").startswith("formula, column 3: expected a number, a name or '(', found the end\n"))

    def test_options_of_formulas(self):
        for command in ("sum", "median", "stats", "max", "prod"):
            for option in (["--param", "h=1"], ["--native"]):
                self.assertIn("--param and --native are for the formula of --map", self.refuse(command, *option, "x.npy"))

    def test_parameters_that_no_formula_uses(self):
        for command in (["sum", "--map", "2*x"], ["hist", "--map", "x*2"], ["hist", "--bin", "x", "--bins", "3"], ["reduce", "--combine", "a + b"],
                        ["reduce", "--map", "x", "--combine", "a + b", "--finish", "a"]):
            self.assertIn("--param h=1: the formula does not use 'h'", self.refuse(*command, "--param", "h=1", "x.npy"))

    def test_rows_and_columns(self):
        """Arrays of different shapes go together as numpy broadcasts them, in each command that has formulas."""
        def write(name, shape, values):
            self.write(name, npy(header("'<f8'", shape), struct.pack("<%dd" % len(values), *values)))
        matrix, row, column = self.x[:12], self.y[:4], self.y[4:7]
        write("m.npy", "(3, 4)", matrix), write("r.npy", "(4,)", row), write("c.npy", "(3, 1)", column), write("s.npy", "()", [0.5])
        values = [(matrix[4 * i + k] * row[k] + column[i]) * 0.5 for i in range(3) for k in range(4)]
        whole = ("--map", "(m*r + c)*s", "m=m.npy", "r=r.npy", "c=c.npy", "s=s.npy")
        self.assertEqual(self.number("sum", *whole), math.fsum(values))
        self.assertEqual(self.number("argmax", *whole), values.index(max(values)))
        self.assertEqual(self.number("median", *whole), sum(sorted(values)[5:7]) / 2)
        self.assertEqual(self.number("reduce", "--combine", "max(a, b)", *whole), max(values))
        self.assertEqual(sum(self.json("hist", "--bins", "3", *whole)["channels"][0]["counts"]), 12)
        self.assertEqual(self.number("sum", "--map", "x*y", "c.npy", "r.npy"), math.fsum(a * b for a in column for b in row))
        self.assertIn("'y' has the shape (4), which does not go together", self.refuse("sum", "--map", "x*y", "x.npy", "r.npy"))
        self.assertIn("does not go together", self.refuse("reduce", "--map", "x*y", "--combine", "a + b", "x.npy", "r.npy"))

    def test_columns_and_files_named_like_constants(self):
        self.write("iv.csv", b"i,v,e\n5,1,1\n6,2,1\n7,3,2\n")
        self.assertEqual(self.number("sum", "--map", "i*v", "iv.csv"), 38)
        self.assertEqual(self.number("sum", "--map", "i*2", "iv.csv"), 36)
        self.assertEqual(self.number("sum", "--map", "v*e + pi*0", "iv.csv"), 9)
        self.assertEqual(self.succeed("sum", "--map", "i*v", "--by", "e", "iv.csv"), "e\ti*v\n1\t17\n2\t21\n")
        self.assertEqual(self.number("sum", "--map", "i*v", "--param", "i=2", "iv.csv"), 12)
        self.write("ev.csv", b"w,v\n5,1\n6,2\n")
        self.assertEqual(self.number("sum", "--map", "i*v", "ev.csv"), 2, "without such a column the index")
        self.write("xk.csv", b"x,k\n1,a\n2,b\n4,a\n")
        self.assertEqual(self.number("sum", "--map", "x*x", "xk.csv"), 21)
        self.assertEqual(self.succeed("sum", "--map", "x*x", "--by", "k", "xk.csv"), "k\tx*x\na\t17\nb\t4\n")
        self.write("a.txt", b"3\n4\n")
        self.write("b.txt", b"10\n20\n")
        self.assertEqual(self.number("sum", "--map", "i*v", "i=a.txt", "v=b.txt"), 110)
        self.write("hd.csv", b"k,2020,v\na,1,2\nb,3,5\n")
        self.assertEqual(self.succeed("sum", "--map", "v*2", "--by", "1", "--header", "hd.csv"), "k\tv*2\na\t4\nb\t10\n")

    def test_operators(self):
        numbers = [12, 18, 30, 42, 6]
        self.integers("n.npy", numbers)
        self.assertEqual(self.succeed("reduce", "--combine", "gcd(a, b)", "n.npy"), "6\n")
        modulus = 1000003
        self.assertEqual(int(self.succeed("reduce", "--combine", "a*b % 1000003", "n.npy")), functools.reduce(lambda a, b: a * b % modulus, numbers))
        found = self.succeed("reduce", "--map", "(abs(x), i)", "--combine", "b[0] > a[0] ? b : a", "x.npy").split()
        best = max(range(50), key=lambda i: (abs(self.x[i]), -i))
        self.assertEqual([float(found[0]), int(found[1])], [abs(self.x[best]), best])
        weights = self.succeed("reduce", "--map", "(x, x*y)", "--combine", "(max(a[0], b[0]), min(a[1], b[1]))", "--finish", "a[0] - a[1]",
                               "x.npy", "y.npy")
        self.assertEqual(float(weights), max(self.x) - min(a * b for a, b in zip(self.x, self.y)))
        self.integers("none.npy", [])
        self.assertEqual(self.succeed("reduce", "--combine", "a + b", "--identity", "7", "none.npy"), "7\n")
        self.assertEqual(self.succeed("reduce", "--combine", "gcd(a, b)", "--check", "n.npy"), "6\n")
        result = self.run_program("reduce", "--combine", "a - b", "--check", "n.npy")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"not associative: of the elements 12, 18, 30", result.stderr)

    def test_refusals(self):
        self.assertIn("'q'", self.refuse("sum", "--map", "x*q", "x.npy"))
        self.assertIn("different lengths", self.refuse("sum", "--map", "x*y", "x.npy", self.write("z.txt", b"1\n2\n")))
        self.assertIn("does not use 'y'", self.refuse("sum", "--map", "x+1", "x.npy", "y.npy"))
        self.assertIn("^", self.refuse("sum", "--map", "x*(y", "x.npy", "y.npy"))
        self.assertIn("--param h", self.refuse("sum", "--map", "x*h", "--param", "h", "x.npy"))
        self.assertIn("--nodata", self.refuse("mean", "--map", "x*2", "--nodata", "0", "x.npy"))
        self.assertIn("--combine", self.refuse("reduce", "x.npy"))
        self.assertIn("one file", self.refuse("reduce", "--combine", "a+b", "x.npy", "y.npy"))


if __name__ == "__main__":
    unittest.main()
