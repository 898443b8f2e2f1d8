"""samesum hist: its counts against numpy.histogram's, its options, its drawings. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import csv
import io
import json
import math
import os
import pty
import random
import resource
import struct
import subprocess
import unittest
import xml.etree.ElementTree
import zlib

import numpy

from support.images import png
from support.program import PROGRAM, Case


def png_of(rows, bits, colours):
    """A file with contiguous rows of samples."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    channels = {0: 1, 4: 2}[colours]
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", rows.shape[1] // channels, len(rows), bits, colours, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row.astype(row.dtype.newbyteorder(">")).tobytes() for row in rows))) +
            chunk(b"IEND", b""))


def tiff(pages, kinds=None, size=None, compression=1, extra=()):
    """A file with one grey page for each array, in one strip. `size` replaces the true size in its header."""
    data = b"II*\0" + struct.pack("<I", 0)
    link = 4
    for page, kind in zip(pages, kinds or [0] * len(pages)):
        strip = page.tobytes()
        strip = zlib.compress(strip) if compression == 8 else strip
        offset = len(data)
        data += strip + b"\0" * (-len(strip) % 2)
        height, width = size or page.shape
        tags = sorted([(254, 4, kind), (256, 4, width), (257, 4, height), (258, 3, 8 * page.itemsize), (259, 3, compression), (262, 3, 1),
                       (273, 4, offset), (277, 3, 1), (278, 4, height), (279, 4, len(strip)), *extra])
        data = data[:link] + struct.pack("<I", len(data)) + data[link + 4:]
        data += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, type_, 1, value) for tag, type_, value in tags)
        link = len(data)
        data += struct.pack("<I", 0)
    return data


