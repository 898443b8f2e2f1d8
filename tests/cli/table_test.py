"""Columns of tables, the formats of numbers, parts of raw files, several files as one. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import fractions
import json
import math
import os
import pty
import random
import statistics
import struct
import unittest

from support.program import Case


class Tables(Case):
    def setUp(self):
        super().setUp()
        random.seed(7)
        self.rows = [(i, random.choice(["north", "south, east", 'the "west"']), random.choice([None, round(random.gauss(0, 100), 2)]),
                      random.randint(-2**63, 2**64 - 1)) for i in range(500)]
        quoted = lambda text: '"' + text.replace('"', '""') + '"'
        self.write("sales.csv", ("id,region,größe,hash\n" + "".join(
            "%d,%s,%s,%d\n" % (i, quoted(region), "" if size is None else size, number) for i, region, size, number in self.rows)).encode())

    def tsv(self, *arguments, **options):
        lines = [line.split("\t") for line in self.succeed(*arguments, **options).splitlines()]
        return {line[0]: dict(zip(lines[0][1:], line[1:])) for line in lines[1:]}

    def test_every_column_of_numbers_is_described(self):
        found = self.tsv("stats", "sales.csv")
        self.assertEqual(list(found), ["id", "größe", "hash"])
        self.assertEqual(list(found["id"]), ["count", "missing", "nan", "min", "argmin", "max", "argmax", "sum", "mean", "var", "std"])
        sizes = [(fractions.Fraction(size), i) for i, _, size, _ in self.rows if size is not None]
        size = found["größe"]
        self.assertEqual((size["count"], size["missing"]), (str(len(sizes)), str(500 - len(sizes))))
        self.assertEqual(float(size["mean"]), float(sum(x for x, _ in sizes) / len(sizes)))
        self.assertEqual(float(size["var"]), float(statistics.pvariance([x for x, _ in sizes])))
        self.assertEqual(int(size["argmax"]), max(sizes, key=lambda pair: (pair[0], -pair[1]))[1], "a row of the table")
        self.assertEqual(int(size["argmin"]), min(sizes)[1])
        hashes = [number for _, _, _, number in self.rows]
        self.assertEqual((int(found["hash"]["max"]), int(found["hash"]["min"])), (max(hashes), min(hashes)))
        self.assertEqual(int(found["hash"]["argmax"]), hashes.index(max(hashes)))
        self.assertEqual(self.succeed("stats", "-", input=self.read("sales.csv")), self.succeed("stats", "sales.csv"), "by its first line")

    def test_columns_that_are_asked_for(self):
        for arguments in (["--column", "größe,1"], ["--column", "größe", "--column", "id"], ["--column=3,id"]):
            self.assertEqual(list(self.tsv("stats", "sales.csv", *arguments)), ["größe", "id"], arguments)
        one = self.plain("argmax", "--column", "größe", "sales.csv")
        self.assertEqual(self.tsv("stats", "sales.csv")["größe"]["argmax"], one)
        sums = dict(reversed(line.split("\t")) for line in self.succeed("sum", "sales.csv", "--column", "größe,id").splitlines())
        self.assertEqual(sums["id"], str(499 * 250))
        self.assertEqual(sums["größe"], self.plain("sum", "sales.csv", "--column", "größe"))
        self.assertEqual(self.succeed("sum", "--plain", "sales.csv", "--column", "id,größe"), "%s\n%s\n" % (sums["id"], sums["größe"]))
        self.assertEqual(self.succeed("mean", "sales.csv", "--column", "id").strip(), "249.5")
        self.assertEqual(self.refuse("max", "sales.csv", "--column", "id,1"), "sales.csv:1:1: column 1 is asked for twice\n")
        self.assertIn("there are 'id', 'region', 'größe', 'hash'", self.refuse("sum", "sales.csv", "--column", "id,cost"))
        self.assertIn("column 3 ('größe')", self.noted("sum", "-v", "sales.csv", "--column", "größe")[1])
        self.assertRegex(self.refuse("sum", "sales.csv", "--column", "id,region"), r"sales.csv:2:\d: '.*' is no number")
        for command in (["hist"], ["compare"], ["dot", "sales.csv"]):
            self.assertIn("one column", self.refuse(*command, "sales.csv", "--column", "1,3"))
        self.assertEqual(self.tsv("stats", "-", "--column", '"a,b","2024"', input=b'"a,b",2024\n1,2\n')["a,b"]["sum"], "1")

    def test_json_and_csv(self):
        table = self.json("stats", "sales.csv")["files"][0]
        self.assertEqual([column["name"] for column in table["columns"]], ["id", "größe", "hash"])
        self.assertEqual(table["columns"][1]["number"], 3)
        self.assertEqual(table["columns"][0]["statistics"]["sum"]["value"], 499 * 250)
        self.assertEqual(table["left_out"], [{"number": 2, "name": "region", "words": 500, "first_word": table["left_out"][0]["first_word"], "first_line": 2}])
        lines = self.succeed("stats", "--csv", "--only", "count,max", "sales.csv").splitlines()
        self.assertEqual(lines[:2], ["column,count,max", "id,500,499"])
        self.write("x.txt", b"1 2 3")
        self.write("y.txt", b"4 5.5")
        self.assertEqual(self.succeed("stats", "--csv", "--only", "count,max", "x.txt", "y.txt"), "file,count,max\nx.txt,3,3\ny.txt,2,5.5\n")
        self.refuse("stats", "--csv", "--json", "x.txt")

    def test_table_for_a_terminal(self):
        parent, child = pty.openpty()
        result = self.run_program("stats", "--only", "count,missing,max", "sales.csv", stdout=child, environment={"NO_COLOR": "1"})
        os.close(child)
        text = os.read(parent, 65536).decode().replace("\r\n", "\n")
        os.close(parent)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(text.splitlines()[0].split(), ["column", "count", "missing", "max"])
        self.assertEqual(text.splitlines()[1].split(), ["id", "500", "0", "499"])
        self.assertIn("region: left out, as 500 of its fields are no number", text)

    def test_what_is_a_table(self):
        self.write("x.csv", b"1,2\n3,4\n")
        self.assertEqual(self.tsv("stats", "x.csv")["2"]["sum"], "6", "by its name")
        self.assertIn("sum\t10\n", self.succeed("stats", "-", input=b"1,2\n3,4\n"))
        self.assertEqual(self.tsv("stats", "-", "--no-header", input=b"1,2\n3,4\n")["2"]["sum"], "6")
        self.assertEqual(self.tsv("stats", "-", "--all-columns", input=b"1 2\n3 4\n")["2"]["sum"], "6")
        self.assertEqual(self.plain("sum", "x.csv"), "10")
        self.assertEqual(self.succeed("max", "--all-columns", "x.csv"), "3\t1\n4\t2\n")
        self.write("y.csv", b"a,b\n1,2\nx,4\n")
        result = self.run_program("stats", "--only", "sum", "y.csv")
        self.assertEqual((result.returncode, result.stdout.decode()), (0, "6\tb\n"))
        self.assertIn("a: left out, as 1 of its fields is no number: 'x' in line 3, beside 1 number", result.stderr.decode())
        result = self.run_program("stats", "--only", "sum", "-", input=b"a;b\n1,5;2\n")
        self.assertEqual(result.stdout, b"2\tb\n")
        self.assertIn("'1,5' in line 2 (--decimal", result.stderr.decode())
        self.assertIn("no column has only numbers: in column a the first field that is not a number is 'x', in line 2", self.refuse("stats", "-", input=b"a,b\nx,y\n"))
        self.assertIn("--header", self.refuse("stats", "x.csv", "--header", "--no-header"))
        self.assertIn("2:5: a line of over 2 fields", self.refuse("stats", "-", input=b"a,b\n1,2,3\n"))

    def test_integers_of_a_text_have_the_type_that_holds_their_sum(self):
        for text, exact in ((b"9223372036854775807 1", 2**63), (b"18446744073709551614 -1", 2**64 - 3), (b"18446744073709551615 -2", 2**64 - 3),
                            (b"-9223372036854775807 -1", -2**63)):
            self.assertEqual(self.succeed("sum", "-", input=text).split(), [str(exact)])
            self.assertEqual(self.succeed("stats", "--only", "sum", "-", input=text).split(), [str(exact)])
        for text in (b"18446744073709551615 1", b"-9223372036854775808 -1"):
            self.assertIn("does not fit into", self.run_program("sum", "-", input=text).stderr.decode())

    def test_as_many_columns_as_there_may_be(self):
        row = b",".join(b"%d" % k for k in range(65536)) + b"\n"
        self.write("wide.csv", row * 3)
        self.assertEqual(self.succeed("sum", "--axis", "1", "wide.csv").split(), [str(65535 * 32768)] * 3)
        self.assertEqual(self.succeed("max", "--axis", "0", "wide.csv").split()[65535], "65535")
        self.write("wider.csv", b"1," + row)
        self.assertIn("a table of 65537 columns, more than 65536", self.refuse("sum", "--axis", "1", "wider.csv"))
        self.assertEqual(self.succeed("sum", "--column", "65537", "wider.csv").split(), ["65535"])

    def test_rows_have_as_many_fields_as_columns(self):
        self.write("shift.csv", b"city,price\nOslo,1,50\nRome,2\n")
        self.write("short.csv", b"city,price,note\nOslo,1,a\nRome,2\n")
        for command in (["sum", "--column", "price"], ["sum", "--column", "price", "--by", "city"], ["stats"], ["sum", "--all-columns"],
                        ["median", "--column", "price"], ["sum", "--map", "2*price"], ["hist", "--column", "price", "--range", "0", "9"]):
            self.assertIn("shift.csv:2:8: a line of over 2 fields, the number of columns: ", self.refuse(*command, "shift.csv"))
            self.assertIn("short.csv:3:7: a line of 2 fields, which has no column 3", self.refuse(*command, "short.csv"))

    def test_formats_of_numbers(self):
        self.write("eu.csv", "Größe;Preis\n1.234,5;\"2\"\n-0,5;1.000.000\n".encode())
        found = self.tsv("stats", "eu.csv", "--decimal", ",", "--thousands", ".")
        self.assertEqual((found["Größe"]["sum"], found["Preis"]["sum"]), ("1234", "1000002"))
        self.assertEqual(self.plain("sum", "-", "--column", "2", "--thousands", ",", input=b'a,b\nx,"1,234,567.25"\ny,1\n'), "1234568.25")
        self.assertEqual(self.plain("sum", "-", "--sep", "|", "--column", "b", input=b"a|b\n1|2\n"), "2")
        self.assertEqual(self.plain("sum", "-", "--sep", "tab", "--no-header", "--column", "2", input=b"1,5\t2\n"), "2")
        self.assertEqual(self.plain("sum", "-", "--decimal", ",", input=b"1,5 2,5;3\n"), "7")
        self.assertEqual(self.plain("sum", "-", "--skip-lines", "2", input=b"about 17\n\"\n1 2\n"), "3")
        self.assertIn("--decimal", self.refuse("sum", "-", "--column", "1", input=b"a;b\n1,5;2\n"))
        self.assertIn("no number", self.refuse("sum", "-", "--thousands", ",", "--no-header", "--column", "1", "--sep", ";", input=b"12,34\n"))
        for wrong in (["--decimal", "x"], ["--decimal", ",", "--thousands", ","], ["--sep", "ab"], ["--sep", "7"], ["--sep", "é"],
                      ["--skip-lines", "-1"], ["--skip-lines", "x"]):
            self.refuse("sum", "-", *wrong, input=b"1")


class ExactInText(Case):
    BIG = 9007199254740993  # 2^53 + 1

    def test_integers_keep_their_bits(self):
        text = ("%d %d %d 0.5\n" % (self.BIG - 1, self.BIG, -self.BIG)).encode()
        self.assertEqual(self.succeed("max", "-", input=text), "%d\n" % self.BIG)
        self.assertEqual(self.succeed("min", "-", input=text), "%d\n" % -self.BIG)
        self.assertEqual(self.succeed("argmax", "-", input=text), "1\n")
        self.assertEqual(self.succeed("argmin", "-", input=text), "2\n")
        text, note = self.noted("stats", "-", input=b"%d NA %d" % (self.BIG, self.BIG - 1))
        self.assertEqual(note, "standard input: 1 missing\n")
        found = dict(line.split("\t") for line in text.splitlines())
        self.assertEqual((found["min"], found["argmin"], found["max"], found["sum"]), (str(self.BIG - 1), "2", str(self.BIG), str(2 * self.BIG - 1)))
        self.write("a.txt", b"%d 1" % self.BIG)
        self.write("b.txt", b"3 -1")
        self.assertEqual(self.succeed("dot", "a.txt", "b.txt"), "%d\n" % (3 * self.BIG - 1))
        self.write("b.txt", b"0.5 0.5")
        self.assertEqual(float(self.succeed("dot", "a.txt", "b.txt")), (self.BIG + 1) / 2)
        self.write("b.txt", b"2,,1")
        self.refuse("dot", "a.txt", "b.txt")
        self.assertEqual(self.succeed("max", "-", input=b"18446744073709551615 -1"), "18446744073709551615\n")
        self.assertIn("sum\t18446744073709551615\n", self.succeed("stats", "-", input=b"18446744073709551614 1"))

    def test_nodata_of_any_type(self):
        text = b"-9999 %d 0.5 -9999.0 18446744073709551615" % self.BIG
        lines, note = self.noted("stats", "--nodata", "-9999", "-", input=text)
        self.assertEqual(note, "standard input: 2 missing or equal to --nodata\n")
        found = dict(line.split("\t") for line in lines.splitlines())
        self.assertEqual((found["count"], found["min"], found["argmin"], found["argmax"]), ("3", "0.5", "2", "4"))
        self.assertEqual(self.plain("max", "--nodata", "18446744073709551615", "-", input=text), str(self.BIG))

    def test_rows_of_the_table(self):
        text = b"a,price\n1,\n2,5\n\n# no row\n3,NA\n4,7\n5,null\n6,nan\n"
        for name, expected in (("argmin", 1), ("argmax", 3)):
            self.assertEqual(self.plain(name, "--column", "price", "--missing", "null", "--nan", "skip", "-", input=text), str(expected))
            self.assertEqual(self.plain(name, "--column", "price", "--missing", "null", "-", input=text), "5")
        long = b"x\n" + b"".join(b"NA\n" if i % 3 else b"%d\n" % i for i in range(200000)) + b"9999999\n"
        self.assertEqual(self.plain("argmax", "--column", "x", "-", input=long), "200000")

    def test_one_block_or_many(self):
        """A chunk's type depends on neighbouring numbers; no bit of the answer does."""
        for some in (b"-3 0.5 9", b"3 18446744073709551615", b"-9007199254740993 0.5 9007199254740993"):
            few = self.json("stats", "-", "--only", "min,max", input=some + b" 1")["files"][0]["statistics"]
            many = self.json("stats", "-", "--only", "min,max", input=some + b" 1" * 300000)["files"][0]["statistics"]
            self.assertEqual(few, many)


