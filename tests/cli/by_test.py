"""--by: results for groups of rows. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import collections
import csv
import fractions
import gzip
import io
import json
import math
import random
import unittest

from support.informative import informative
from support.program import Case, bits


class By(Case):
    def setUp(self):
        super().setUp()
        generator = random.Random(5)
        cities = ["Oslo", "K\u00f6ln, am Rhein", 'the "big" one', "line\nend", "", "7"]
        self.rows = [(generator.choice(cities), generator.choice(["2023", "2024", "10"]), generator.choice(["", generator.uniform(-1, 1) * 10.0 ** generator.randint(-30, 30)]),
                      generator.randint(-2**55, 2**55)) for _ in range(9000)]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["city", "year", "price", "id"])
        writer.writerows((city, year, repr(price) if price != "" else "", number) for city, year, price, number in self.rows)
        self.text = text.getvalue().encode()
        self.write("sales.csv", self.text)

    def groups(self, key, column):
        found = collections.OrderedDict()
        for row in self.rows:
            found.setdefault(key(row), []).extend([row[column]] if row[column] != "" else [])
        return found

    def csv(self, *arguments, **options):
        result = self.run_program(*arguments, "--csv", **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return list(csv.reader(io.StringIO(result.stdout.decode())))

    def test_sums_are_exact_and_groups_come_as_first_seen(self):
        lines = self.csv("sum", "--column", "price", "--by", "city,year", "sales.csv")
        self.assertEqual(lines[0], ["city", "year", "price"])
        expected = self.groups(lambda row: row[:2], 2)
        self.assertEqual([tuple(line[:2]) for line in lines[1:]], list(expected))
        informative([float(line[2]) for line in lines[1:]])
        for line in lines[1:]:
            self.assertEqual(float(line[2]), float(sum(map(fractions.Fraction, expected[tuple(line[:2])]))))

    def test_integers_stay_integers_and_columns_go_by_number(self):
        lines = self.csv("sum", "--column", "4", "--by", "2", "--sorted", "sales.csv")
        expected = self.groups(lambda row: row[1], 3)
        self.assertEqual(lines[0], ["year", "id"])
        self.assertEqual([line[0] for line in lines[1:]], ["10", "2023", "2024"], "by value")
        self.assertEqual([int(line[1]) for line in lines[1:]], [sum(expected[line[0]]) for line in lines[1:]])

    def test_all_statistics(self):
        lines = self.csv("stats", "--column", "price", "--by", "city", "--sorted", "sales.csv")
        self.assertEqual(lines[0], ["city", "count", "nan", "min", "max", "sum", "mean", "var", "std"])
        expected = self.groups(lambda row: row[0], 2)
        self.assertEqual([line[0].encode() for line in lines[1:]], sorted(key.encode() for key in expected))
        for line in lines[1:]:
            numbers = [fractions.Fraction(number) for number in expected[line[0]]]
            n, total = len(numbers), sum(numbers)
            self.assertEqual([int(line[1]), int(line[2])], [n, 0])
            self.assertEqual([float(x) for x in line[3:7]], [float(min(numbers)), float(max(numbers)), float(total), float(total / n)])
            self.assertEqual(float(line[7]), float(sum(x * x for x in numbers) / n - (total / n) ** 2))
        for name in ("min", "max", "mean", "std", "norm"):
            one = self.csv(name, "--column", "price", "--by", "city", "--sorted", "sales.csv")
            if name in lines[0]:
                self.assertEqual([line[1] for line in one[1:]], [line[lines[0].index(name)] for line in lines[1:]])

    def test_several_columns_files_and_pipes(self):
        plain = self.csv("sum", "--column", "price", "--by", "city", "sales.csv")
        self.write("more.csv.gz", gzip.compress(b"id,price,city\n1,0.5,Oslo\n2,0.25,Bergen\n"))
        both = self.csv("sum", "--column", "price,id", "--by", "city", "sales.csv", "more.csv.gz", "--float32")
        self.assertEqual(both[0], ["city", "price", "id"])
        self.assertEqual([line[0] for line in both], [line[0] for line in plain] + ["Bergen"])
        self.assertEqual(both[-1][1:], ["0.25", "2"])
        self.assertEqual(self.csv("sum", "--column", "price", "--by", "city", "-", input=self.text), plain)

    def test_json_has_the_bits_and_null_for_no_answer(self):
        self.write("t.csv", b"k;v\na;1e308\nb;\na;1e308\na;-1e308\na;5e-324\nc;nan\n")
        result = self.run_program("stats", "--column", "v", "--by", "k", "--json", "t.csv")
        found = json.loads(result.stdout)
        self.assertEqual(found["by"], ["k"])
        self.assertEqual(found["missing"], 1)
        groups = {group["key"][0]: group["columns"]["v"] for group in found["groups"]}
        self.assertEqual(list(groups), ["a", "b", "c"])
        self.assertEqual(groups["a"]["sum"]["bits"], bits(1e308), "5e-324 is far below, and nothing overflows")
        self.assertEqual((groups["b"]["count"]["value"], groups["b"]["mean"], groups["b"]["min"]), (0, None, None))
        self.assertEqual(groups["c"]["sum"]["special"], "nan")
        self.assertTrue(math.isnan(float(self.csv("sum", "--column", "v", "--by", "k", "t.csv")[3][1])))
        self.assertEqual(self.csv("sum", "--column", "v", "--by", "k", "--nan", "skip", "t.csv")[3], ["c", "0"])

    def test_rows_are_counted(self):
        self.write("t.csv", b"city,price,note\nOslo,1,x\nRome,,y\nOslo,NA,\n\"Os,lo\",2,x\n")
        expected = [["city", "rows"], ["Oslo", "2"], ["Rome", "1"], ["Os,lo", "1"]]
        self.assertEqual(self.csv("stats", "--by", "city", "t.csv"), expected)
        self.assertEqual(self.csv("stats", "--only", "count", "--by", "1", "-", input=self.read("t.csv")), expected)
        self.assertEqual(self.csv("stats", "--by", "note,city", "--sorted", "t.csv"),
                         [["note", "city", "rows"], ["", "Oslo", "1"], ["x", "Os,lo", "1"], ["x", "Oslo", "1"], ["y", "Rome", "1"]])
        self.assertEqual(self.csv("stats", "--by", "city", "t.csv", "t.csv")[1], ["Oslo", "4"])
        self.assertEqual(self.csv("stats", "--by", "1", "--no-header", "--sep", " ", "-", input=b"b\na\nb\n" * 100000), [["1", "rows"], ["b", "200000"], ["a", "100000"]])
        self.write("none.csv", b"city,price\n")
        self.assertEqual(self.csv("stats", "--by", "city", "--allow-empty", "none.csv"), [["city", "rows"]])
        self.assertIn("'stats --by city' counts rows", self.refuse("stats", "--by", "city", "--only", "sum", "t.csv"))
        self.assertIn("--by needs the columns", self.refuse("stats", "--by", "city", "--all-columns", "t.csv"))

    def test_keys_keep_their_bytes(self):
        self.write("l.csv", b'k,v\nB\xf6b,1\n"a,""\x1bb",2\n"x\ny",4\n')
        rows = b'B\xf6b,1\n"a,""\x1bb",2\n"x\ny",4\n'
        for command in (["sum", "--csv"], ["stats", "--only", "sum", "--csv"]):
            self.assertEqual(self.run_program(*command, "--column", "v", "--by", "k", "l.csv").stdout, b"k,v\n" + rows)
        self.assertEqual(self.run_program("sum", "--column", "v", "--by", "k", "l.csv").stdout, b'k\tv\nB\xf6b\t1\na,"\x1bb\t2\nx y\t4\n')
        self.assertEqual(self.run_program("stats", "--csv", "--only", "sum", input=b"\xf6,b\n1,2\n").stdout, b"column,sum\n\xf6,1\nb,2\n")

    def test_what_cannot_be_is_told(self):
        for arguments, words in (
            (("sum", "--by", "city", "sales.csv"), "--by needs the columns of the numbers"),
            (("sum", "--column", "price", "--by", "town", "sales.csv"), "there is no column 'town'"),
            (("sum", "--column", "price", "--sorted", "sales.csv"), "--sorted goes with --by"),
            (("sum", "--column", "city", "--by", "year", "sales.csv"), "is no number"),
            (("sum", "--column", "price", "--by", "year,year", "sales.csv"), "asked for twice"),
            (("sum", "--column", "price", "--by", "year,", "sales.csv"), "a name is empty"),
            (("sum", "--column", "price", "--by", "year", "--plain", "sales.csv"), "--plain"),
            (("stats", "--column", "price", "--by", "year", "--only", "argmin", "sales.csv"), "--by has no 'argmin'"),
        ):
            result = self.run_program(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(words, result.stderr.decode())
        self.write("short.csv", b"a,b,c\n1,2,3\n1,2\n")
        self.assertIn("has no column 3", self.run_program("sum", "--column", "a", "--by", "c", "short.csv").stderr.decode())
        self.write("many.csv", b"k,v\n" + b"x,9223372036854775807\n" * 3)
        result = self.run_program("sum", "--column", "v", "--by", "k", "many.csv")
        self.assertEqual(result.returncode, 1)
        self.assertIn("sum of v at x", result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
