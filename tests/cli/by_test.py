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

    def test_formulas_of_columns(self):
        self.write("t.csv", b"city,price,amount,n\nOslo,2,3,12\nRome,1.5,2,9\nOslo,0.1,4,18\nRome,3,1,6\nBern,7,1,5\n")
        def of(*arguments):
            return self.csv(*arguments, "--by", "city", "t.csv")
        exact = fractions.Fraction(6) + fractions.Fraction(0.1 * 4)
        self.assertEqual(of("sum", "--map", "price*amount"), [["city", "price*amount"], ["Oslo", repr(float(exact))], ["Rome", "6"], ["Bern", "7"]])
        self.assertEqual(of("stats", "--only", "count,max", "--map", "price*amount")[1:], [["Oslo", "2", "6"], ["Rome", "2", "3"], ["Bern", "1", "7"]])
        self.assertEqual(of("median", "--map", "price*h", "--param", "h=2")[1:], [["Oslo", "2.1"], ["Rome", "4.5"], ["Bern", "14"]])
        self.assertEqual(of("argmax", "--map", "price - amount", "--sorted")[1:], [["Bern", "4"], ["Oslo", "0"], ["Rome", "3"]])
        self.assertEqual(of("sum", "--map", "x*x", "--column", "n")[1:], [["Oslo", "468"], ["Rome", "117"], ["Bern", "25"]])
        self.assertEqual(of("reduce", "--map", "(price, amount)", "--combine", "(a[0] + b[0], a[1] + b[1])", "--finish", "a[0]/a[1]")[1:],
                         [["Oslo", "0.3"], ["Rome", "1.5"], ["Bern", "7"]])
        self.assertEqual(of("reduce", "--map", "(price, i)", "--combine", "b[0] > a[0] ? b : a"),
                         [["city", "value0", "value1"], ["Oslo", "2", "0"], ["Rome", "3", "3"], ["Bern", "7", "4"]])
        self.assertIn("1 missing in price", self.refuse("sum", "--map", "price*2", "--by", "city", self.write("m.csv", b"city,price\na,1\nb,\n")))
        self.assertIn("read only once", self.refuse("sum", "--map", "price*2", "--by", "city", "-"))
        self.assertIn("take one table", self.refuse("sum", "--map", "x*y", "--by", "city", "t.csv", "t.csv"))
        self.assertIn("--part", self.refuse("sum", "--map", "price", "--by", "city", "--part", "1/2", "--partial", "p", "t.csv"))
        self.write("numbers.txt", b"1 2\n3 4\n5 6\n")
        self.assertIn("3 rows, and the formula takes 6 numbers", self.refuse("sum", "--map", "x*2", "--by", "1", "numbers.txt"))

    def test_what_needs_all_numbers_of_a_group(self):
        numbers = self.groups(lambda row: row[0], 3)
        self.assertEqual(self.csv("reduce", "--combine", "gcd(a, b)", "--column", "id", "--by", "city", "sales.csv"),
                         [["city", "id"]] + [[key, str(math.gcd(*part))] for key, part in numbers.items()])
        rows = self.csv("argmin", "--column", "price", "--by", "city", "--sorted", "sales.csv")
        self.assertEqual(len(rows), len(numbers) + 1)
        for key, row in rows[1:]:  # rows count from 0, those without a price included
            self.assertEqual(self.rows[int(row)][0], key)
            self.assertEqual(self.rows[int(row)][2], min(price for city, _, price, _ in self.rows if city == key and price != ""))
        both = self.csv("argmin", "--column", "price", "--by", "city", "--sorted", "sales.csv", "sales.csv")
        self.assertEqual(both, rows, "of equal ones the first")
        self.write("p.csv", b"k,v\na,3\nb,\na,-5\nc,2.5\na,7\nc,\n")
        for command in (["prod"], ["stats", "--only", "prod"]):
            result = self.run_program(*command, "--column", "v", "--by", "k", "p.csv")
            self.assertEqual((result.stdout, result.stderr), (b"k\tv\na\t-105\nb\t1\nc\t2.5\n", b"2 numbers missing\n"))
        found = json.loads(self.run_program("prod", "--column", "v", "--by", "k", "--json", "p.csv").stdout)
        self.assertEqual((found["missing"], found["groups"][1]["columns"]["v"]["prod"]["value"]), (2, 1.0))
        self.assertIn("2 numbers missing", self.refuse("reduce", "--combine", "a + b", "--column", "v", "--by", "k", "p.csv"))
        self.assertIn("--exact", self.refuse("prod", "--exact", "--column", "v", "--by", "k", "p.csv"))
        self.assertIn("--check", self.refuse("reduce", "--check", "--combine", "a + b", "--column", "v", "--by", "k", "p.csv"))
        self.assertIn("one of them", self.refuse("prod", "--column", "k,v", "--by", "k", "p.csv"))
        self.write("n.csv", b"k,v\na,1\nb,nan\nb,nan\na,-inf\nc,\nd,nan\nd,-0.0\nd,0\n")
        self.assertEqual(self.csv("argmin", "--nan", "skip", "--column", "v", "--by", "k", "n.csv")[1:], [["a", "3"], ["b", ""], ["c", ""], ["d", "6"]])
        self.assertEqual(self.csv("argmax", "--column", "v", "--by", "k", "n.csv")[1:], [["a", "0"], ["b", "1"], ["c", ""], ["d", "5"]])
        self.write("big.csv", b"k,v\na,%d\nb,3\nb,2\na,2\n" % 2**63)
        self.assertIn("product of b, x: ", self.refuse("prod", "--column", "v", "--by", "k,j", self.write("two.csv", b"k,j,v\na,x,1\nb,x,%d\nb,x,3\n" % 2**63), code=1))
        self.assertEqual(self.csv("reduce", "--combine", "a/b", "--column", "v", "--by", "k", "big.csv")[1:], [["a", str(2**62)], ["b", "1.5"]], "float64, as of a whole text")
        self.assertIn("leave out --part", self.refuse("argmax", "--column", "v", "--by", "k", "--part", "1/2", "--partial", "c", "p.csv"))
        for command in (["prod"], ["argmin"], ["sum"], ["reduce", "--combine", "a + b"]):
            self.assertIn("leave out --device", self.refuse(*command, "--column", "v", "--by", "k", "--device", "opencl:0", "p.csv"))
            self.assertIn("--lengths", self.refuse(*command, "--column", "v", "--by", "k", "--lengths", "p.csv", "p.csv"))
        for command in (["prod"], ["reduce", "--combine", "a + b"]):
            self.assertIn("--sorted goes with --by", self.refuse(*command, "--column", "v", "--sorted", "p.csv"))

    def test_extremes_of_integers_of_both_types(self):
        """Of a column that has negative integers and some that only uint64 holds."""
        self.write("q.csv", b"k,v\na,18446744073709551615\na,-1\nb,9223372036854775808\nc,-3\nc,9007199254740993\n")
        rows = self.csv("stats", "--only", "min,max,sum", "--column", "v", "--by", "k", "q.csv")
        self.assertEqual(rows[1:], [["a", "-1", str(2**64 - 1), str(2**64 - 2)], ["b", str(2**63), str(2**63), str(2**63)], ["c", "-3", str(2**53 + 1), str(2**53 - 2)]])
        found = json.loads(self.run_program("max", "--column", "v", "--by", "k", "--json", "q.csv").stdout)
        self.assertEqual([group["columns"]["v"]["max"]["type"] for group in found["groups"]], ["uint64", "uint64", "int64"])
        self.write("r.csv", b"k,v\na,-1\nb,1.5\n")
        whole = self.succeed("max", "--column", "v", "--by", "k", "q.csv", "r.csv")
        for i in (1, 2):
            self.succeed("max", "--column", "v", "--by", "k", "--part", "%d/2" % i, "--partial", "part%d" % i, "q.csv", "r.csv")
        self.assertEqual(self.succeed("merge", "part1", "part2"), whole)
        self.assertIn("leave out --partial", self.refuse("merge", "--partial", "both", "part1", "part2"))
        self.write("v.csv", b"k,v\na,-5\nb,7\na,10\n")
        for made, asked, variances in ((None, None, ["56.25", "0"]), (None, "1", ["112.5", ""]), ("1", None, ["112.5", ""]), ("1", "0", ["56.25", "0"])):
            self.succeed("var", "--column", "v", "--by", "k", "--part", "1/1", "--partial", "v.part", *(["--ddof", made] if made else []), "v.csv")
            merged = self.csv("merge", *(["--ddof", asked] if asked else []), "v.part")
            self.assertEqual([line[1] for line in merged[1:]], variances, (made, asked))

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
            (("stats", "--column", "price", "--by", "year", "--only", "argmin,sum", "sales.csv"), "'argmin' is worked out alone"),
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