class Total(Case):
    def test_several_files_are_one(self):
        self.array("a.npy", [1.0, 2.0])
        self.array("b.npy", [4.0, -1.0], "f")
        self.write("c.txt", b"NA 9007199254740993 0.5")
        files = ["a.npy", "b.npy", "c.txt"]
        self.assertEqual(self.noted("max", "--total", *files), ("9007199254740993\n", "3 files: 1 missing\n"))
        self.assertEqual(self.plain("argmax", "--total", *files), "5")
        self.assertEqual(self.plain("argmin", "--total", *files), "3")
        self.assertEqual(float(self.succeed("mean", "--total", "a.npy", "b.npy")), 1.5)
        found = self.json("stats", "--total", *files)["files"]
        self.assertEqual((len(found), found[0]["file"], found[0]["count"], found[0]["missing"]), (1, "3 files", 6, 1))
        self.assertEqual(self.plain("sum", "--total", "a.npy", "b.npy"), "6")

    def test_tables(self):
        self.write("a.csv", b"x,y\n1,\n2,5\n")
        self.write("b.csv", b"x,y\n7,9\n")
        self.write("c.csv", b"x,z\n7,9\n")
        lines = self.succeed("stats", "--total", "--only", "count,missing,sum,argmax", "a.csv", "b.csv").splitlines()
        self.assertEqual(lines[1:], ["x\t3\t0\t10\t2", "y\t2\t1\t14\t2"])
        self.assertIn("do not have the same columns: x, y; x, z", self.refuse("stats", "--total", "a.csv", "c.csv"))
        self.assertEqual(self.succeed("sum", "--column", "x,y", "a.csv", "b.csv"), "3\tx\ta.csv\n5\ty\ta.csv\n7\tx\tb.csv\n9\ty\tb.csv\n")

    def test_hist(self):
        self.array("a.npy", [0.0, 1.0])
        self.array("b.npy", [4.0])
        self.write("c.txt", b"2 4")
        counts = self.json("hist", "--total", "--bins", "2", "a.npy", "b.npy", "c.txt")["channels"][0]["counts"]
        self.assertEqual(counts, [2, 3])
        self.assertEqual(self.json("hist", "--total", "--bins", "2", "a.npy", "b.npy")["channels"][0]["counts"], [2, 1])
        self.assertIn("--total", self.refuse("hist", "a.npy", "b.npy"))


