"""samesum stats and its kin. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import json
import math
import struct
import unittest

from support.program import Case, npy


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

    def test_nan_and_nodata(self):
        self.array("x.npy", [-9999.0, 2.0, math.nan, -9999.0, 1.0])
        self.assertEqual(self.said("argmin", "x.npy"), "2\n")
        found = self.lines("stats", "--nan", "skip", "--nodata", "-9999", "x.npy")
        self.assertEqual((found["count"], found["nan"], found["argmin"], found["argmax"], found["mean"]), ("3", "1", "4", "1", "1.5"))
        self.assertEqual(self.said("prod", "--nan", "skip", "--nodata", "-9999", "x.npy"), "2\n")
        self.said("min", "--nodata", "none", "x.npy", code=2)

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
        self.said("prod", "--dtype", "int64", "x.raw", code=1)

    def test_text_in_order(self):
        self.assertEqual(self.said("argmax", "-", input=b"1 2.5 7 3\n"), "2\n")
        self.said("prod", "-", input=b"1 2\n", code=2)
        self.array("x.npy", [1.0])
        self.array("y.npy", [1.0, 2.0])
        self.said("dot", "x.npy", "y.npy", code=2)
        self.said("stats", "--only", "mode", "x.npy", code=2)


if __name__ == "__main__":
    unittest.main()
