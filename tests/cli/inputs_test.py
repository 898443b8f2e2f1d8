"""Arrays in either order, in every command that reads arrays: numpy's answers, the same for both orders. Files that are
compressed, in archives, or of unsupported formats. Run with SAMESUM_PROGRAM=build/release/cli/samesum."""
import fractions
import gzip
import json
import math
import struct
import unittest
import zipfile
import zlib

import numpy

from support.program import Case, header, npy

SHAPES = [(), (7,), (2, 3), (10, 20), (1, 6), (4, 3, 5), (3, 1, 4), (2, 3, 2, 2)]


def tree(values):
    """The fixed association of factors."""
    values = list(values)
    while len(values) > 1:
        values = [values[i] * values[i + 1] if i + 1 < len(values) else values[i] for i in range(0, len(values), 2)]
    return values[0]


class ArrayOrder(Case):
    def save(self, name, array, order="C"):
        numpy.save(self.path(name), numpy.asarray(array, order=order))
        return name

    def both(self, array):
        """The same array in both orders."""
        array = numpy.asarray(array)
        self.save("c.npy", array, "C")
        self.save("f.npy", array, "F")
        if array.ndim > 1 and sum(size > 1 for size in array.shape) > 1:
            self.assertIn(b"'fortran_order': True", self.read("f.npy"))
        return array

    def values(self, shape, seed=1):
        size = math.prod(shape)
        return numpy.random.default_rng(seed).permutation(size).reshape(shape) / size + 0.6

    def statistics(self, *arguments):
        found = json.loads(self.succeed("stats", "--json", "--only", "count,nan,min,argmin,max,argmax,sum,mean,var,std,norm,prod", *arguments))
        return {name: entry["value"] for name, entry in found["files"][0]["statistics"].items()}

    def test_statistics(self):
        for shape in SHAPES:
            x = self.both(self.values(shape))
            found = self.statistics("f.npy")
            self.assertEqual(found, self.statistics("c.npy"), shape)
            self.assertEqual((found["argmin"], found["argmax"]), (x.argmin(), x.argmax()), shape)
            self.assertEqual((found["min"], found["max"], found["count"]), (x.min(), x.max(), x.size))
            self.assertEqual(found["prod"], tree(x.ravel()), shape)
            self.assertEqual(found["sum"], math.fsum(x.ravel()))

    def test_each_command(self):
        x = self.both(self.values((4, 3, 5)) / 7)
        expected = {"argmin": x.argmin(), "argmax": x.argmax(), "min": x.min(), "max": x.max(), "prod": tree(x.ravel()),
                    "mean": float(sum(map(fractions.Fraction, x.ravel())) / x.size)}
        for name, value in expected.items():
            self.assertEqual(float(self.succeed(name, "f.npy")), value, name)
        for name in ("min", "max", "argmin", "argmax", "mean", "var", "std", "norm", "prod"):
            self.assertEqual(self.succeed(name, "f.npy"), self.succeed(name, "c.npy"), name)
        self.assertEqual(self.succeed("sum", "--plain", "f.npy"), self.succeed("sum", "--plain", "c.npy"))
        self.assertEqual(self.json("hist", "f.npy", "--bins", "5")["channels"], self.json("hist", "c.npy", "--bins", "5")["channels"])

    def test_first_of_equal_elements_and_of_nans(self):
        x = numpy.ones((3, 4))
        x[2, 0] = x[0, 3] = 9
        self.both(x)
        self.assertEqual(self.succeed("argmax", "f.npy"), "3\n")
        x[1, 0] = x[0, 2] = math.nan
        self.both(x)
        self.assertEqual(self.noted("argmin", "f.npy"), ("2\n", "f.npy: 2 NaN among the elements; --nan skip leaves NaNs out\n"))
        self.assertEqual(self.succeed("argmax", "--nan", "skip", "f.npy"), "3\n")
        self.assertEqual(self.plain("argmax", "--nan", "skip", "--nodata", "1", "f.npy"), "3")

    def test_dot(self):
        for shape in SHAPES:
            x = self.both(self.values(shape))
            y = self.values(shape, 2)
            exact = float(sum(fractions.Fraction(a) * fractions.Fraction(b) for a, b in zip(x.ravel(), y.ravel())))
            for order in "CF":
                self.save("y.npy", y, order)
                for name in ("c.npy", "f.npy"):
                    self.assertEqual(float(self.succeed("dot", name, "y.npy")), exact, (shape, name, order))
        self.both(numpy.arange(6.0).reshape(2, 3))
        self.assertEqual(self.succeed("dot", "c.npy", "f.npy"), "55\n")

    def test_shapes_that_differ(self):
        self.save("a.npy", numpy.ones((10, 20)))
        for shape, order in [((20, 10), "C"), ((20, 10), "F"), ((200,), "C"), ((10, 20, 1), "C")]:
            self.save("b.npy", numpy.ones(shape), order)
            self.assertIn("one shape", self.refuse("dot", "a.npy", "b.npy"))
        self.save("b.npy", numpy.ones((10, 20)), "F")
        self.assertEqual(self.succeed("dot", "a.npy", "b.npy"), "200\n")

    def test_pairs(self):
        a, b = (numpy.round(64 * self.values(shape, shape[0])) / 64 for shape in ((5, 3), (4, 3)))  # sums are exact
        expected = [[str(i) for i in ((a[:, None] - b) ** 2).sum(axis=2).argmin(axis=1)], None]
        for first in "CF":
            for second in "CF":
                self.save("a.npy", a, first)
                self.save("b.npy", b, second)
                self.assertEqual(self.succeed("pairs", "a.npy", "b.npy", "--f", "sqdist", "--reduce", "argmin").split(), expected[0])
                sums = self.succeed("pairs", "a.npy", "b.npy", "--accuracy", "exact").split()
                expected[1] = expected[1] or sums
                self.assertEqual(sums, expected[1])
        self.assertEqual([float(x) for x in expected[1]], list((a @ b.T).sum(axis=1)))

    def test_compare(self):
        x = self.both(1.0 / (1 + numpy.arange(60).reshape(4, 3, 5)))
        found = [self.json("compare", name, "--device", "cpu") for name in ("c.npy", "f.npy")]
        for key in ("plain_forward", "plain_backward"):
            self.assertEqual(found[0][key], found[1][key])
        self.assertEqual(found[0]["plain_forward"]["value"], float(x.ravel().cumsum()[-1]))
        self.assertEqual(found[1]["shape"], [4, 3, 5])

    def test_every_type_and_byte_order(self):
        for kind in ("?", "i1", "u1", "<i2", ">u2", "<i4", ">u4", ">i8", "<u8", "<f2", ">f4", ">f8"):
            x = self.both((numpy.arange(24).reshape(2, 3, 4) * 7 % 24).astype(kind))
            for name in ("argmin", "argmax", "min", "max", "sum"):
                arguments = ("--plain",) if name == "sum" else ()
                for file in ("c.npy", "f.npy"):
                    text = self.succeed(name, *arguments, file)
                    self.assertEqual(float(text), float(getattr(x.astype(float), name)()), (kind, name, file))

    def test_larger_than_a_block(self):
        x = self.both(numpy.random.default_rng(3).permutation(3 * 1000 * 700).reshape(3, 1000, 700).astype("f8"))
        self.assertEqual(self.succeed("argmax", "f.npy"), "%d\n" % x.argmax())
        self.save("y.npy", x[::-1] / 8)
        self.assertEqual(self.succeed("dot", "f.npy", "y.npy"), self.succeed("dot", "c.npy", "y.npy"))
        self.assertEqual(self.succeed("prod", "f.npy"), self.succeed("prod", "c.npy"))

    def test_pipes_and_archives(self):
        """Input that is not seekable goes through a temporary file."""
        x = self.both(self.values((4, 3, 5)))
        self.assertEqual(self.succeed("argmax", "-", input=self.read("f.npy")), "%d\n" % x.argmax())
        self.assertEqual(self.succeed("sum", "--plain", "-", input=self.read("f.npy"), environment={"TMPDIR": "/nowhere"}),
                         self.succeed("sum", "--plain", "c.npy"))
        self.assertIn("a temporary file in /nowhere cannot be written",
                      self.refuse("argmax", "-", input=self.read("f.npy"), environment={"TMPDIR": "/nowhere"}))
        numpy.savez_compressed(self.path("z.npz"), numpy.asarray(x, order="F"))
        self.assertEqual(self.succeed("argmin", "z.npz"), "%d\n" % x.argmin())
        self.assertEqual(self.succeed("dot", "z.npz", "c.npy"), self.succeed("dot", "c.npy", "c.npy"))


