"""samesum hist2d, hist --compare, --tile, --region and --mask, against numpy. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import csv
import io
import math
import unittest
import xml.etree.ElementTree
import zlib
from fractions import Fraction

import numpy

from support.images import png
from support.program import Case


def decoded(data):
    """The pixels of a PNG of 8 bits without interlace, RGB."""
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    packed, at = b"", 8
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    rows = numpy.frombuffer(zlib.decompress(packed), "u1").reshape(height, 1 + 3 * width)
    pixels = numpy.zeros((height, 3 * width), "u1")
    for y in range(height):  # the five filters of PNG
        kind, row = rows[y][0], rows[y][1:].astype(int)
        above = pixels[y - 1].astype(int) if y > 0 else numpy.zeros(3 * width, int)
        for x in range(3 * width):
            a = int(pixels[y][x - 3]) if x >= 3 else 0
            b = above[x]
            c = above[x - 3] if x >= 3 else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            pixels[y][x] = (row[x] + [0, a, b, (a + b) // 2, paeth][kind]) % 256
    return pixels.reshape(height, width, 3)


class Hist2d(Case):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(1)
        self.x = generator.normal(size=3000)
        self.y = (self.x * 3 + generator.normal(size=3000)).astype("f4")
        self.x[7], self.y[9] = numpy.nan, numpy.inf
        numpy.save(self.path("x.npy"), self.x)
        numpy.save(self.path("y.npy"), self.y)

    def test_numpys_counts(self):
        found = self.json("hist2d", "x.npy", "y.npy", "--x-bins", "7", "--x-range", "-2", "2", "--y-edges=-5,-1,0,0.5,4")
        expected, x_edges, y_edges = numpy.histogram2d(self.x, self.y.astype("f8"), bins=[7, [-5, -1, 0, 0.5, 4]], range=[[-2, 2], [-5, 4]])
        self.assertEqual(found["counts"], expected.astype(int).tolist())
        self.assertEqual(found["x"]["edges"], x_edges.tolist())
        self.assertEqual(found["y"]["edges"], y_edges.tolist())
        self.assertEqual((found["total"], found["inside"]), (3000, int(expected.sum())))
        self.assertEqual((found["x"]["nan"], found["y"]["nan"]), (1, 0))
        self.assertEqual(found["y"]["over"], int((self.y > 4).sum()))

    def test_ranges_of_the_data_and_csv(self):
        found = list(csv.DictReader(io.StringIO(self.succeed("hist2d", "x.npy", "y.npy", "--csv", "--bins", "5"))))
        good = numpy.isfinite(self.x) & numpy.isfinite(self.y)
        finite_x, finite_y = self.x[numpy.isfinite(self.x)], self.y[numpy.isfinite(self.y)].astype("f8")
        ranges = [[finite_x.min(), finite_x.max()], [finite_y.min(), finite_y.max()]]
        expected = numpy.histogram2d(self.x[good], self.y[good].astype("f8"), bins=5, range=ranges)[0]
        self.assertEqual(len(found), 8 * 8)
        self.assertEqual(sum(int(row["count"]) for row in found), 3000)
        inside = [int(row["count"]) for row in found if "inf" not in row["x_low"] + row["x_high"] + row["y_low"] + row["y_high"] and
                  "nan" not in row["x_low"] + row["y_low"]]
        self.assertEqual(inside, expected.astype(int).ravel().tolist())
        self.assertEqual([row["count"] for row in found if row["x_low"] == "nan" and row["y_low"] != "nan"].count("1"), 1)

    def test_columns_text_and_pipes(self):
        table = "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(50))
        self.write("t.csv", table.encode())
        wanted = numpy.histogram2d(numpy.arange(50), numpy.arange(50) ** 2 % 7, bins=[5, 7], range=[[0, 50], [-0.5, 6.5]])[0].astype(int).tolist()
        options = ["--x-bins", "5", "--x-range", "0", "50", "--y-each-value"]
        self.assertEqual(self.json("hist2d", "--column", "a,b", "t.csv", *options)["counts"], [row[:5] for row in wanted])
        text = "".join(f"{i * i % 7}\n" for i in range(50)).encode()
        numpy.save(self.path("a.npy"), numpy.arange(50, dtype="u1"))
        self.assertEqual(self.json("hist2d", "a.npy", "-", *options, input=text)["counts"], [row[:5] for row in wanted])
        self.assertIn("only once", self.refuse("hist2d", "--column", "a,b", "-", input=table.encode()))
        self.array("short.npy", [1.0, 2.0])
        self.assertTrue(self.refuse("hist2d", "a.npy", "short.npy").startswith("a.npy and short.npy: the inputs of a histogram"))
        self.assertTrue(self.refuse("hist2d", "a.npy", "a.npy", "--weights", "short.npy").startswith("a.npy, a.npy and short.npy: the inputs of a histogram"))
        self.assertTrue(self.refuse("hist", "a.npy", "--weights", "short.npy").startswith("a.npy and short.npy: the inputs of a histogram"))
        self.write("gaps.csv", b"a,b\n1,2\n3,\n")
        self.assertIn("missing", self.refuse("hist2d", "--column", "a,b", "gaps.csv"))

    def test_drawings(self):
        text = self.succeed("hist2d", "x.npy", "y.npy", "--x-range", "-2", "2", "--bins", "10", environment={"COLUMNS": "60"})
        self.assertIn("█", text)
        self.assertIn("in 10 x 10 bins", text)
        self.assertTrue(all(len(line) <= 60 for line in text.splitlines()[:-1]))
        self.succeed("hist2d", "x.npy", "y.npy", "--bins", "10", "--plot", "m.svg", "--log")
        tree = xml.etree.ElementTree.parse(self.path("m.svg")).getroot()
        self.assertEqual(tree.tag, "{http://www.w3.org/2000/svg}svg")
        self.succeed("hist2d", "x.npy", "y.npy", "--x-bins", "4", "--y-bins", "2", "--plot", "m.png")
        pixels = decoded(self.read("m.png"))
        self.assertEqual(pixels.shape, (256, 512, 3))
        counts = numpy.array(self.json("hist2d", "x.npy", "y.npy", "--x-bins", "4", "--y-bins", "2")["counts"])
        shades = pixels[64::128, 64::128].sum(axis=2, dtype=int)[::-1].T
        self.assertEqual(numpy.argsort(-counts.ravel(), kind="stable")[0], numpy.argmin(shades))
        self.assertTrue((shades[counts == 0] == 765).all())
        self.assertTrue((shades[counts > 0] < 765).all())

    def test_what_is_refused(self):
        numpy.save(self.path("few.npy"), self.x[:10])
        self.assertIn("different lengths", self.refuse("hist2d", "x.npy", "few.npy"))
        self.assertIn("two files", self.refuse("hist2d", "x.npy"))
        self.assertIn(".svg or .png", self.refuse("hist2d", "x.npy", "y.npy", "--plot", "m.jpg"))
        self.assertIn("--x-edges gives", self.refuse("hist2d", "x.npy", "y.npy", "--x-edges", "0,1", "--x-range", "0", "1"))
        self.assertIn("too many cells", self.refuse("hist2d", "x.npy", "y.npy", "--bins", "20000"))


class Compare(Case):
    def test_distances(self):
        generator = numpy.random.default_rng(3)
        a, b = generator.normal(size=500), generator.normal(0.5, 2, size=800).astype("f4")
        numpy.save(self.path("a.npy"), a)
        numpy.save(self.path("b.npy"), b)
        found = self.json("hist", "a.npy", "--compare", "b.npy", "--bins", "12", "--range", "-4", "4")
        p, edges = numpy.histogram(a, 12, (-4, 4))
        q = numpy.histogram(b.astype("f8"), 12, (-4, 4))[0]
        p, q = p / p.sum(), q / q.sum()
        either = p + q > 0
        middles = (edges[1:] + edges[:-1]) / 2
        self.assertAlmostEqual(found["intersection"], numpy.minimum(p, q).sum(), delta=1e-14)
        self.assertAlmostEqual(found["chi_squared"], ((p - q)[either] ** 2 / (p + q)[either]).sum() / 2, delta=1e-14)
        self.assertAlmostEqual(found["earth_movers"], (numpy.abs(numpy.cumsum(p - q))[:-1] * numpy.diff(middles)).sum(), delta=1e-13)
        bits = sum(x * math.log2(2 * x / (x + y)) for x, y in [*zip(p, q), *zip(q, p)] if x > 0) / 2
        self.assertAlmostEqual(found["jensen_shannon"], bits, delta=1e-14)
        self.assertEqual([one["total"] for one in found["histograms"]], [500, 800])
        same = self.json("hist", "a.npy", "--compare", "a.npy")
        self.assertEqual([same[name] for name in ("intersection", "chi_squared", "earth_movers", "jensen_shannon")], [1, 0, 0, 0])
        self.assertEqual(self.succeed("hist", "a.npy", "--compare", "a.npy", "--csv").splitlines()[1], "1,0,0,0")
        self.assertIn("earth mover's", self.succeed("hist", "a.npy", "--compare", "a.npy"))
        self.assertIn("one file", self.refuse("hist", "a.npy", "b.npy", "--total", "--compare", "b.npy"))
        self.refuse("hist", "a.npy", "--compare", "b.npy", "--range", "100", "200", code=1)


class Weights(Case):
    def setUp(self):
        super().setUp()
        generator = numpy.random.default_rng(8)
        self.x = generator.integers(-2, 12, 900).astype("f4")
        self.x[5] = numpy.nan
        self.w = generator.normal(size=900) * 10.0 ** generator.integers(-20, 20, 900)
        numpy.save(self.path("x.npy"), self.x)
        numpy.save(self.path("w.npy"), self.w)

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeed(*arguments, "--csv"))))

    def test_sums_means_and_variances(self):
        found = self.rows("hist", "x.npy", "--weights", "w.npy", "--bins", "4", "--range", "0", "8")
        self.assertEqual(len(found), 7)
        for row in found:
            if row["low"] == "nan":
                own = self.w[numpy.isnan(self.x)]
            elif row["low"] == "-inf":
                own = self.w[self.x < 0]
            elif row["high"] == "inf":
                own = self.w[self.x > 8]
            else:
                own = self.w[(self.x >= float(row["low"])) & ((self.x < float(row["high"])) | (float(row["high"]) == 8) & (self.x == 8))]
            exact = [Fraction(float(one)) for one in own]
            total, n = sum(exact), len(exact)
            self.assertEqual(int(row["count"]), n)
            self.assertEqual(float(row["sum"]), float(total))
            self.assertEqual(float(row["squares"]), float(sum(one * one for one in exact)))
            self.assertEqual(float(row["mean"]), float(total / n))
            self.assertEqual(float(row["variance"]), float(sum((one - total / n) ** 2 for one in exact) / n))
        json_found = self.json("hist", "x.npy", "--weights", "w.npy", "--bins", "4", "--range", "0", "8")
        self.assertEqual([float(row["sum"]) for row in found[1:5]], json_found["sums"])
        self.assertEqual([int(row["count"]) for row in found[1:5]], json_found["counts"])

    def test_every_device_gives_the_same(self):
        generator = numpy.random.default_rng(9)
        y = generator.integers(0, 5, 900).astype("u1")
        numpy.save(self.path("y.npy"), y)
        commands = [("hist", "x.npy", "--weights", "w.npy", "--bins", "4", "--range", "0", "8"),
                    ("hist2d", "x.npy", "y.npy", "--weights", "w.npy", "--x-edges", "0,1,8", "--y-each-value")]
        for command in commands:
            here = self.rows(*command, "--device", "cpu")
            for device in self.json("devices")["devices"]:
                name = device["selector"]
                self.assertEqual(self.rows(*command, "--device", name), here, name)
                self.assertEqual(self.json(*command, "--device", name)["device"], name)
                if name == "cpu":
                    continue
                masked = {"SAMESUM_MASK": "int64_atomics"}
                text, note = self.noted(*command, "--csv", "--verbose", "--device", name, environment=masked)
                self.assertEqual(list(csv.DictReader(io.StringIO(text))), here, name)
                self.assertIn("cpu instead of %s, which has no 64-bit atomics" % name, note)

    def test_two_axes_columns_and_the_terminal(self):
        table = "a,b,w\n" + "".join(f"{i % 3},{i % 5},{i}\n" for i in range(60))
        self.write("t.csv", table.encode())
        found = self.json("hist2d", "--column", "a,b", "t.csv", "--weight-column", "w", "--x-each-value", "--y-each-value")
        self.assertEqual(found["shape"], [3, 5])
        wanted = [sum(i for i in range(60) if i % 3 == a and i % 5 == b) for a in range(3) for b in range(5)]
        self.assertEqual(found["sums"], wanted)
        self.assertEqual(len(self.rows("hist2d", "--column", "a,b", "t.csv", "--weight-column", "w", "--x-each-value", "--y-each-value")), 6 * 8)
        self.assertEqual(self.json("hist", "--column", "a", "t.csv", "--weight-column", "w", "--each-value")["sums"],
                         [sum(i for i in range(60) if i % 3 == a) for a in range(3)])
        self.assertIn("variance", self.succeed("hist", "x.npy", "--weights", "w.npy"))

    def test_what_is_refused(self):
        numpy.save(self.path("few.npy"), self.w[:5])
        self.assertIn("different lengths", self.refuse("hist", "x.npy", "--weights", "few.npy"))
        self.assertIn("--plot draws counts", self.refuse("hist", "x.npy", "--weights", "w.npy", "--plot", "m.svg"))
        self.assertIn("--weights", self.refuse("hist", "x.npy", "--weights", "w.npy", "--tile", "2x2"))
        self.assertIn("only once", self.refuse("hist", "-", "--column", "1", "--weight-column", "2", input=b"1,2\n"))


class Parts(Case):
    def test_tiles_of_a_matrix(self):
        matrix = numpy.random.default_rng(5).integers(-9, 9, (21, 34)).astype("i4")
        numpy.save(self.path("m.npy"), matrix)
        found = self.json("hist", "m.npy", "--tile", "8x10", "--bins", "6", "--range", "-9", "9")["tiles"]
        self.assertEqual(len(found), 12)
        for tile in found:
            part = matrix[tile["y"]:tile["y"] + tile["height"], tile["x"]:tile["x"] + tile["width"]]
            self.assertEqual(tile["channels"][0]["counts"], numpy.histogram(part, 6, (-9, 9))[0].tolist())
        self.succeed("sum", "m.npy", "--tile", "8x10", "-o", "s.npy")
        sums = numpy.load(self.path("s.npy"))
        self.assertEqual(sums.tolist(), [[int(matrix[y:y + 8, x:x + 10].sum()) for x in range(0, 34, 10)] for y in range(0, 21, 8)])
        self.assertEqual(self.succeed("max", "m.npy", "--tile", "21x34", "--plain").strip(), str(matrix.max()))
        self.assertIn("16x16", self.refuse("sum", "m.npy", "--tile", "8y8"))
        self.assertIn("cannot be used together", self.refuse("sum", "m.npy", "--tile", "8x8", "--axis", "0"))

    def test_regions_masks_and_tiles_of_images(self):
        generator = numpy.random.default_rng(6)
        pixels = generator.integers(0, 256, (20, 31, 3), dtype="u1")
        mask = generator.integers(0, 3, (20, 31, 3), dtype="u1") // 2
        self.write("photo.png", png(pixels))
        self.write("mask.png", png(mask))
        chosen = mask.any(axis=2)

        def counts(*options):
            return [one["counts"] for one in self.json("hist", "photo.png", "--by-channel", *options)["channels"]]

        def expected(some):
            return [numpy.bincount(some[..., c].ravel(), minlength=256).tolist() for c in range(3)]

        self.assertEqual(counts("--region", "7x9+20+4"), expected(pixels[4:13, 20:27]))
        self.assertEqual(counts("--mask", "mask.png"), expected(pixels[chosen]))
        self.assertEqual(counts("--mask", "mask.png", "--region", "7x9+20+4"), expected(pixels[4:13, 20:27][chosen[4:13, 20:27]]))
        for tile in self.json("hist", "photo.png", "--by-channel", "--tile", "8x9")["tiles"]:
            part = pixels[tile["y"]:tile["y"] + tile["height"], tile["x"]:tile["x"] + tile["width"]]
            self.assertEqual([one["counts"] for one in tile["channels"]], expected(part))
        sums = self.json("sum", "photo.png", "--mask", "mask.png")["files"]
        self.assertEqual([int(one["value"]) for one in sums], pixels[chosen].astype(int).sum(axis=0).tolist())
        self.assertEqual([one["file"] for one in sums], ["photo.png, red", "photo.png, green", "photo.png, blue"])
        self.assertEqual(self.json("sum", "photo.png")["value"], int(pixels.astype(int).sum()))
        self.write("small.png", png(mask[:5]))
        self.assertIn("equally large", self.refuse("hist", "photo.png", "--mask", "small.png"))
        self.assertIn("640x480+10+20", self.refuse("hist", "photo.png", "--region", "7x9"))
        for command in ("hist", "sum"):
            self.assertIn("photo.png: the region of 7 x 9 pixels at 25, 4 is not within the ", self.refuse(command, "photo.png", "--region", "7x9+25+4"))
        self.write("none.png", png(numpy.zeros_like(pixels)))
        self.assertIn("no pixel", self.refuse("sum", "photo.png", "--mask", "none.png"))
        self.assertIn("a matrix or an image", self.refuse("hist", self.array("x.npy", [1.0]), "--region", "1x1+0+0"))
        self.assertIn("for images", self.refuse("hist", self.array("x.npy", [1.0]), "--alpha"))

    def test_parts_of_a_matrix(self):
        matrix = numpy.random.default_rng(8).integers(-100, 100, (30, 41)).astype(numpy.int16)
        chosen = matrix % 3 == 1
        numpy.save(self.path("m.npy"), matrix)
        numpy.save(self.path("chosen.npy"), chosen.astype(numpy.float32) * -0.5)
        how = "--range", "-100", "100", "--bins", "20"

        def counts(*options):
            return self.json("hist", "m.npy", *how, *options)["channels"][0]["counts"]

        def expected(part):
            return numpy.histogram(part, 20, (-100, 100))[0].tolist()

        self.assertEqual(counts("--region", "7x9+20+4"), expected(matrix[4:13, 20:27]))
        self.assertEqual(counts("--mask", "chosen.npy"), expected(matrix[chosen]))
        self.assertEqual(counts("--mask", "chosen.npy", "--region", "7x9+20+4"), expected(matrix[4:13, 20:27][chosen[4:13, 20:27]]))
        tiles = self.json("hist", "m.npy", *how, "--tiles", "4x3")["tiles"]
        self.assertEqual(len(tiles), 12)
        for tile in tiles:
            y, x = tile["y"], tile["x"]
            self.assertEqual(tile["channels"][0]["counts"], expected(matrix[y:y + tile["height"], x:x + tile["width"]]))
        self.assertEqual(sum(tile["width"] * tile["height"] for tile in tiles), matrix.size)
        small = self.json("hist", "m.npy", *how, "--region", "20x10+1+2", "--tile", "6x9")["tiles"]
        self.assertEqual(small[0]["channels"][0]["counts"], expected(matrix[2:8, 1:10]))
        self.assertEqual([small[-1]["height"], small[-1]["width"]], [4, 2])
        numpy.save(self.path("other.npy"), chosen[1:])
        self.assertIn("equally large", self.refuse("hist", "m.npy", "--mask", "other.npy"))
        self.assertIn("--compare", self.refuse("hist", "m.npy", "--region", "7x9+20+4", "--compare", "m.npy"))


if __name__ == "__main__":
    unittest.main()
