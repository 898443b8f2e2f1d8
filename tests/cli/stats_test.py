"""samesum stats and the commands for single statistics. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import fractions
import json
import math
import os
import pty
import struct
import sys
import unittest

from support.program import Case, npy


if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


class Statistics(Case):
    def said(self, *arguments, code=0, **options):
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.decode()

    def lines(self, *arguments):
        return dict(line.split("\t") for line in self.said(*arguments).splitlines())

    def test_a_line_for_each_in_a_pipe(self):
        self.array("x.npy", [4.0, 1.0, 1.0, 8.5])
        found = self.lines("stats", "x.npy")
        self.assertEqual(list(found), ["count", "nan", "min", "argmin", "max", "argmax", "sum", "mean", "var", "std"])
        self.assertEqual(found["argmin"], "1")
        self.assertEqual(found["max"], "8.5")
        self.assertEqual(found["mean"], "3.625")
        self.assertEqual(float(found["var"]), 9.421875)
        self.assertEqual(self.lines("stats", "--ddof", "1", "--only", "var,norm", "x.npy"), {"var": "12.5625", "norm": "9.5"})

    def test_one_number(self):
        self.array("x.npy", [3.0, -0.5, 4.0], "f")
        for name, value in [("min", "-0.5"), ("argmax", "2"), ("mean", "2.1666666666666665"), ("prod", "-6"), ("norm", "5.024937810560445")]:
            self.assertEqual(self.said(name, "x.npy"), value + "\n")
        self.assertEqual(self.said("dot", "x.npy", "x.npy"), "25.25\n")

    def test_every_command_says_what_stats_says(self):
        values = [3.0, -0.0, 1e300, -7.25, 1e300, 0.0, -7.25, 1e-300, 5e-324]
        self.array("x.npy", values)
        exact = [fractions.Fraction(x) for x in values]
        mean = sum(exact) / len(exact)
        commands = ("min", "max", "argmin", "argmax", "mean", "var", "std", "norm", "prod")
        found = self.lines("stats", "--only", ",".join(commands + ("sum", "nonzero", "any", "all")), "x.npy")
        for name in commands:
            self.assertEqual(self.said(name, "x.npy"), found[name] + "\n", name)
        self.assertEqual((found["min"], found["argmin"], found["max"], found["argmax"]), ("-7.25", "3", "1e+300", "2"))
        self.assertEqual((float(found["mean"]), float(found["sum"])), (float(mean), float(sum(exact))))
        self.assertEqual((found["var"], found["prod"], found["nonzero"], found["any"], found["all"]), ("inf", "-0", "7", "1", "0"))
        self.array("y.npy", values[3:])
        small = [x for x in exact if abs(x) < 1e10]
        self.array("z.npy", [float(x) for x in small])
        for ddof in (0, 1, 3):
            mean = sum(small) / len(small)
            variance = sum((x - mean) ** 2 for x in small) / (len(small) - ddof)
            self.assertEqual(float(self.said("var", "--ddof", str(ddof), "z.npy")), float(variance))
            self.assertAlmostEqual(float(self.said("std", "--ddof", str(ddof), "z.npy")), math.sqrt(variance), delta=1e-15)
        self.said("norm", "--ddof", "1", "z.npy", code=2)
        self.said("mean", "--ddof", "1", "z.npy", code=2)

    def test_several_files(self):
        self.array("x.npy", [1.0, 2.0])
        self.array("y.npy", [4.0], "f")
        self.assertEqual(self.said("max", "x.npy", "y.npy"), "2\tx.npy\n4\ty.npy\n")
        self.assertEqual(self.said("stats", "--only", "min,sum", "x.npy", "y.npy"),
                         "min\t1\tx.npy\nsum\t3\tx.npy\nmin\t4\ty.npy\nsum\t4\ty.npy\n")

    def test_table_for_a_terminal(self):
        self.array("x.npy", [4.0, 1.0, math.nan, 8.5])
        parent, child = pty.openpty()
        result = self.run_program("stats", "x.npy", stdout=child, environment={"NO_COLOR": "1"})
        os.close(child)
        text = os.read(parent, 65536).decode().replace("\r\n", "\n")
        os.close(parent)
        self.assertEqual(result.returncode, 0)
        rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
        self.assertIn("x.npy", rows)
        self.assertNotIn("\t", text)
        self.assertIn("1 NaN among the elements", text)
        at = {rows[name].index(rows[name].split()[1], len(name) + 2) for name in ("count", "nan", "min", "argmax", "std")}
        self.assertEqual(len(at), 1, text)
        self.assertIn("the index of the least element", rows["argmin"])

    def test_json(self):
        self.array("x.npy", [4.0, 1.0, 1.0, 8.5])
        whole = json.loads(self.said("stats", "--json", "--ddof", "1", "--nodata", "8.5", "--only", "count,argmin,mean,var", "x.npy"))
        self.assertEqual((whole["ddof"], whole["nan_policy"]), (1, "propagate"))
        file = whole["files"][0]
        self.assertEqual((file["file"], file["count"], file["nan_count"], file["missing"]), ("x.npy", 3, 0, 1))
        values = {name: entry["value"] for name, entry in file["statistics"].items()}
        self.assertEqual(values, {"count": 3, "argmin": 1, "mean": 2.0, "var": 3.0})
        pair = json.loads(self.said("dot", "--json", "x.npy", "x.npy"))
        self.assertEqual((pair["value"], pair["count"], pair["nan_count"]), (90.25, 4, 0))
        self.assertEqual(self.said("mean", "--hex", "x.npy"), "0x1.dp+1\n")

    def test_ties_and_nans(self):
        for kind in "df":
            values = [2.0, -0.0, 5.0, 0.0, -0.0, 5.0]
            for place in range(len(values) + 1):
                self.array("x.npy", values[:place] + [math.nan] + values[place:], kind)
                self.assertEqual(self.said("argmin", "x.npy"), "%d\n" % place)
                self.assertEqual(self.said("argmax", "x.npy"), "%d\n" % place)
                self.assertEqual(self.said("max", "x.npy"), "nan\n")
                self.assertEqual(self.said("argmin", "--nan", "skip", "x.npy"), "%d\n" % (1 + (place <= 1)))
                self.assertEqual(self.said("argmax", "--nan", "skip", "x.npy"), "%d\n" % (2 + (place <= 2)))
                self.assertEqual(self.said("min", "--nan", "skip", "x.npy"), "-0\n")

    def test_nan_and_nodata(self):
        self.array("x.npy", [-9999.0, 2.0, math.nan, -9999.0, 1.0])
        self.assertEqual(self.said("argmin", "x.npy"), "2\n")
        found = self.lines("stats", "--nan", "skip", "--nodata", "-9999", "x.npy")
        self.assertEqual((found["count"], found["nan"], found["argmin"], found["argmax"], found["mean"]), ("3", "1", "4", "1", "1.5"))
        self.assertEqual(self.said("prod", "--nan", "skip", "--nodata", "-9999", "x.npy"), "2\n")
        self.said("min", "--nodata", "none", "x.npy", code=2)
        # Runs of both kinds with borders anywhere in a word of marks, and more than fit a part.
        values = [0 if i % 131 < 40 or 300 <= i < 500 else i % 251 for i in range(1000)]
        self.write("y.raw", bytes(values) + bytes(1 << 24) + bytes(values))
        kept = [x for x in values if x != 0]
        found = self.lines("stats", "--nodata", "0.0", "--dtype", "uint8", "y.raw")
        self.assertEqual((int(found["count"]), int(found["sum"])), (2 * len(kept), 2 * sum(kept)))
        self.assertEqual((int(found["argmin"]), int(found["argmax"])), (values.index(min(kept)), values.index(max(kept))))
        self.write("z.raw", bytes(1 << 24) + bytes([0, 7, 9, 0, 3]))
        found = self.lines("stats", "--only", "argmin,argmax,prod", "--nodata", "0", "--dtype", "uint8", "z.raw")
        self.assertEqual(found, {"argmin": str((1 << 24) + 4), "argmax": str((1 << 24) + 2), "prod": "189"})

    def test_no_answer(self):
        self.array("one.npy", [1.0])
        self.assertEqual(self.said("var", "--ddof", "1", "one.npy", code=1), "")
        whole = json.loads(self.said("stats", "--ddof", "1", "--json", "one.npy"))
        variance = whole["files"][0]["statistics"]["var"]
        self.assertIsNone(variance["value"])
        self.assertIn("more than 1 element", variance["reason"])

    def test_integers_stay_integers(self):
        self.write("x.raw", struct.pack("<3q", 2**62, -(2**62) - 1, 2))
        self.assertEqual(self.said("min", "--dtype", "int64", "x.raw"), "%d\n" % (-(2**62) - 1))
        self.assertEqual(self.said("max", "--nodata", str(2**62), "--dtype", "int64", "x.raw"), "2\n")
        self.assertIn("it is exactly %d" % (-(2**62) * (2**62 + 1) * 2), self.refuse("prod", "--dtype", "int64", "x.raw", code=1))

    def test_a_sum_without_an_answer_says_why(self):
        self.write("x.raw", struct.pack("<2q", 2**63 - 1, 2))
        self.assertEqual(self.said("sum", "--dtype", "int64", "x.raw"), "%d\n" % (2**63 + 1))
        self.write("x.raw", struct.pack("<3q", 2**63 - 1, 2**63 - 1, 2))
        exact = "it is exactly %d" % 2**64
        self.assertIn(exact, self.refuse("sum", "--dtype", "int64", "x.raw", code=1))
        result = self.run_program("stats", "--only", "count,sum,max", "--dtype", "int64", "x.raw")
        self.assertEqual((result.returncode, result.stdout), (1, b"count\t3\nsum\t-\nmax\t%d\n" % (2**63 - 1)))
        self.assertEqual(result.stderr.decode(), "x.raw: no sum: the sum does not fit into uint64: %s\n" % exact)
        whole = json.loads(self.said("stats", "--json", "--dtype", "int64", "x.raw"))["files"][0]["statistics"]["sum"]
        self.assertIsNone(whole["value"])
        self.assertIn(exact, whole["reason"])

    def test_products_stream(self):
        factorial = math.factorial(100)
        numbers = b"".join(b"%d\n" % i for i in range(1, 101))
        self.assertIn("it is exactly %d" % factorial, self.refuse("prod", "-", input=numbers, code=1))
        self.assertEqual(self.said("prod", "--exact", "-", input=numbers), "%d\n" % factorial)
        self.assertEqual(self.said("prod", "-", input=b"1 2 -3 9007199254740993\n"), "-54043195528445958\n")
        self.assertEqual(self.said("prod", "-", input=b"18446744073709551615 1\n"), "18446744073709551615\n")
        self.assertEqual(self.said("prod", "-", input=b"1 2.5 4\n"), "10\n")
        tree = [float(i) for i in range(1, 101)] + [1.0]
        while len(tree) > 1:
            tree = [math.prod(tree[i:i + 2]) for i in range(0, len(tree), 2)]
        self.assertEqual(float(self.said("prod", "-", input=numbers + b"1.0\n")), tree[0])
        self.assertEqual(self.said("prod", "--column", "b", "-", input=b"a,b\n1.5,3\n2,%d\n" % 2**60), "%d\n" % (3 * 2**60))
        self.write("x.raw", struct.pack("<3q", 2**32, 2**32, -7))
        self.assertEqual(self.said("prod", "--exact", "--dtype", "int64", "-", stdin=open(self.path("x.raw"), "rb")), "%d\n" % (-7 * 2**64))
        self.write("y.raw", struct.pack("<3q", 5, -9, 11))
        self.assertEqual(self.said("prod", "--exact", "--dtype", "int64", "x.raw", "y.raw"), "%d\tx.raw\n-495\ty.raw\n" % (-7 * 2**64))
        self.assertEqual(self.said("prod", "--nodata", "-9", "--dtype", "int64", "y.raw"), "55\n")
        whole = json.loads(self.said("prod", "--exact", "--json", "--dtype", "int64", "x.raw"))["files"][0]
        self.assertEqual((whole["value"], whole["type"]), (str(-7 * 2**64), "integer"))
        self.array("z.npy", [0.5, 8.0])
        self.assertEqual(self.said("prod", "z.npy"), "4\n")
        self.assertIn("z.npy: ", self.refuse("prod", "--exact", "z.npy"))
        self.assertIn("--hex", self.refuse("prod", "--exact", "--hex", "x.raw"))
        self.assertEqual(self.said("stats", "--only", "max,prod", "-", input=b"1.5 2 3\n"), "max\t3\nprod\t9\n")

    def test_products_have_a_limit(self):
        self.write("x.raw", struct.pack("<8000q", *[-(2**63)] * 8000))
        self.assertEqual(self.said("prod", "--exact", "--dtype", "int64", "x.raw"), "%d\n" % 2**(63 * 8000))
        self.write("y.raw", struct.pack("<17000q", *[-(2**63)] * 17000))
        self.assertIn("more than 1048576 bits", self.refuse("prod", "--exact", "--dtype", "int64", "y.raw", code=1))
        self.assertIn("more than 1048576 bits", self.refuse("prod", "--dtype", "int64", "y.raw", code=1))

    def test_float32(self):
        """Rounded once from the exact value: its double is the midpoint of two floats, and would be rounded to the wrong one."""
        tie, above, least = 1 + 2.0**-24, 1 + 2.0**-23, 2.0**-40
        cases = [("mean", [2 * tie, 2.0**-70], []), ("norm", [tie, least], []), ("std", [tie, -tie, least, -least], ["--ddof", "2"]),
                 ("var", [1, -1, 2.0**-12, -(2.0**-12), least, -least], ["--ddof", "4"]), ("sum", [tie, 2.0**-80], [])]
        for name, values, options in cases:
            self.array("x.npy", values)
            self.assertEqual(float.fromhex(self.said(name, "x.npy", "--hex", *options)), tie, name)
            self.assertEqual(float.fromhex(self.said(name, "x.npy", "--hex", "--float32", *options)), above, name)
            found = self.lines("stats", "x.npy", "--hex", "--float32", "--only", name + ",max", *options)
            self.assertEqual((float.fromhex(found[name]), float.fromhex(found["max"])), (above, max(values)), name)
            whole = json.loads(self.said("stats", "--only", name, "--json", "--float32", "x.npy", *options))["files"][0]["statistics"][name]
            self.assertEqual((whole["value"], whole["type"], whole["bits"]), (above, "float32", "0x3f800001"))
        self.array("x.npy", [tie, least])
        self.array("y.npy", [1.0, least])
        self.assertEqual(float.fromhex(self.said("dot", "x.npy", "y.npy", "--hex")), tie)
        self.assertEqual(float.fromhex(self.said("dot", "x.npy", "y.npy", "--hex", "--float32")), above)
        self.write("i.raw", struct.pack("<2q", 2**24, 1))
        self.assertEqual(self.said("dot", "--dtype", "int64", "--float32", "i.raw", "i.raw"), "2.8147498e+14\n")
        self.assertEqual(self.said("sum", "-", "--float32", "--column", "a,b", "--plain", input=b"a,b\n16777216,1\n1,2\n"), "16777216\n3\n")

    def test_sums_of_columns(self):
        self.write("t.csv", b"a,b\n0.1,1\nNA,nan\n0.2,2\n")
        found, notes = self.noted("sum", "--column", "a,b", "-v", "--device", "cpu", "t.csv", "--nan", "skip")
        self.assertEqual(found, "0.30000000000000004\ta\n3\tb\n")
        self.assertIn("t.csv, a: 2 numbers, 0 NaN, 1 missing\nt.csv, b: 3 numbers, 1 NaN, 0 missing\n", notes)
        self.assertIn("cpu", notes.splitlines()[-1])
        self.assertEqual(self.said("sum", "--column", "a,b", "--float32", "t.csv", "--nan", "skip"), "0.3\ta\n3\tb\n")
        self.assertEqual(self.said("sum", "--column", "a,b", "--float32", "t.csv", "t.csv", "--nan", "skip").splitlines(),
                         ["0.3\ta\tt.csv", "3\tb\tt.csv"] * 2)
        self.assertEqual(self.said("sum", "--column", "a,b", "--csv", "--float32", "t.csv", "t.csv", "--nan", "skip").splitlines(),
                         ["file,column,sum", *["t.csv,a,0.3", "t.csv,b,3"] * 2])
        self.assertEqual([len(file["columns"]) for file in json.loads(self.said("stats", "--json", "--column", "a,b", "t.csv", "t.csv"))["files"]], [2, 2])
        message = self.refuse("sum", "--column", "a,b", "--partial", "p.sum", "t.csv")
        self.assertIn("name one column", message)
        self.assertFalse(os.path.exists(self.path("p.sum")))
        whole = json.loads(self.said("sum", "--column", "a,b", "--nodata", "2", "--json", "t.csv"))["files"][0]["columns"]
        self.assertEqual([(column["count"], column["missing"]) for column in whole], [(2, 1), (2, 1)])

    def test_products_of_several_files(self):
        self.array("x.npy", [2.0, -1.0, 4.0])
        self.array("y.npy", [0.5])
        self.assertEqual(self.said("prod", "--total", "x.npy", "y.npy"), "-4\n")
        self.assertEqual(self.noted("prod", "--nodata", "-1", "x.npy"), ("8\n", "x.npy: 1 missing or equal to --nodata\n"))
        self.assertEqual(self.said("prod", "--csv", "--nodata", "-1", "x.npy", "y.npy"),
                         "file,product,bits,count,missing\nx.npy,8,0x4020000000000000,2,1\ny.npy,0.5,0x3fe0000000000000,1,0\n")
        found = json.loads(self.said("stats", "--only", "count,prod", "--nodata", "-1", "--json", "x.npy"))["files"][0]
        self.assertEqual((found["missing"], found["statistics"]["prod"]["value"]), (1, 8.0))

    def test_text_in_order(self):
        self.assertEqual(self.said("argmax", "-", input=b"1 2.5 7 3\n"), "2\n")
        self.array("x.npy", [1.0])
        self.array("y.npy", [1.0, 2.0])
        self.said("dot", "x.npy", "y.npy", code=2)
        self.said("stats", "--only", "mode", "x.npy", code=2)


if __name__ == "__main__":
    unittest.main()