class Raw(Case):
    def test_parts(self):
        self.write("x.raw", b"HDR" + struct.pack("<4d", 1, 2, 4, 8))
        part = ["--dtype", "float64", "--offset", "3"]
        for name, data in (("x.raw", None), ("-", self.read("x.raw"))):
            given = {} if data is None else {"input": data}
            self.assertEqual(self.plain("sum", name, *part, **given), "15")
            self.assertEqual(self.plain("sum", name, *part, "--count", "3", **given), "7")
            self.assertEqual(self.succeed("max", name, *part, "--count", "2", **given), "2\n")
            self.assertIn("5 elements of float64 are asked for, 4 are there", self.refuse("sum", name, *part, "--count", "5", **given))
            self.assertIn("no multiple", self.refuse("sum", name, "--dtype", "float64", "--offset", "4", **given))
            self.assertIn("ends after 35 bytes", self.refuse("sum", name, "--dtype", "float64", "--offset", "36", **given))
        self.assertEqual(self.json("hist", "x.raw", *part, "--bins", "1")["channels"][0]["counts"], [4])
        self.array("x.npy", [1.0])
        self.assertIn("an offset and a count are for raw numbers", self.refuse("sum", "x.npy", "--dtype", "float64", "--offset", "1"))
        self.assertIn("--dtype", self.refuse("sum", "x.npy", "--count", "1"))


