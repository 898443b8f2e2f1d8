"""The package against numpy: signatures, and results of what numpy's functions have and other tests do not compare."""
import inspect
import os
import pickle
import random
import sys
import tempfile
import unittest
from fractions import Fraction

from support.informative import informative

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")

# What numpy's functions take and these do not, and why.
LACKING = {
    "initial": "add it to the result, or to an Accumulator",
    "mean": "the exact variance needs no mean",
    "correction": "another name of ddof",
    "dtype": "products of floats have the type's own tree",
    "overwrite_input": "nothing is sorted in place",
    "interpolation": "the old name of method",
    "weights": "quantiles of weighted elements",
}


def complex_numbers(rng, shape):
    return np.array([complex(rng.uniform(-1, 1) * 2.0 ** rng.randint(-60, 60), rng.uniform(-1, 1) * 2.0 ** rng.randint(-60, 60))
                     for _ in range(int(np.prod(shape)))]).reshape(shape)


def exact_product(a, b):
    """The sum of a[i]*b[i] of complex numbers, each part rounded once."""
    real = sum(Fraction(p.real) * Fraction(q.real) - Fraction(p.imag) * Fraction(q.imag) for p, q in zip(a, b))
    imag = sum(Fraction(p.real) * Fraction(q.imag) + Fraction(p.imag) * Fraction(q.real) for p, q in zip(a, b))
    return complex(float(real), float(imag))


class Signatures(unittest.TestCase):
    def test_functions_take_what_those_of_numpy_take(self):
        lacking = {}
        for name in ("sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "prod", "count_nonzero", "any", "all", "cumsum", "quantile",
                     "median", "histogram", "histogram2d", "histogramdd"):
            ours = list(inspect.signature(getattr(samesum, name)).parameters)
            theirs = list(inspect.signature(getattr(np, name)).parameters)
            for each in theirs[1:]:  # the first is the array, by any name
                if each not in ours:
                    lacking.setdefault(each, []).append(name)
            common = [each for each in ours if each in theirs]
            self.assertEqual(common, [each for each in theirs if each in common], name)
        self.assertLessEqual(set(lacking), set(LACKING), lacking)
        self.assertEqual(lacking.get("weights", []), ["quantile"] if "weights" in lacking else [])
        self.assertEqual(lacking["dtype"], ["prod"])


