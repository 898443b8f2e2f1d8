"""Reductions along axes on the command line: values beside numpy's, files for numpy, and refusals."""
import math
import struct
import unittest

from support.informative import informative
from support.program import Case, header, npy

try:
    import numpy
except ImportError:
    numpy = None


class Axes(Case):
    def matrix(self):
        values = [0.1 * i - 3 for i in range(12)]
        return values, self.write("x.npy", npy(header("'<f8'", "(3, 4)"), struct.pack("<12d", *values)))

    def test_values(self):
        values, file = self.matrix()
        columns = [math.fsum(values[i::4]) for i in range(4)]
        rows = [math.fsum(values[4 * i:4 * i + 4]) for i in range(3)]
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "0", file).split()], columns)
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "-1", file).split()], rows)
        self.assertEqual([float(line) for line in self.succeed("sum", "--axis", "0,1", file).split()], [math.fsum(values)])
        self.assertEqual([int(line) for line in self.succeed("argmax", "--axis", "1", file).split()], [3, 3, 3])
        self.assertEqual([float(line) for line in self.succeed("max", "--axis", "0", file).split()], values[8:])
        found = self.json("mean", "--axis", "1", "--keepdims", file)
        self.assertEqual((found["shape"], found["type"], found["axis"]), ([3, 1], "float64", [1]))
        self.assertEqual([value["value"] for value in found["values"]], [row / 4 for row in rows])
        self.assertEqual(self.succeed("sum", "--axis", "1", "--csv", file).splitlines()[:2], ["index,sum", "0,%r" % rows[0]])

    @unittest.skipIf(numpy is None, "no numpy")
    def test_files(self):
        random = numpy.random.default_rng(4)
        x = random.integers(-1000, 1000, (5, 6, 7)).astype(numpy.int32)
        numpy.save(self.path("x.npy"), x)
        numpy.save(self.path("f.npy"), numpy.asfortranarray(x))
        for file in "x.npy", "f.npy":
            for axes in (0,), (1,), (2,), (0, 2), (0, 1, 2):
                self.succeed("sum", "--axis", ",".join(map(str, axes)), file, "-o", "y.npy")
                y = numpy.load(self.path("y.npy"))
                self.assertEqual(y.dtype, numpy.int64)
                numpy.testing.assert_array_equal(y, informative(x.sum(axis=axes)))
            self.succeed("argmin", "--axis", "1", file, "-o", "y.npy")
            numpy.testing.assert_array_equal(numpy.load(self.path("y.npy")), x.argmin(axis=1))
            self.succeed("var", "--axis", "0", file, "-o", "y.npy")
            numpy.testing.assert_allclose(numpy.load(self.path("y.npy")), x.var(axis=0), rtol=1e-13)
        numpy.save(self.path("h.npy"), x.astype(numpy.float16))
        self.succeed("max", "--axis", "0", "h.npy", "-o", "y.npy")
        y = numpy.load(self.path("y.npy"))
        self.assertEqual(y.dtype, numpy.float16)
        numpy.testing.assert_array_equal(y, x.max(axis=0))

    def test_refusals(self):
        _, file = self.matrix()
        self.assertIn("there is no axis 2", self.refuse("sum", "--axis", "2", file))
        self.assertIn("named twice", self.refuse("sum", "--axis", "0,-2", file))
        self.assertIn("one file", self.refuse("sum", "--axis", "0", file, file))
        self.assertIn("--keepdims goes with --axis", self.refuse("sum", "--keepdims", file))
        self.assertIn("--out goes with --axis", self.refuse("mean", "-o", "y.npy", file))
        self.assertIn("one device", self.refuse("sum", "--axis", "0", "--device", "all", file))
        self.assertIn("--partial", self.refuse("sum", "--axis", "0", "--partial", "p", file))
        self.assertIn("--json", self.refuse("sum", "--axis", "0", "--json", "-o", "y.npy", file))


if __name__ == "__main__":
    unittest.main()