class Refused(Case):
    def test_empty_texts(self):
        self.write("x.csv", b"a,b\n1,2\n")
        self.array("x.npy", [1.0, 2.0])
        for arguments in (["sum", "x.csv", "--column", ""], ["sum", "x.csv", "--column="], ["stats", "x.csv", "--column", "a,"], ["sum", "x.npy", "--partial", ""],
                          ["merge", "--partial", "", "x.npy"], ["hist", "x.npy", "--edges", ""], ["hist", "x.npy", "--plot", ""],
                          ["max", "x.npy", "--nodata", ""], ["max", "x.npy", "--device", ""], ["stats", "x.npy", "--only", ""],
                          ["sum", "x.npy", "--dtype", ""], ["sum", "x.csv", "--sep", ""], ["sum", "x.npy", "--variant", ""],
                          ["sum", "x.csv", "--missing", ""], ["pairs", "x.npy", "x.npy", "-o", ""], ["kernel", "sum", "--asm", ""],
                          ["bench", "sum", "--kernel", ""]):
            message = self.refuse(*arguments)
            self.assertRegex(message, "empty|required|none|not ''|'' is", arguments)

    def test_negative_counts(self):
        self.array("x.npy", [1.0, 2.0])
        for command in (["var", "--ddof"], ["stats", "--ddof"], ["hist", "--bins"], ["sum", "--threads"], ["sum", "--dtype", "f8", "--offset"],
                        ["sum", "--dtype", "f8", "--count"]):
            for number in ("-1", "1.5", "99999999999999999999", "0x"):
                self.assertIn(command[-1], self.refuse(command[0], "x.npy", *command[1:], number))


if __name__ == "__main__":
    unittest.main()