class Formats(Case):
    def test_compressed_text(self):
        text = b"name,price\n" + b"".join(b"x%d,%d.5\n" % (i, i) for i in range(100000))
        expected = self.plain("sum", self.write("x.csv", text), "--column", "price")
        # A valid zstd frame of uncompressed blocks.
        blocks = [text[i:i + 100000] for i in range(0, len(text), 100000)]
        frame = b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(
            struct.pack("<I", len(block) << 3 | (i == len(blocks) - 1))[:3] + block for i, block in enumerate(blocks))
        for name, packed in (("x.csv.gz", gzip.compress(text)), ("x.csv.zst", frame), ("x", gzip.compress(text))):
            self.write(name, packed)
            self.assertEqual(self.plain("sum", name, "--column", "price"), expected)
            self.assertEqual(self.plain("sum", "-", "--column", "price", input=packed), expected)
            self.assertEqual(self.json("hist", name, "--column", "price", "--bins", "3")["channels"][0]["total"], 100000)
            self.assertIn("data end early: the file is cut off", self.refuse("sum", "-", "--column", "price", input=packed[:-9]))
        self.write("x.raw.gz", gzip.compress(struct.pack("<3f", 1, 2, 4)))
        self.assertEqual(self.plain("sum", "--dtype", "f4", "x.raw.gz"), "7")

    def test_formats_of_others(self):
        for start, name, advice in (
                (b"PAR1\x15\x04\x15", "a Parquet file", "read_parquet"), (b"\x89HDF\r\n\x1a\n\0", "an HDF5 file", "h5py"),
                (b"SIMPLE  =                    T", "a FITS file", "astropy"), (b"\xfd7zXZ\0\0", "compressed by xz", "xz -dc"),
                ("1,2\n".encode("utf-16"), "text in UTF-16", "iconv -f UTF-16"), ("1,2\n".encode("utf-16-be"), "text in UTF-16", "iconv"),
                (b"GIF89a\1\0\1\0", "a GIF image", "convert"), (b"RIFF\x24\0\0\0WEBPVP8 ", "a WebP image", "dwebp"),
                (b"BZh91AY&SY\0", "compressed by bzip2", "bzip2 -dc"), (b"\x04\x22\x4d\x18\0", "compressed by lz4", "lz4 -dc")):
            self.write("x", start)
            for arguments in ([], ["--column", "price"]):
                said = self.refuse("sum", "x", *arguments)
                self.assertTrue(said.startswith("x: " + name + "; "), said)
                self.assertIn(advice, said)
                self.assertTrue(said.isprintable() or said[:-1].isprintable())
        self.write("x", b"\x89PNG\r\n\x1a\n")  # images can be summed
        self.assertIn("a damaged PNG image", self.refuse("sum", "x"))
        # Words of a table are not taken for signatures of formats.
        self.write("x.csv", b"PAR1,GIF89a\n1,2\n")
        self.assertEqual(self.plain("sum", "x.csv", "--column", "GIF89a"), "2")
        self.assertIn("no text", self.refuse("sum", self.write("x", b"price\n1\n\0\n"), "--column", "price"))

    def test_files_that_report_no_size(self):
        with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
            value = file.read().strip()
        self.assertEqual(self.plain("sum", "/proc/sys/kernel/pid_max"), value)
        self.assertEqual(self.plain("sum", "--dtype", "u1", "/proc/sys/kernel/pid_max"), str(sum(value.encode()) + 10))
        self.assertEqual(self.json("hist", "/proc/sys/kernel/pid_max", "--characters")["counts"][10], 1)
        self.assertIn("the file is empty", self.refuse("sum", self.write("x", b"")))

    def test_bool(self):
        numpy.save(self.path("x.npy"), numpy.array([True, False, True]))
        self.assertEqual(self.plain("sum", "x.npy"), "2")
        self.assertEqual(self.succeed("argmin", "x.npy"), "1\n")