class Hist(Case):
    def save(self, array, name="x.npy"):
        numpy.save(self.path(name), array)
        return name

    def run_program(self, *arguments, **options):
        return super().run_program("hist", *arguments, **options)

    def check(self, values, expected, *arguments):
        found = self.json(self.save(values), *arguments)
        counts, edges = expected
        channel = found["channels"][0]
        self.assertEqual(found["edges"], [float(edge) for edge in edges], arguments)
        self.assertEqual(channel["counts"], counts.tolist(), arguments)
        self.assertEqual(channel["under"] + channel["over"] + channel["nan"] + sum(channel["counts"]), values.size)
        self.assertEqual(channel["total"], values.size)

    def test_missing_numbers_are_told(self):
        self.write("gaps.txt", b"1\nNA\n3\n")
        self.assertEqual(self.json("gaps.txt", "--bins", "2")["missing"], 1)
        self.assertEqual(self.noted("gaps.txt", "--bins", "2", "--range", "0", "4")[1], "1 number missing\n")
        self.assertEqual(self.json("-", "--bins", "2", input=b"1 3")["missing"], 0)

    def test_both_zeros_are_one(self):
        for kind in (numpy.float16, numpy.float32, numpy.float64):
            values = numpy.array([-0.0] * 70 + [0.0, 0.5, 1.0] + [-0.0] * 4, kind)
            self.check(values, numpy.histogram(values, 2, (0, 1)), "--bins", "2", "--range", "0", "1")
            self.check(values, numpy.histogram(values, [0.0, 0.25, 1.0]), "--edges=-0,0.25,1")
            for some in (values, values[::-1], -values):
                self.check(some, numpy.histogram(some, 8), "--bins", "8")
                self.assertNotIn("-0,", self.succeed("x.npy", "--bins", "8", "--csv"))

    def test_numpys_counts(self):
        generator = numpy.random.default_rng(1)
        random.seed(1)
        for turn in range(40):
            low = float(generator.choice([0.0, -1.0, 0.1, -3e-310, 1e-300, -1e300, 12345.678, 1e15]))
            width = float(generator.choice([1.0, 1e-310, 2e-300, 1e300, 0.7, 1e5, 16.0]))
            high = low + width
            if high == low:
                continue
            bins = int(generator.choice([1, 2, 7, 64, 255, 1000]))
            edges = numpy.linspace(low, high, bins + 1)
            if not (numpy.diff(edges) > 0).all():
                continue
            around = numpy.concatenate([edges, numpy.nextafter(edges, -numpy.inf), numpy.nextafter(edges, numpy.inf),
                                        generator.uniform(low, high, 1000)])
            values = generator.permutation(around)
            # Where the width has no reciprocal, numpy's arithmetic fails, but not its search.
            expected = numpy.histogram(values, bins=bins, range=(low, high)) if width > 1e-300 else numpy.histogram(values, bins=edges)
            self.check(values, expected, "--bins", str(bins), "--range", repr(low), repr(high))
            uneven = numpy.unique(generator.choice(around, 30))
            if turn % 4 == 0:
                self.check(values, numpy.histogram(values, bins=uneven), "--edges", ",".join(repr(float(edge)) for edge in uneven))

    def test_bounds_of_the_data(self):
        generator = numpy.random.default_rng(2)
        values = generator.normal(size=5000)
        self.check(values, numpy.histogram(values, bins=64))
        self.check(values, numpy.histogram(values, bins=10), "--bins", "10")
        self.check(numpy.full(9, 4.0), numpy.histogram(numpy.full(9, 4.0), bins=4), "--bins", "4")
        values[17] = numpy.nan
        values[18] = numpy.inf
        finite = values[numpy.isfinite(values)]
        found = self.json(self.save(values))
        self.assertEqual(found["channels"][0]["counts"], numpy.histogram(finite, bins=64)[0].tolist())
        self.assertEqual((found["channels"][0]["nan"], found["channels"][0]["over"]), (1, 1))
        self.assertEqual(self.json(self.save(numpy.zeros(0)))["channels"][0]["total"], 0)

    def test_each_value(self):
        values = numpy.random.default_rng(3).integers(0, 256, 4000).astype(numpy.uint8)
        self.assertEqual(self.json(self.save(values))["channels"][0]["counts"], numpy.bincount(values, minlength=256).tolist())
        values = numpy.array([3, 5, 5, 9], numpy.int64)
        self.assertEqual(self.json(self.save(values), "--each-value")["channels"][0]["counts"], [1, 0, 2, 0, 0, 0, 1])

    def test_standard_input_and_text(self):
        text = "".join("%d\n" % i for i in range(1, 101)).encode()
        rows = list(csv.reader(io.StringIO(self.succeed("-", "--bins", "5", "--csv", input=text))))
        self.assertEqual(rows[0], ["low", "high", "count"])
        self.assertEqual([row[2] for row in rows[1:]], ["0", "20", "20", "20", "20", "20", "0", "0"])
        self.assertEqual(self.json("-", "--range", "0", "50", "--bins", "1", input=text)["channels"][0]["over"], 50)
        self.write("t.csv", b"a,b\n1,10\n2,20\n,30\n")
        self.assertEqual(self.json("t.csv", "--column", "b", "--edges", "0,15,100")["channels"][0]["counts"], [1, 2])

    def test_the_median_is_in_its_bins(self):
        """Of an even number of samples the two in the middle may be in different bins."""
        for values in (range(12), range(11), [1], [0, 8], [3, 3, 5, 5]):
            self.array("x.npy", [float(value) for value in values])
            text, median = (Case.run_program(self, command, "x.npy").stdout.decode() for command in ("hist", "median"))
            low, high = map(float, text.split("median in ")[1].split(" .. "))
            self.assertTrue(low <= float(median) <= high, text)

    def test_letters(self):
        # Our own sentence, with the same counts as the textbook's.
        book = b"The old cloud counted a dozen prizes near a hill from a bazaar."
        self.assertEqual(self.json(self.write("t.txt", book), "--letters", "4")["counts"], [14, 8, 6, 10, 7, 2, 3])
        found = self.json(self.write("t.txt", b"Sphinx of black quartz, judge my vow."), "--letters", "4")
        self.assertEqual(dict(zip(found["names"], found["counts"])),
                         {"a-d": 5, "e-h": 4, "i-l": 4, "m-p": 5, "q-t": 4, "u-x": 5, "y-z": 2})
        self.assertEqual(found["others"], 8)
        self.assertEqual(sum(self.json("t.txt", "--characters")["counts"]), 37)
        self.assertEqual(self.succeed("t.txt", "--letters", "4", "--plot", "t.svg"), "")
        texts = self.texts_of("t.svg")
        for text in ("t.txt", "29 counted, 8 other bytes", "a-d", "y-z", "bytes", "5"):
            self.assertIn(text, texts)

    def texts_of(self, drawing):
        root = xml.etree.ElementTree.parse(self.path(drawing)).getroot()
        return [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_bins_by_formula(self):
        self.array("x.npy", [-1, 0, 0.5, 1, 2.5, 3, 1e300, float("nan")])
        found = self.json("--bin", "x*k", "--param", "k=1", "--bins", "3", "x.npy")
        channel = found["channels"][0]
        self.assertEqual((found["kind"], found["bin"], found["edges"]), ("formula", "x*k", [0, 1, 2, 3]))
        self.assertEqual((channel["under"], channel["counts"], channel["over"], channel["nan"]), (1, [2, 1, 1], 2, 1))
        self.write("t.txt", b"the quick brown fox, 3 dogs")
        letters = self.json("--letters", "4", "t.txt")["counts"]
        own = self.json("--characters", "--bin", "x < 97 ? -1 : (x - 97)/4", "--bins", "7", "t.txt")["channels"][0]
        self.assertEqual((own["counts"], own["under"]), (letters, 7))
        text = self.succeed("--bin", "x % 3", "--bins", "3", "-", input=b"1 2 3 4 5 6 7")
        self.assertIn("0  2  ", text)
        self.assertIn("1  3  ", text)
        refused = [(["--bin", "x"], "--bin takes --bins"), (["--bin", "x", "--bins", "3", "--range", "0", "1"], "cannot be used with it"),
                   (["--bin", "clz(x)", "--bins", "3"], "'clz' takes integers, not float64\n  clz(x)\n  ^\n"),
                   (["--bin", "i", "--bins", "3"], "not on its index i"), (["--param", "h=1"], "for the formulas of --bin and --map"),
                   (["--bin", "x*", "--bins", "3"], "found the end")]
        for arguments, words in refused:
            self.assertIn(words, self.refuse(*arguments, "x.npy"))
        self.assertIn("division by zero at index 1 of the formula 1/int64(x)",
                      self.refuse("--bin", "1/int64(x)", "--bins", "3", "x.npy", code=1))

    def test_labels_differ(self):
        self.save(1e9 + numpy.linspace(-4000, 4000, 1000), "far <off> & \u00e4.npy")
        self.succeed("far <off> & \u00e4.npy", "--plot", "far.svg")
        texts = self.texts_of("far.svg")
        for text in ("far <off> & \u00e4.npy", "999998000", "1000000000", "1000002000"):
            self.assertIn(text, texts)

    def test_images_from_standard_input(self):
        image = png(numpy.arange(60, dtype=numpy.uint8).reshape(4, 5, 3))
        self.write("a.png", image)
        right = self.succeed("a.png", "--csv")
        self.assertEqual(self.succeed("-", "--csv", input=image), right)
        self.assertEqual(self.succeed("--csv", input=image), right)
        with open(self.path("a.png"), "rb") as file:
            self.assertEqual(self.succeed("-", "--csv", stdin=file), right)
        drawing = self.succeed("-", "--plot", "-", input=image)
        self.assertIn("standard input", drawing)
        self.assertNotIn("/proc", drawing)
        self.assertEqual(self.json("-", input=image)["file"], "-")
        message = self.refuse("-", input=image[:40])
        self.assertTrue(message.startswith("standard input: a damaged PNG image"), message)
        self.assertIn("standard input: there is no page 2", self.refuse("-", "--page", "2", input=image))
        self.assertIn("standard input: --by-channel", self.refuse("-", "--by-channel", input=b"1 2 3"))
        self.assertEqual(self.succeed("-", "--csv", "--edges", "0,2", input=b"1 2"), self.succeed("--csv", "--edges", "0,2", self.write("t", b"1 2")))

    def test_images(self):
        pixels = numpy.random.default_rng(4).integers(0, 256, (40, 50, 3)).astype(numpy.uint8)
        self.write("a.png", png(pixels))
        found = self.json("a.png", "--by-channel")
        self.assertEqual([channel["name"] for channel in found["channels"]], ["red", "green", "blue"])
        for i, channel in enumerate(found["channels"]):
            self.assertEqual(channel["counts"], numpy.bincount(pixels[..., i].ravel(), minlength=256).tolist())
        self.assertEqual(self.json("a.png")["channels"][0]["counts"], numpy.bincount(pixels.ravel(), minlength=256).tolist())
        tiles = self.json("a.png", "--tiles", "5x2", "--by-channel")["tiles"]
        self.assertEqual(len(tiles), 10)
        tile = tiles[7]
        part = pixels[tile["y"]:tile["y"] + tile["height"], tile["x"]:tile["x"] + tile["width"], 1]
        self.assertEqual(tile["channels"][1]["counts"], numpy.bincount(part.ravel(), minlength=256).tolist())
        self.assertEqual(len(self.succeed("a.png", "--tiles", "2x2", "--csv").splitlines()), 1 + 4 * 259)
        self.succeed("a.png", "--by-channel", "--plot", "a.svg")
        texts = self.texts_of("a.svg")
        for text in ("a.png", "red", "green", "blue", "value", "samples a bin", "0", "200"):
            self.assertIn(text, texts)
        self.assertIn("damaged", self.refuse(self.write("bad.png", png(pixels)[:200])))
        large = numpy.random.default_rng(5).integers(0, 256, (700, 500, 3)).astype(numpy.uint8)  # counted while it is decoded
        self.write("large.png", png(large))
        self.assertEqual(self.json("large.png")["channels"][0]["counts"], numpy.bincount(large.ravel(), minlength=256).tolist())
        self.assertIn("damaged", self.refuse(self.write("bad.png", png(large)[:600000])))
        self.assertIn("--tiles", self.refuse("a.png", "--tiles", "3"))

    def test_bounds_are_those_of_the_samples(self):
        """16-bit samples like 8-bit ones; the alpha channel is ignored unless it is counted."""
        deep = numpy.array([[1000, 1100, 1250, 1400]], numpy.uint16)
        self.write("deep.png", png_of(deep, 16, 0))
        found = self.json("deep.png", "--bins", "4")
        self.assertEqual((found["edges"], found["channels"][0]["counts"]), ([1000, 1100, 1200, 1300, 1400], [1, 1, 1, 1]))
        self.assertEqual(len(self.json("deep.png")["edges"]), 65)
        self.assertEqual(self.json("deep.png")["edges"][0], 1000)
        for bits, kind in ((8, numpy.uint8), (16, numpy.uint16)):
            self.write("alpha.png", png_of(numpy.array([[10, 255, 20, 255, 50, 0]], kind), bits, 4))
            self.assertEqual(self.json("alpha.png", "--bins", "4")["edges"], [10, 20, 30, 40, 50])
            self.assertEqual(self.json("alpha.png", "--bins", "5", "--alpha")["edges"], [0, 51, 102, 153, 204, 255])

    def test_pages(self):
        pages = [numpy.random.default_rng(i).integers(0, 256, (20 + i, 30)).astype(numpy.uint8) for i in range(3)]
        counts = [numpy.bincount(page.ravel(), minlength=256) for page in pages]
        self.write("a.tif", tiff(pages))
        found = self.json("a.tif")
        self.assertEqual((found["pages"], found["channels"][0]["counts"]), (3, sum(counts).tolist()))
        self.assertTrue(self.succeed("a.tif").startswith("a.tif, 3 pages\n"))
        found = self.json("a.tif", "--bins", "7")
        everything = numpy.concatenate([page.ravel() for page in pages])
        self.assertEqual(found["channels"][0]["counts"], numpy.histogram(everything, bins=7)[0].tolist())
        for i in range(3):
            found = self.json("a.tif", "--page", str(i + 1))
            self.assertEqual((found["pages"], found["channels"][0]["counts"]), (1, counts[i].tolist()))
        self.assertIn("a.tif: there is no page 4: it has 3", self.refuse("a.tif", "--page", "4"))
        self.assertIn("pages differ (30 x 20 pixels, 1 channel of uint8 and, on page 2, 30 x 21", self.refuse("a.tif", "--tiles", "2x2"))
        same = [pages[0], pages[0].T.reshape(20, 30)]
        self.write("same.tif", tiff(same))
        tile = self.json("same.tif", "--tiles", "3x2")["tiles"][4]
        part = numpy.concatenate([page[10:, 10:20].ravel() for page in same])
        self.assertEqual(tile["channels"][0]["counts"], numpy.bincount(part, minlength=256).tolist())
        self.write("mixed.tif", tiff([pages[0], pages[0].astype(numpy.uint16)]))
        self.assertIn("pages differ", self.refuse("mixed.tif"))
        self.assertEqual(self.json("mixed.tif", "--page", "2", "--each-value")["channels"][0]["total"], 600)
        # A reduced copy and a mask are not pages.
        self.write("copy.tif", tiff([pages[0], pages[1], pages[2]], kinds=[0, 1, 4]))
        self.assertEqual(self.json("copy.tif")["channels"][0]["counts"], counts[0].tolist())
        cut = tiff(pages)
        self.refuse(self.write("cut.tif", cut[:len(cut) - 50]))
        self.assertIn("--page", self.refuse(self.save(numpy.zeros(3)), "--page", "1"))

    def test_sizes_are_judged_first(self):
        """Memory is not allocated by the size in the header."""
        def limited():
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for width, height in ((2**31 - 1, 1), (1, 2**31 - 1), (50000, 50000)):
            head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1))
            self.write("bomb.png", b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
            self.assertIn("damaged image: %d x %d pixels in 57 bytes" % (width, height), self.refuse("bomb.png", preexec_fn=limited))
        one = numpy.zeros((1, 1), numpy.uint8)
        for compression in (1, 5, 8, 32773, 4):
            bomb = tiff([one], size=(70000, 70000), compression=compression)
            said = self.refuse(self.write("bomb.tif", bomb), preexec_fn=limited)
            self.assertRegex(said, "damaged image: 70000 x 70000 pixels|4900000000|70000 x 70000 pixels: over 1073741824, the most")
        # One strip of 60 MB of zeros is accepted: it is decompressed row by row.
        large = numpy.zeros((7000, 9000), numpy.uint8)
        self.write("large.tif", tiff([large], compression=8))
        self.assertEqual(self.json("large.tif", preexec_fn=limited)["channels"][0]["counts"][0], large.size)
        self.assertIn("over 60000000, the most that are read; --max-pixels allows more", self.refuse("large.tif", "--max-pixels", "60000000"))
        self.assertEqual(self.json("large.tif", "--max-pixels", "63000000")["channels"][0]["total"], large.size)

    def test_reductions_of_images(self):
        pixels = numpy.random.default_rng(8).integers(1, 4, (6, 7, 3), dtype=numpy.uint8)
        self.write("a.png", png(pixels))
        mask = numpy.zeros_like(pixels)
        mask[1:4, 2:5] = 255
        self.write("mask.png", png(mask))

        def of(*command):
            result = Case.run_program(self, *command)
            self.assertEqual((result.returncode, result.stderr), (0, b""), command)
            return [line.split("\t") for line in result.stdout.decode().splitlines()]
        channels = [pixels[..., i].ravel() for i in range(3)]
        names = ["a.png, red", "a.png, green", "a.png, blue"]
        for command, function in ((["sum"], numpy.sum), (["mean"], numpy.mean), (["max"], numpy.max), (["argmin"], numpy.argmin), (["median"], numpy.median)):
            self.assertEqual([(float(value), name) for value, name in of(*command, "a.png")][:3], [(function(each), name) for each, name in zip(channels, names)])
        products = [str(math.prod(each.tolist())) for each in channels]
        self.assertEqual(of("prod", "--exact", "a.png"), [list(each) for each in zip(products, names)])
        self.assertEqual([float(line[0]) for line in of("mean", "--mask", "mask.png", "a.png")], [pixels[1:4, 2:5, i].mean() for i in range(3)])
        self.assertEqual([line[0] for line in of("max", "--region", "2x3+4+1", "a.png")], [str(pixels[1:4, 4:6, i].max()) for i in range(3)])
        table = Case.run_program(self, "stats", "--only", "count,sum", "--csv", "a.png").stdout.decode().splitlines()
        self.assertEqual(table, ["file,count,sum"] + ['"%s",42,%d' % (name, each.sum()) for name, each in zip(names, channels)])
        numpy.save(self.path("x.npy"), channels[0])
        self.assertEqual([line[0] for line in of("sum", "a.png", "x.npy")][:4], [str(each.sum()) for each in channels + channels[:1]])
        for command in (["mean"], ["median"]):
            function = numpy.mean if command == ["mean"] else numpy.median
            self.assertEqual(float(of(*command, "--total", "a.png")[0][0]), function(numpy.concatenate(channels)))
            self.assertEqual([float(line[0]) for line in of(*command, "--plain", "--nodata", "1", "a.png")], [function(each[each != 1]) for each in channels])
        self.assertEqual(int(Case.run_program(self, "sum", "--plain", "--nodata", "1", "a.png").stdout), pixels[pixels != 1].sum())
        pages = [numpy.arange(12, dtype=numpy.uint8).reshape(3, 4) * 3 + i for i in range(3)]
        self.write("pages.tif", tiff(pages))
        everything = numpy.concatenate([page.ravel() for page in pages])
        self.assertEqual([of("stats", "--only", "count,sum,argmax", "pages.tif")[i][1] for i in range(3)], ["36", str(everything.sum()), str(everything.argmax())])
        self.assertEqual(of("median", "pages.tif")[0][0], "%g" % numpy.median(everything))
        self.assertEqual(of("sum", "--region", "2x2+1+0", "pages.tif")[0][0], str(sum(page[:2, 1:3].sum(dtype=int) for page in pages)))
        self.assertIn("a mask of 3 pages", Case.run_program(self, "sum", "--mask", "pages.tif", "pages.tif").stderr.decode())
        self.write("differ.tif", tiff([pages[0], pages[0].astype(numpy.uint16)]))
        self.assertIn("pages of the image differ", Case.run_program(self, "sum", "differ.tif").stderr.decode())
        for words, command in (("which are read from files", ("mean", "--region", "2x2+0+0", "-")), ("--region and --mask are for images", ("mean", "--region", "2x2+0+0", "x.npy")), ("--column is for texts", ("mean", "--column", "1", "a.png")),
                               ("leave them out", ("mean", "--region", "2x2+0+0", "--axis", "0", "x.npy")), ("leave one out", ("mean", "--mask", "mask.png", "--map", "x*2", "a.png")),
                               ("leave them out", ("sum", "--mask", "mask.png", "--by", "k", "x.npy")), ("a PNG image", ("mean", "--axis", "0", "a.png"))):
            result = Case.run_program(self, *command)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr.decode())

    def test_what_is_no_image_of_ours(self):
        volume = tiff([numpy.zeros((4, 4), numpy.uint8)], extra=[(32997, 4, 3)])
        self.assertIn("a volume, of a depth of 3", self.refuse(self.write("v.tif", volume)))
        for start, name in ((b"GIF89a\1\0\1\0", "GIF"), (b"RIFF\x24\0\0\0WEBPVP8 ", "WebP"), (b"P5\n4 4\n255\n\0\1", "PGM"),
                            (b"P6\n4 4\n255\n\0\1", "PPM"), (b"BM\x36\0\0\0", "BMP")):
            self.assertIn("a %s image; " % name, self.refuse(self.write("x", start)))
        frame = struct.pack(">HHBHHB", 0xffc0, 20, 8, 4, 4, 4) + b"".join(bytes([i, 0x11, 0]) for i in range(1, 5))
        scan = struct.pack(">HHB", 0xffda, 14, 4) + b"".join(bytes([i, 0]) for i in range(1, 5)) + b"\0\x3f\0"
        cmyk = b"\xff\xd8\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0" + frame + scan + b"\xff\xd9"
        self.assertIn("x.jpg: a JPEG image of CMYK; 'convert ", self.refuse(self.write("x.jpg", cmyk)))
        for name in ("a.png", "b.png"):
            self.write(name, png(numpy.zeros((3, 4, 3), numpy.uint8)))
        self.write("t.txt", b"abc\n")
        for options in (["--characters", "--by-channel"], ["--characters", "--column", "1"], ["--characters", "--sep", ";"], ["--letters", "4", "--missing", "x"]):
            self.assertIn(options[0] + " counts the bytes of a text as they are", self.refuse("t.txt", *options))
        self.assertNotIn("other byte", self.run_program("t.txt", "--characters").stdout.decode())
        self.assertIn("a.png: --letters counts the bytes of a text, and this is an image", self.refuse("a.png", "--letters", "3"))
        self.assertIn("a.png: an image, and --column, --header", self.refuse("a.png", "--header"))
        self.assertIn("a.png: an image, and --total counts the numbers", self.refuse("--total", "a.png", "b.png"))

    def test_tiff_without_libtiff(self):
        """libtiff is loaded when a TIFF is opened, so that a broken libtiff affects nothing else."""
        self.write("libtiff.so.6", b"no library")
        self.write("a.tif", b"II*\0")
        self.write("a.png", png(numpy.zeros((3, 4, 3), numpy.uint8)))
        self.assertIn("libtiff", self.refuse("a.tif", environment={"LD_LIBRARY_PATH": self.folder}))
        self.assertNotIn("libtiff", self.refuse("a.tif"))
        self.succeed("a.png", environment={"LD_LIBRARY_PATH": self.folder})

    def test_drawings_fit(self):
        generator = numpy.random.default_rng(5)
        self.save(generator.normal(size=100000))
        for width in (40, 80, 123):
            for arguments in (["--bins", "8"], ["--bins", "40", "--log"], ["--bins", "64"], ["--bins", "1000", "--log"]):
                text = self.succeed("x.npy", *arguments, environment={"COLUMNS": str(width)})
                bars = [line for line in text.splitlines() if "█" in line]
                self.assertTrue(bars)
                for line in bars:
                    self.assertLessEqual(len(line), width, line)
        # On a terminal of a known width.
        parent, child = pty.openpty()
        subprocess.run(["stty", "cols", "57"], stdin=child, check=True)
        subprocess.run([PROGRAM, "hist", "x.npy", "--bins", "300"], cwd=self.folder, stdout=child, check=True, env=os.environ)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:
            pass
        os.close(parent)
        lines = [line for line in shown.decode().splitlines() if "│" in line]
        self.assertEqual(len(lines), 11)
        self.assertTrue(all(30 < len(line) <= 57 for line in lines), lines)

    def test_every_device_counts_the_same(self):
        self.save(numpy.random.default_rng(6).normal(size=100000).astype(numpy.float32))
        listed = json.loads(subprocess.run([PROGRAM, "devices", "--json"], capture_output=True, check=True).stdout)
        first = self.json("x.npy", "--device", "cpu")
        for device in listed["devices"]:
            self.assertEqual(self.json("x.npy", "--device", device["selector"])["channels"], first["channels"])

    def test_refusals(self):
        self.save(numpy.arange(5.0))
        self.assertIn("less than", self.refuse("x.npy", "--range", "3", "3"))
        self.assertIn("finite", self.refuse("x.npy", "--range", "0", "inf"))
        self.assertIn("no number", self.refuse("x.npy", "--edges", "0,one"))
        self.assertIn("missing before a comma", self.refuse("x.npy", "--edges", "0,,1"))
        self.assertIn("name a file", self.refuse("x.npy", "--bins", "2", "--csv", "--plot", "-"))
        self.assertIn("leave one out", self.refuse("x.npy", "--letters", "4", "--characters"))
        self.assertIn("--max-pixels", self.refuse("x.npy", "--max-pixels", "9"))
        self.assertIn("ascending", self.refuse("x.npy", "--edges", "0,2,1"))
        self.assertIn("--edges", self.refuse("x.npy", "--edges", "0,1", "--bins", "3"))
        self.assertIn("greater than 0", self.refuse("x.npy", "--log-bins"))
        self.assertIn("--json and --csv", self.refuse("x.npy", "--json", "--csv"))
        self.assertIn("image", self.refuse("x.npy", "--by-channel"))
        self.assertIn("nowhere", self.refuse("nowhere.npy"))
        self.assertIn("written", self.refuse("x.npy", "--plot", "no/such/folder.svg"))


if __name__ == "__main__":
    unittest.main()