class Products(unittest.TestCase):
    def test_products_of_matrices(self):
        rng = random.Random(1)
        for left, right in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 3, 4), (5, 4, 2)), ((3, 0), (0, 2))):
            a = np.array([rng.randint(-99, 99) for _ in range(int(np.prod(left)))], np.int64).reshape(left)
            b = np.array([rng.randint(-99, 99) for _ in range(int(np.prod(right)))], np.int64).reshape(right)
            found = samesum.dot(a, b)
            np.testing.assert_array_equal(found, np.dot(a, b))
            self.assertEqual(found.shape, np.dot(a, b).shape)
        a, b = np.array([[1e200, 1.0, -1e200], [0.1, 0.2, 0.3]]), np.array([[1e100, 3.0], [5.0, 7.0], [1e100, 3.0]])
        found = samesum.dot(a, b)
        wanted = [[float(sum(Fraction(p) * Fraction(q) for p, q in zip(row, column))) for column in b.T.tolist()] for row in a.tolist()]
        self.assertEqual(found.tolist(), informative(wanted))
        out = np.empty((2, 2))
        self.assertIs(samesum.dot(a, b, out=out), out)
        self.assertEqual(out.tolist(), wanted)
        big = np.array([[2**62, 2**62]])
        self.assertEqual(samesum.dot(big, big.T).tolist(), [[2**125]])
        for bad in ((a, a), (np.zeros(3), np.zeros(4)), (1.0, a), (np.int64([2**53 + 1]), np.float64([1])), (np.int64([-1]), np.uint64([2**63]))):
            with self.assertRaises(ValueError):
                samesum.dot(*bad)

    def test_matmul_and_vecdot(self):
        rng = np.random.default_rng(3)
        for left, right in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (2, 4, 5)), ((6, 1, 3, 4), (5, 4, 2)), ((4,), (7, 4, 2)),
                            ((7, 3, 4), (4,)), ((3, 0), (0, 2)), ((30, 40), (40, 50))):
            a, b = rng.integers(-99, 99, left), rng.integers(-99, 99, right)
            for kind in (np.int64, np.int8, np.float64, np.float32, np.float16):
                found = samesum.matmul(a.astype(kind), b.astype(kind))
                np.testing.assert_array_equal(found, np.matmul(a, b))
                self.assertEqual(np.shape(found), np.matmul(a, b).shape)
        a, b = rng.standard_normal((20, 30)) * 2.0 ** rng.integers(-40, 40, (20, 30)), rng.standard_normal((30, 25))
        a[:, 20:] = -a[:, :10] * 1.0
        b[20:] = b[:10]
        wanted = [[float(sum(Fraction(p) * Fraction(q) for p, q in zip(row, column))) for column in b.T.tolist()] for row in a.tolist()]
        self.assertEqual(samesum.matmul(a, b).tolist(), informative(wanted))
        self.assertEqual(samesum.matmul(np.asfortranarray(a), b[:, ::-1]).tolist(), [row[::-1] for row in wanted])
        out = np.empty((20, 25))
        self.assertIs(samesum.matmul(a, b, out=out), out)
        self.assertEqual(out.tolist(), wanted)
        self.assertEqual(samesum.vecdot(a[:, :25], b[:20]).tolist(),
                         [float(sum(Fraction(p) * Fraction(q) for p, q in zip(*rows))) for rows in zip(a[:, :25].tolist(), b[:20].tolist())])
        self.assertEqual(samesum.vecdot(a, np.ones(30)).tolist(), samesum.sum(a, axis=1).tolist())
        self.assertEqual(samesum.vecdot(a, np.ones((20, 1)), axis=0).tolist(), samesum.sum(a, axis=0).tolist())
        z, w = complex_numbers(random.Random(4), (3, 5)), complex_numbers(random.Random(5), (5, 2))
        self.assertEqual(samesum.matmul(z, w).tolist(), [[exact_product(row.tolist(), column.tolist()) for column in w.T] for row in z])
        self.assertEqual(samesum.vecdot(z, z).tolist(), [exact_product(row.conj().tolist(), row.tolist()) for row in z])
        z[0, 0] = complex(np.nan, 1)
        self.assertEqual(samesum.matmul(z, w, nan="skip")[0, 1], samesum.dot(z[0, 1:], w[1:, 1]))
        huge = np.array([[2**62, 2**62], [1, 1]])
        self.assertEqual(samesum.matmul(huge, huge.T).tolist(), [[2**125, 2**63], [2**63, 2]])
        for bad in ((a, a), (1.0, a), (a, np.ones((3, 29, 1)))):
            with self.assertRaises(ValueError):
                samesum.matmul(*bad)
        with self.assertRaises(ValueError):
            samesum.vecdot(a, a, axis=2)
        self.assertEqual(samesum.matmul(a, b, device="cpu").tolist(), wanted)

    def test_dot_of_different_types(self):
        self.assertEqual(samesum.dot([1, 2], [1.5, 2.5]), 6.5)
        self.assertEqual(samesum.dot(np.ma.array([1, 2]), np.array([0.5, 1])), 2.5)
        self.assertEqual(samesum.dot(np.float32([0.1]), np.float64([1])), float(np.float32(0.1)))
        self.assertEqual(samesum.dot(np.int8([1, -2]), np.uint64([2**63 - 1, 1])), 2**63 - 3)
        self.assertEqual(samesum.dot(np.int8([1, 2]), np.uint64([2**64 - 1, 1])), 2**64 + 1)
        self.assertEqual(samesum.dot(np.array([True, False]), np.array([2.5, 1])), 2.5)
        self.assertEqual(samesum.vdot(np.complex64([1 + 1j]), np.float64([2])), 2 - 2j)
        self.assertEqual(samesum.dot(np.ones((2, 2), int), np.float32([1.5, 2])).tolist(), [3.5, 3.5])

    def test_complex_numbers(self):
        rng = random.Random(2)
        a, b = complex_numbers(rng, 40), complex_numbers(rng, 40)
        a[:20], b[:20] = -a[20:], b[20:]
        a[3] += 1e-3 + 2e-3j
        self.assertEqual(samesum.dot(a, b), exact_product(a.tolist(), b.tolist()))
        self.assertEqual(samesum.vdot(a, b), exact_product(a.conj().tolist(), b.tolist()))
        self.assertNotEqual(samesum.dot(a, b), samesum.vdot(a, b))
        m = complex_numbers(rng, (2, 3))
        self.assertEqual(samesum.dot(m, m.T)[0, 1], exact_product(m[0].tolist(), m[1].tolist()))
        self.assertEqual(samesum.vdot(m, m).imag, 0.0)
        self.assertEqual(samesum.vdot([1j, 2], [3j, 4]), 11)
        self.assertEqual(samesum.vdot([[1, 2], [3, 4]], [[5, 6], [7, 8]]), 70)
        self.assertEqual(samesum.dot(a, b.real), exact_product(a.tolist(), b.real.tolist()))