def rounded(value):
    """The double next to a fraction."""
    return value.numerator / value.denominator


def complex_tree(z):
    """The product by the fixed association: each operation rounded in the type of the parts."""
    values = [(x.real, x.imag) for x in z.ravel()]
    while len(values) > 1:
        pairs = [(values[i], values[i + 1]) for i in range(0, len(values) - 1, 2)]
        values = [(a * c - b * d, a * d + b * c) for (a, b), (c, d) in pairs] + values[len(values) & ~1:]
    return complex(*values[0]) if values else 1


class Complex(Case):
    def numbers(self, dtype, shape, seed=3):
        random = numpy.random.default_rng(seed)
        z = random.standard_normal(shape) * 10.0 ** random.integers(-1, 2, shape) + 0.1j * random.standard_normal(shape)
        return (1.445 * z).astype(dtype)  # so that a product of many is neither infinite nor zero

    def check(self, name, z):
        real, imag = ([fractions.Fraction(float(x)) for x in part.ravel()] for part in (z.real, z.imag))
        self.assertEqual(complex(self.plain("sum", name)), complex(rounded(sum(real)), rounded(sum(imag))), name)
        if z.size == 0:
            self.assertIn("mean", self.refuse("mean", name, code=1))
        else:
            expected = complex(rounded(sum(real) / z.size), rounded(sum(imag) / z.size))
            self.assertEqual(complex(self.plain("mean", name)), expected, name)
        squares = sum(x * x for x in real + imag)
        self.assertAlmostEqual(float(self.plain("norm", name)) ** 2, rounded(squares), delta=rounded(squares) * 1e-15)
        found = self.json("prod", name)["files"][0]
        expected = complex_tree(z)
        self.assertEqual((found["real"]["value"], found["imag"]["value"]), (expected.real, expected.imag), name)
        self.assertEqual((found["dtype"], found["shape"], found["count"]), (str(z.dtype), list(z.shape), z.size))

    def test_types_shapes_orders(self):
        for dtype in (numpy.complex64, numpy.complex128):
            for shape in [(0,), (), (1,), (3,), (1001,), (4, 5), (3, 4, 5), (1, 6)]:
                z = self.numbers(dtype, shape)
                for order in "CF":
                    for byte_order in "<>":
                        numpy.save(self.path("z.npy"), numpy.asarray(z.astype(z.dtype.newbyteorder(byte_order)), order=order))
                        self.check("z.npy", z)

    def test_headers_by_hand(self):
        data = struct.pack("<4f", 1.5, -2, 0.25, 4)
        self.write("c.npy", npy(header("'<c8'", "(2,)"), data))
        self.assertEqual(self.succeed("sum", "c.npy"), "1.75+2j\n")
        self.assertEqual(self.plain("mean", "c.npy"), "0.875+1j")
        self.assertEqual(self.plain("prod", "c.npy"), "8.375+5.5j")
        self.assertEqual(self.plain("sum", "--hex", "c.npy"), "0x1.cp+0+0x1p+1j")
        self.write("f.npy", npy(header("'>c8'", "(1, 2)").replace("False", "True"), struct.pack(">4f", 1.5, -2, 0.25, 4)))
        self.assertEqual(self.plain("prod", "f.npy"), "8.375+5.5j")
        self.write("short.npy", npy(header("'<c8'", "(3,)"), data))
        self.assertIn("complex64 of shape (3,) take 24 bytes, 16 are there", self.refuse("sum", "short.npy"))

    def test_sums_are_exact(self):
        numpy.save(self.path("z.npy"), numpy.array([1e16 - 1e300j, 1 + 2j, -1e16 + 1e300j]))
        self.assertEqual(self.plain("sum", "z.npy"), "1+2j")
        self.assertEqual(complex(self.plain("mean", "z.npy")), complex(1 / 3, 2 / 3))

    def test_special_numbers(self):
        numpy.save(self.path("z.npy"), numpy.array([complex(1, math.nan), complex(math.inf, 2), complex(-0.0, -3)]))
        self.assertEqual(self.plain("sum", "z.npy"), "inf+nanj")
        self.assertEqual(self.plain("sum", "--nan", "skip", "z.npy"), "inf-1j")
        found = self.json("sum", "z.npy")["files"][0]
        self.assertEqual((found["real"]["special"], found["imag"]["special"]), ("inf", "nan"))

    def test_several_files_and_containers(self):
        a, b = self.numbers(complex, (7,)), self.numbers(complex, (2, 2), 4)
        numpy.save(self.path("a.npy"), a)
        numpy.savez_compressed(self.path("z.npz"), a=a, b=b)
        self.write("a.npy.gz", gzip.compress(self.read("a.npy")))
        single = self.plain("sum", "a.npy")
        self.assertEqual([self.plain("sum", name) for name in ("z.npz:a", "a.npy.gz")], [single, single])
        lines = self.succeed("sum", "a.npy", "z.npz:b").splitlines()
        self.assertEqual([line.split("\t")[1] for line in lines], ["a.npy", "z.npz:b", "total"])
        every = [fractions.Fraction(float(x)) for x in [*a.real, *b.real.ravel()]]
        self.assertEqual(complex(lines[2].split("\t")[0]).real, rounded(sum(every)))
        self.assertEqual(self.plain("sum", "a.npy", "z.npz:b"), lines[2].split("\t")[0])
        self.assertEqual(self.succeed("sum", "--csv", "a.npy").splitlines()[0], "file,sum,bits,count")
        numpy.save(self.path("real.npy"), a.real)
        self.assertIn("real.npy: its elements are not complex, and those of a.npy are", self.refuse("sum", "a.npy", "real.npy"))
        self.assertIn("a.npy: its elements are complex128", self.refuse("sum", "real.npy", "a.npy"))

    def test_refusals(self):
        numpy.save(self.path("z.npy"), numpy.ones(3, complex))
        for command in ("stats", "min", "var", "median", "compare", "hist", "scan"):
            message = self.refuse(command, "z.npy")
            self.assertIn("z.npy: its elements are complex128, of which each has two numbers: 'samesum sum'", message)
            self.assertIn("save a.real and a.imag", message)
        self.assertIn("its elements are complex128", self.refuse("sum", "--axis", "0", "z.npy"))
        self.assertIn("this formula gives a complex number at each position", self.refuse("sum", "--map", "x*x", "z.npy"))
        for options in (["--nodata", "1"], ["--total"], ["--float32"], ["--partial", "p.sum"], ["--variant", "tree"]):
            self.assertIn("z.npy: its elements are complex numbers, of which 'sum' takes only", self.refuse("sum", *options, "z.npy"))
        self.assertIn("'prod' takes only", self.refuse("prod", "--exact", "z.npy"))
        self.assertIn("contradicts the given type", self.refuse("sum", "--dtype", "f8", "z.npy"))
        self.assertIn("leave options for text out", self.refuse("sum", "--column", "1", "z.npy"))


