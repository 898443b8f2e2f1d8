"""samesum median and quantile. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import fractions
import json
import math
import os
import random
import struct
import threading
import unittest

from support.program import Case

F = fractions.Fraction


def between(values, q):
    """numpy's linear quantile, exactly."""
    values = sorted(values)
    index = (len(values) - 1) * F(q)
    below = math.floor(index)
    low = F(values[below])
    return low if index == below else low + (F(values[below + 1]) - low) * (index - below)


class Median(Case):
    def test_numbers_and_files(self):
        randomly = random.Random(1)
        for count in (1, 2, 3, 10, 101):
            values = [randomly.gauss(0, 1) * 2.0 ** randomly.randint(-40, 40) for _ in range(count)]
            self.array("x.npy", values)
            for q in ("0", "0.1", "0.25", "0.5", "0.9", "1"):
                self.assertEqual(float(self.succeed("quantile", "-q", q, "x.npy")), float(between(values, q)), (count, q))
            self.assertEqual(self.succeed("median", "x.npy"), self.succeed("quantile", "-q", "0.5", "x.npy"))
        self.array("y.npy", [3.0, -0.5, 4.0], "f")
        self.array("z.npy", [2.0, 1.0])
        self.assertEqual(self.succeed("median", "y.npy", "z.npy"), "3\ty.npy\n1.5\tz.npy\n")
        self.assertEqual(self.succeed("quantile", "-q", "0,0.5", "-q", "1", "y.npy"), "0\t-0.5\n0.5\t3\n1\t4\n")
        self.assertEqual(self.succeed("quantile", "--plain", "-q", "0,1", "y.npy", "z.npy"), "-0.5\n4\n1\n2\n")
        self.assertEqual(self.succeed("median", "--hex", "z.npy"), "0x1.8p+0\n")
        self.assertEqual(self.succeed("median", "--total", "y.npy", "z.npy"), "2\n")  # of two types
        self.assertEqual(self.succeed("median", "--total", "y.npy", "y.npy"), "3\n")
        self.assertEqual(self.plain("median", "--total", "z.npy", "-", input=b"5 NA 7\n"), "3.5")
        self.assertEqual(self.json("median", "--total", "--nodata", "2", "z.npy", "-", input=b"5 NA 7\n")["files"][0]["missing"], 2)

    def test_methods(self):
        self.array("x.npy", [1.0, 2.0, 4.0, 8.0])
        found = {method: self.succeed("quantile", "-q", "0.4", "--method", method, "x.npy")
                 for method in ("linear", "lower", "higher", "nearest", "midpoint")}
        self.assertEqual(found, {"linear": "2.4\n", "lower": "2\n", "higher": "4\n", "nearest": "2\n", "midpoint": "3\n"})
        self.assertIn("there are linear, lower", self.refuse("median", "--method", "hazen", "x.npy"))
        self.array("y.npy", [0.0] * 10 + [1.0])
        self.assertEqual(self.succeed("quantile", "-q", "0.9", "--method", "higher", "y.npy"), "0\n")
        for q in ("-0.1", "1.5", "half", "nan", "0.5x"):
            self.assertIn("numbers from 0 to 1", self.refuse("quantile", "-q", q, "x.npy"))
        self.refuse("quantile", "-q", "", "x.npy")
        self.refuse("quantile", "x.npy")

    def test_along_axes(self):
        rows = [[3.0, 1.0, 2.0, 9.0], [8.0, -1.0, math.nan, 0.5]]
        self.array("x.npy", [number for row in rows for number in row], shape=(2, 4))
        self.assertEqual(self.succeed("median", "--axis", "1", "x.npy"), "2.5\nnan\n")
        self.assertEqual(self.succeed("median", "--axis", "1", "--nan", "skip", "x.npy"), "2.5\n0.5\n")
        self.assertEqual(self.succeed("quantile", "-q", "0,0.5", "--axis", "0", "--plain", "--nan", "skip", "x.npy"),
                         "3\t5.5\n-1\t0\n2\t2\n0.5\t4.75\n")
        self.assertEqual(self.succeed("quantile", "-q", "1", "--axis", "0,1", "--nan", "skip", "--map", "x*x", "x.npy"), "81\n")
        found = self.json("quantile", "-q", "0,1", "--axis", "1", "--nan", "skip", "--method", "lower", "x.npy")
        self.assertEqual([[entry["value"] for entry in values] for values in found["values"].values()], [[1, -1], [9, 8]])
        self.succeed("median", "--axis", "0", "--keepdims", "--nan", "skip", "-o", "m.npy", "x.npy")
        self.assertEqual(self.succeed("sum", "--axis", "0", "m.npy"), "5.5\n0\n2\n4.75\n")
        self.assertIn("these are several quantiles", self.refuse("quantile", "-q", "0,1", "--axis", "0", "-o", "n.npy", "x.npy"))
        self.assertIn("there is no axis 2", self.refuse("median", "--axis", "2", "x.npy"))
        self.assertIn("--keepdims goes with --axis", self.refuse("median", "--keepdims", "x.npy"))
        self.assertIn("--nodata leaves elements out of their array", self.refuse("median", "--axis", "0", "--nodata", "1", "x.npy"))
        self.assertIn("gives 2 numbers at each position", self.refuse("median", "--axis", "0", "--map", "(x, x)", "x.npy"))

    def test_segments(self):
        self.array("x.npy", [5.0, 1.0, 3.0, 8.0, 2.0, 4.0])
        self.write("o.txt", b"0 3 3 5\n")
        self.assertEqual(self.succeed("median", "--offsets", "o.txt", "x.npy"), "3\nnan\n5\n")
        self.assertEqual(self.succeed("quantile", "-q", "0,1", "--lengths", "-", "x.npy", "--csv", input=b"1 5"), "index,0,1\n0,5,5\n1,1,8\n")
        self.assertEqual(self.json("median", "--offsets", "o.txt", "x.npy")["segments"], 3)
        self.assertEqual(self.succeed("median", "--offsets", "o.txt", "--map", "-x", "x.npy"), "-3\nnan\n-5\n")
        self.assertIn("there are 6 elements", self.refuse("median", "--lengths", "-", "x.npy", input=b"7"))
        self.assertIn("both the numbers and their groups", self.refuse("median", "--lengths", "-", "-", input=b"7"))
        self.assertIn("cannot be used together with --offsets", self.refuse("median", "--offsets", "o.txt", "--axis", "0", "x.npy"))

    def test_by_key(self):
        self.write("t.csv", b"city,price,n\nRome,1.5,1\nBern,2,9007199254740993\nRome,2.5,3\nBern,7,9007199254740993\nOslo,,9\nRome,9,1\n")
        self.assertEqual(self.noted("median", "--by", "city", "--column", "price", "t.csv"),
                         ("city\tprice\nRome\t2.5\nBern\t4.5\nOslo\t\n", "1 number missing\n"))
        self.assertEqual(self.noted("quantile", "-q", "0,0.9", "--by", "city", "--column", "price", "--sorted", "--csv", "t.csv", "t.csv"),
                         ("city,0,0.9\nBern,2,7\nOslo,,\nRome,1.5,9\n", "2 numbers missing\n"))
        # An integer beyond 2^53 stays what it is.
        found = self.json("quantile", "-q", "0.5", "--method", "lower", "--by", "city", "--column", "n", "t.csv")
        self.assertEqual([(group["key"], group["count"], group["quantiles"][0]["value"]) for group in found["groups"]],
                         [(["Rome"], 3, 1), (["Bern"], 2, 9007199254740993), (["Oslo"], 1, 9)])
        randomly = random.Random(3)
        rows = [(randomly.randint(0, 20), randomly.randint(-999, 999) / 10) for _ in range(3000)]
        self.write("r.csv", b"k,v\n" + b"".join(b"%d,%.1f\n" % row for row in rows))
        for q in ("0.5", "0.1"):
            lines = self.succeed("quantile", "-q", q, "--by", "k", "--column", "v", "--sorted", "r.csv").splitlines()[1:]
            wanted = [f"{key}\t" + f"{float(between([v for k, v in rows if k == key], q)):.17g}" for key in sorted({k for k, _ in rows})]
            self.assertEqual([line.split("\t")[0] + "\t" + f"{float(line.split()[1]):.17g}" for line in lines], wanted)
        self.assertEqual(self.noted("quantile", "-q", "0.5", "--method", "lower", "--by", "city", "--column", "price", "-",
                                    input=b"city,price\nA,\nB,4\nA,\n")[0], "city\tprice\nA\t\nB\t4\n")
        self.assertIn("number 1 (of B), from 0 on, is 9007199254740993",
                      self.refuse("median", "--by", "city", "--column", "price", "-", input=b"city,price\nA,1.5\nB,9007199254740993\n"))
        self.write("empty.csv", b"city,price\n")
        self.assertEqual(self.succeed("median", "--by", "city", "--column", "price", "--allow-empty", "empty.csv"), "city\tprice\n")
        self.assertIn("--by needs the column of the numbers", self.refuse("median", "--by", "city", "t.csv"))
        self.assertIn("--by for tables", self.refuse("median", "--by", "city", "--column", "price", "--axis", "0", "t.csv"))
        self.assertIn("1 missing in x", self.refuse("median", "--by", "city", "--column", "price", "--map", "x", "t.csv"))
        self.assertIn("--sorted goes with --by", self.refuse("median", "--sorted", "--column", "price", "t.csv"))

    def test_text(self):
        self.assertEqual(self.succeed("median", "-", input=b"9007199254740993 1 9007199254740993\n"), "9007199254740993\n")
        self.assertEqual(self.succeed("median", "-", input=b"18446744073709551615 -1 18446744073709551613 5e30\n"), "18446744073709551614\n")
        self.assertEqual(self.succeed("median", "-", input=b"1 2.5 7 3\n"), "2.75\n")
        self.write("t.csv", b"name,price\na,3\nb,\nc,10\nd,-1\ne,4.5\n")
        self.assertEqual(self.noted("median", "--column", "price", "t.csv"), ("3.75\n", "t.csv: 1 missing\n"))
        self.assertEqual(self.noted("median", "--column", "price", "--nodata", "-1", "t.csv"), ("4.5\n", "t.csv: 2 missing or equal to --nodata\n"))
        self.assertEqual(self.plain("median", "--column", "price", "--nodata", "4.5", "t.csv"), "3")
        found = self.json("quantile", "-q", "0.5", "--column", "price", "--nodata", "-1", "t.csv", "t.csv")
        self.assertEqual([(file["count"], file["missing"], file["quantiles"][0]["value"]) for file in found["files"]], [(3, 2, 4.5)] * 2)

    def test_nans_and_nothing(self):
        self.array("x.npy", [2.0, math.nan, 1.0])
        self.assertEqual(self.noted("median", "x.npy"), ("nan\n", "x.npy: 1 NaN among the elements; --nan skip leaves NaNs out\n"))
        self.assertEqual(self.noted("median", "--nan", "skip", "x.npy"), ("1.5\n", "x.npy: 1 NaN left out\n"))
        self.array("y.npy", [math.nan])
        self.assertIn("y.npy: no elements have no median, nor other quantiles: all are NaN", self.refuse("median", "--nan", "skip", "y.npy", code=1))
        found = self.json("median", "--nan", "skip", "x.npy", "y.npy")
        self.assertEqual([file["quantiles"][0]["value"] for file in found["files"]], [1.5, None])
        self.assertEqual((found["files"][0]["count"], found["files"][0]["nan_count"]), (3, 1))
        self.assertIn("no elements", found["files"][1]["quantiles"][0]["reason"])

    def test_float32(self):
        """Rounded once: not the exact value's double rounded again."""
        tie = 1 + 2.0**-24
        self.array("x.npy", [2 * tie - 1, 1 + 2.0**-52])  # their middle is 1 + 2^-24 + 2^-53, and its double 1 + 2^-24
        self.assertEqual(float.fromhex(self.plain("median", "x.npy", "--hex")), tie)
        self.assertEqual(float.fromhex(self.plain("median", "x.npy", "--hex", "--float32")), 1 + 2.0**-23)
        self.write("y.raw", struct.pack("<2q", 2**24 + 1, 2**54 + 2**30 + 1))
        self.assertEqual(self.plain("quantile", "-q", "0", "--float32", "--dtype", "int64", "y.raw"), "16777216")
        self.assertEqual(float.fromhex(self.plain("quantile", "-q", "1", "--float32", "--hex", "--dtype", "int64", "y.raw")), 2.0**54 + 2**31)

    def test_integers(self):
        self.write("x.raw", struct.pack("<4q", 2**62 + 1, -(2**63), 2**62 + 4, 2**63 - 1))
        self.assertEqual(self.succeed("quantile", "-q", "0,0.5,1", "--method", "lower", "--dtype", "int64", "x.raw"),
                         "0\t%d\n0.5\t%d\n1\t%d\n" % (-(2**63), 2**62 + 1, 2**63 - 1))
        self.assertEqual(self.succeed("median", "--dtype", ">u2", self.write("y.raw", b"\0\1\1\0\0\2")), "2\n")

    def test_pipes(self):
        # More than is stored in memory, and more than is gathered at once: through a temporary file.
        values = [(i * 7919) % 2500009 - 1000000 for i in range(2500009)]
        data = struct.pack("<%dq" % len(values), *values)
        found = self.succeed("quantile", "--plain", "-q", "0,0.5,1", "--dtype", "int64", "-", input=data)
        self.assertEqual(found, "-1000000\n%d\n1500008\n" % (2500008 // 2 - 1000000))
        self.assertIn("temporary file", self.refuse("median", "--dtype", "int64", "-", input=data, environment={"TMPDIR": "/nowhere"}))
        self.assertEqual(self.succeed("median", "-", input=b"1 2 3", environment={"TMPDIR": "/nowhere"}), "2\n")
        for command in (["median"], ["quantile", "-q", "0.5"]):
            self.assertEqual(self.succeed(*command, "--map", "x*x", "-", input=b"1 2 3 4 5\n"), "9\n")
            self.assertEqual(self.succeed(*command, "--map", "v*v", "v=-", input=b"1 2 3 4 5\n"), "9\n")
        self.array("x.npy", [3.0, 1.0, 2.0])
        self.assertEqual(self.succeed("median", "--map", "x*x", "-", input=self.read("x.npy")), "4\n")
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: open(pipe, "wb").write(b"5 6 8\n"))
        writer.start()
        self.assertEqual(self.succeed("median", pipe), "6\n")
        writer.join()


if __name__ == "__main__":
    unittest.main()