class Reductions(unittest.TestCase):
    def test_truth_goes_where_out_says(self):
        x = np.array([[0, 1], [0, 0], [2, 3]])
        for name in ("any", "all"):
            out = np.empty(3, bool)
            self.assertIs(getattr(samesum, name)(x, axis=1, out=out), out)
            self.assertEqual(out.tolist(), getattr(np, name)(x, axis=1).tolist())
            self.assertEqual(getattr(samesum, name)(x, 1, None, True).shape, (3, 1))

    def test_several_quantiles_along_axes(self):
        x = np.random.default_rng(3).integers(0, 1000, (5, 6, 7)).astype(float)
        q = [0.25, 0.5, 1.0]
        for axis in (0, 1, (0, 2), None):
            for keep in (False, True):
                np.testing.assert_allclose(samesum.quantile(x, q, axis, keepdims=keep), np.quantile(x, q, axis, keepdims=keep), rtol=1e-15)
                self.assertEqual(samesum.quantile(x, q, axis, keepdims=keep)[1].tolist(), samesum.quantile(x, 0.5, axis, keepdims=keep).tolist()
                                 if keep or axis is not None else samesum.median(x))

    def test_products_of_integers_along_axes_are_exact(self):
        x = np.array([[2**40, 2**40], [3, 5], [2**31, 2**32]])
        self.assertEqual(samesum.prod(x, axis=1).tolist(), [2**80, 15, 2**63])
        self.assertEqual(samesum.prod(x[1:], axis=1).dtype, np.uint64)
        self.assertEqual(samesum.prod(np.array([[2**62, 2], [-1, 1]]), axis=1).tolist(), [2**63, -1])

    def test_deviations_by_key(self):
        rng = random.Random(4)
        keys, x = np.array([rng.randint(0, 5) for _ in range(200)]), np.array([rng.uniform(-1, 1) * 2.0 ** rng.randint(-50, 50) for _ in range(200)])
        keys[0] = 9
        x[1] = np.nan
        groups = samesum.groupby(keys)
        parts = [x[keys == key] for key in groups.keys]
        for ddof in (0, 1):
            wanted = [samesum.std(part[~np.isnan(part)], ddof=ddof) if np.sum(~np.isnan(part)) > ddof else np.nan for part in parts]
            np.testing.assert_array_equal(groups.std(x, ddof=ddof, nan="skip"), informative(wanted))
        np.testing.assert_array_equal(np.isnan(groups.std(x)), [np.isnan(part).any() for part in parts])