class Archives(Case):
    def test_npz(self):
        x, y = numpy.arange(6.0).reshape(2, 3), numpy.array([1, 2, 4], numpy.int16)
        for save in (numpy.savez, numpy.savez_compressed):
            save(self.path("z.npz"), x=x, y=y)
            self.assertEqual(self.plain("sum", "z.npz:x"), "15")
            self.assertEqual(self.plain("sum", "z.npz:y.npy"), "7")
            self.assertEqual(self.succeed("dot", "z.npz:y", "z.npz:y"), "21\n")
            self.assertIn("z.npz: an archive of several: x, y; take one as z.npz:x", self.refuse("sum", "z.npz"))
            self.assertIn("z.npz: there is no 'w' in it, but x, y", self.refuse("sum", "z.npz:w"))
            save(self.path("one.npz"), y)
            self.assertEqual(self.plain("sum", "one.npz"), "7")
            self.assertEqual(self.plain("sum", "one.npz", "--dtype", "int16"), "7")
            self.assertIn("contradicts", self.refuse("sum", "one.npz", "--dtype", "float32"))
            self.assertEqual(self.json("hist", "one.npz", "--each-value")["channels"][0]["total"], 3)
        self.assertIn("No such file", self.refuse("sum", "nowhere.npz:x"))
        self.write("with:colon.txt", b"1 2\n")
        self.assertEqual(self.plain("sum", "with:colon.txt"), "3")
        self.write("x.txt", b"1 2\n")
        self.assertIn("not a zip archive", self.refuse("sum", "x.txt:y"))

    def test_zip_of_anything(self):
        with zipfile.ZipFile(self.path("z.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.mkdir("folder") if hasattr(archive, "mkdir") else archive.writestr("folder/", "")
            archive.writestr("folder/prices.csv", "name,price\na,1.5\nb,2\n")
        self.assertEqual(self.plain("sum", "z.zip", "--column", "price"), "3.5")
        self.assertEqual(self.plain("sum", "z.zip:folder/prices.csv", "--column", "price"), "3.5")

    def test_large_archive_entries_say_their_sizes_in_64_bits(self):
        with zipfile.ZipFile(self.path("z.npz"), "w") as archive:
            with archive.open("x.npy", "w", force_zip64=True) as file:
                numpy.lib.format.write_array(file, numpy.arange(10.0))
        self.assertEqual(self.plain("sum", "z.npz"), "45")

    def test_sizes_in_64_bits_stand_behind_other_fields(self):
        text = b"1 2 3.5\n"
        name, start = b"x.txt", b"PK\x03\x04" + struct.pack("<5H3I2H", 45, 0, 0, 0, 0, zlib.crc32(text), len(text), len(text), 5, 0)
        time = struct.pack("<2HBI", 0x5455, 5, 1, 1000000000)
        sizes = struct.pack("<2H3Q", 1, 24, len(text), len(text), 0)
        for extra in (sizes, time + sizes, time + time + sizes + time):
            entry = b"PK\x01\x02" + struct.pack("<6H3I5H2I", 45, 45, 0, 0, 0, 0, zlib.crc32(text), 2**32 - 1, 2**32 - 1, 5, len(extra), 0, 0, 0, 0, 2**32 - 1)
            before = len(start) + len(name) + len(text)
            end = b"PK\x05\x06" + struct.pack("<4H2IH", 0, 0, 1, 1, len(entry) + 5 + len(extra), before, 0)
            self.write("z.zip", start + name + text + entry + name + extra + end)
            with zipfile.ZipFile(self.path("z.zip")) as archive:
                self.assertEqual(archive.read("x.txt"), text)
            self.assertEqual(self.plain("sum", "z.zip"), "6.5")

    def test_damaged_archives(self):
        numpy.savez_compressed(self.path("z.npz"), x=numpy.random.default_rng(1).normal(size=1000))
        whole = self.read("z.npz")
        self.assertIn("cut off: the directory at its end is missing", self.refuse("sum", self.write("cut.npz", whole[:-100])))
        for place in range(0, len(whole), 41):
            bad = bytearray(whole)
            bad[place] ^= 0x55
            result = self.run_program("sum", "--plain", self.write("bad.npz", bytes(bad)))
            if result.returncode == 0:  # a time, a version, a name
                self.assertEqual(result.stdout.decode(), self.succeed("sum", "--plain", "z.npz"))
            else:
                self.assertEqual(result.returncode, 2, result.stderr)
        with zipfile.ZipFile(self.path("z.zip"), "w", zipfile.ZIP_BZIP2) as archive:
            archive.writestr("x.txt", "1 2 3\n")
        self.assertIn("method 12", self.refuse("sum", "z.zip"))
        with zipfile.ZipFile(self.path("z.zip"), "w"):
            pass
        self.assertIn("nothing in it", self.refuse("sum", "z.zip"))
        self.assertIn("a zip archive (.npz?), which is read from a file alone", self.refuse("sum", "-", input=whole))


if __name__ == "__main__":
    unittest.main()