class Histograms(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(5)
        self.x, self.y = rng.normal(size=(2, 2000))
        self.w = np.array([random.Random(i).uniform(-1, 1) * 2.0 ** random.Random(i).randint(-60, 60) for i in range(2000)])

    def test_densities_are_those_of_numpy(self):
        for found, wanted in ((samesum.histogram(self.x, 7, density=True), np.histogram(self.x, 7, density=True)),
                              (samesum.histogram2d(self.x, self.y, [3, 4], density=True), np.histogram2d(self.x, self.y, [3, 4], density=True))):
            for a, b in zip(found, wanted):
                np.testing.assert_array_equal(a, b)
        self.assertIsNone(samesum.histogram(self.x, 7, density=True).variances())
        with self.assertRaises(ValueError):
            samesum.histogram(self.x, density=True, weights=self.w, squares=True)

    def test_rules_of_bins(self):
        for rule in ("auto", "sturges"):
            for a, b in zip(samesum.histogram(self.x, rule), np.histogram(self.x, rule)):
                np.testing.assert_array_equal(a, b)

    def test_weights(self):
        h = samesum.histogram(self.x, 6, (-2, 2), weights=self.w, squares=True)
        sums, edges = h
        places = [np.flatnonzero((self.x >= low) & ((self.x < high) | (high == 2) & (self.x == high))) for low, high in zip(edges, edges[1:])]
        self.assertEqual(sums.tolist(), informative([float(sum(Fraction(v) for v in self.w[place].tolist())) for place in places]))
        squares = informative([float(sum(Fraction(v) ** 2 for v in self.w[place].tolist())) for place in places])
        self.assertEqual(h.variances().tolist(), squares)
        np.testing.assert_array_equal(h.counts(), sums**2 / squares)
        self.assertIsNone(samesum.histogram(self.x, 6, weights=self.w).variances())
        self.assertIsNone(samesum.histogram(self.x, 6, weights=self.w).counts())

    def test_grids_have_axes_and_pickle(self):
        h = samesum.histogram2d(self.x, self.y, [3, 4], weights=self.w, squares=True)
        self.assertEqual(([len(axis) for axis in h.axes], h.kind, h.values().shape, len(h)), ([3, 4], "COUNT", (3, 4), 3))
        copy = pickle.loads(pickle.dumps(h))
        for a, b in zip((*copy, copy.cells, copy.squares, *copy.edges), (*h, h.cells, h.squares, *h.edges)):
            np.testing.assert_array_equal(a, b)
        counted = samesum.histogramdd([self.x, self.y, self.x], 3)
        self.assertEqual((counted.counts().tolist(), counted.variances().tolist()), (counted[0].tolist(), counted[0].tolist()))


class Tuning(unittest.TestCase):
    def test_a_device_without_kernels_and_one_with(self):
        with self.assertRaises(samesum.SamesumError):
            samesum.tune("cpu")
        kernels = [device["selector"] for device in samesum.devices() if device["selector"] != "cpu"]
        if not kernels:
            self.skipTest("there is no device that runs kernels")
        with tempfile.TemporaryDirectory() as folder:
            path, told = os.path.join(folder, "tuning.json"), []
            found = samesum.tune(kernels[0], ["sum"], [np.float32], [4096], seconds=2, path=path, progress=told.append)
            self.assertEqual((found["device"], {row["operation"] for row in found["rows"]}), (kernels[0], {"sum"}))
            self.assertTrue(all(isinstance(each, str) for each in told) and told)
            self.assertFalse(any(row["wrong"] for row in found["rows"]))

            class Stopped(Exception):
                pass

            def stop(_):
                raise Stopped

            with self.assertRaises(Stopped):
                samesum.tune(kernels[0], seconds=2, write=False, progress=stop)
            self.assertFalse(samesum.tune(kernels[0], seconds=5, write=False, progress=lambda _: False)["complete"])
            with self.assertRaisesRegex(samesum.SamesumError, "median"):
                samesum.tune(kernels[0], ["median"], path=path)


class Masked(unittest.TestCase):
    def test_masked_and_big_endian_arrays(self):
        """What is masked is left out, or refused where positions matter; along axes too."""
        rng, wanted = np.random.default_rng(5), []
        for dtype in (">f2", ">f4", ">f8", ">i4", ">u8", "<f8"):
            plain = (rng.standard_normal((40, 7)) * 100).astype(dtype) if "f" in dtype else rng.integers(0, 100, (40, 7)).astype(dtype)
            mask = rng.random(plain.shape) < 0.3
            x = np.ma.array(plain, mask=mask)
            for name in ("sum", "mean", "var", "std", "norm", "min", "max", "prod", "count_nonzero", "median", "all", "stats"):
                function = getattr(samesum, name)
                wanted.append(function(plain[~mask]))
                self.assertEqual(function(x), wanted[-1], name)
                if name != "stats":
                    self.assertEqual(function(x, axis=0).tolist(), [function(plain[~mask[:, j], j]) for j in range(7)], name)
                    self.assertEqual(function(np.ma.array(plain)), function(plain), name)
            total = sum(Fraction(each) for each in plain[~mask].tolist())
            self.assertEqual(samesum.sum(x), float(total) if "f" in dtype else int(total))
            self.assertEqual(samesum.Accumulator(x), samesum.Accumulator(plain[~mask]))
            keys = np.arange(40) % 3
            parts = [plain[(keys == key) & ~mask[:, 0], 0] for key in range(3)]
            for name in ("sum", "mean", "var", "max"):
                found = getattr(samesum.groupby(keys), name)(x[:, 0])
                self.assertEqual(found.tolist(), [getattr(samesum, name)(part) for part in parts], name)
            self.assertEqual(samesum.groupby(keys).count(x[:, 0]).tolist(), [part.size for part in parts])
            for refused in (samesum.argmin, samesum.cumsum):
                with self.assertRaises(TypeError):
                    refused(x)
            self.assertEqual(samesum.argmin(plain), samesum.argmin(plain.astype(plain.dtype.newbyteorder("<"))))
        informative([each for each in wanted if isinstance(each, float)])


if __name__ == "__main__":
    unittest.main()
