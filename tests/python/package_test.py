"""The Python package against exact arithmetic, on random shapes, strides, types and axes."""
import array
import gc
import importlib.util
import math
import os
import pathlib
import pickle
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import tracemalloc
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

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def exact(x):
    return sum((Fraction(v) for v in np.asarray(x).ravel().tolist()), Fraction(0))


def ugly(rng, shape, dtype):
    """Elements that cancel, of all sizes, with zeros."""
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [rng.randint(info.min, info.max) for _ in range(n)]
    else:
        top = {2: 14, 4: 120, 8: 1000}[dtype.itemsize]
        values = [rng.choice([0.0, -0.0, rng.uniform(-1, 1) * 2.0 ** rng.randint(-top, top)]) if rng.random() < 0.9 else 1.0 for _ in range(n)]
        values[: n // 3] = [-v for v in values[n // 3: 2 * (n // 3)]]
    return np.array(values, dtype=dtype).reshape(shape)


def views(rng):
    """Arrays of random shapes, strides and types."""
    for _ in range(150):
        dtype = rng.choice(FLOATS + INTEGERS)
        shape = tuple(rng.choice([0, 1, 2, 3, 7, 17]) for _ in range(rng.randint(1, 3)))
        x = ugly(rng, shape, dtype)
        steps = tuple(slice(None, None, rng.choice([1, 1, 2, -1, -3])) for _ in shape)
        x = x[steps]
        if rng.random() < 0.5:
            x = x.T
        if rng.random() < 0.2:
            x = x.astype(x.dtype.newbyteorder(">"))
        yield x


def same(a, b):
    return np.array_equal(np.asarray(a, dtype=np.float64).view(np.int64), np.asarray(b, dtype=np.float64).view(np.int64))


class Reductions(unittest.TestCase):
    def test_sums_are_exact(self):
        expected = []
        for x in views(random.Random(1)):
            with self.subTest(dtype=x.dtype, shape=x.shape, strides=x.strides):
                total = samesum.sum(x)
                expected.append(exact(x))
                if x.dtype.kind == "f":
                    self.assertEqual(total, float(exact(x)))
                    self.assertEqual(total, math.fsum(x.ravel().tolist()))
                else:
                    self.assertIsInstance(total, int)
                    self.assertEqual(total, int(exact(x)))
        informative(expected)

    def test_sums_along_axes_are_those_of_the_parts(self):
        expected = []
        for x in views(random.Random(2)):
            for axis in range(-x.ndim, x.ndim):
                if x.dtype.itemsize == 8 and x.dtype.kind in "iu":
                    continue
                for keep in (False, True):
                    found = samesum.sum(x, axis=axis, keepdims=keep)
                    self.assertEqual(found.shape, np.sum(x, axis=axis, keepdims=keep).shape)
                    wanted = [samesum.sum(row) for row in np.moveaxis(x, axis, -1).reshape(found.size, x.shape[axis])]
                    self.assertEqual(found.ravel().tolist(), wanted)
                    expected += wanted
        informative(expected)

    def test_lists_and_tuples(self):
        rng = random.Random(21)
        for kind in (list, tuple):
            for n in (1, 2, 7, 1000):
                x = kind(ugly(rng, (n,), "float64").tolist())
                self.assertEqual(samesum.sum(x), math.fsum(x))
                self.assertEqual(samesum.sum(kind(np.array(x))), math.fsum(x))  # of numpy.float64
                self.assertEqual(samesum.min(x), min(x))
                self.assertEqual(samesum.cumsum(x).tolist(), [math.fsum(x[:i + 1]) for i in range(n)])
            self.assertEqual((samesum.sum(kind([1.5, 2])), samesum.sum(kind([2**62, 2**62])), samesum.sum(kind([True, 1.5]))), (3.5, 2**63, 2.5))
            self.assertEqual(samesum.sum(kind([kind([1.0, 2.0]), kind([3.0, 4.0])]), axis=0).tolist(), [4.0, 6.0])
            self.assertEqual(samesum.sum(kind()), 0)
        with self.assertRaises(TypeError):
            samesum.sum([1.5, None])

    def test_averages(self):
        means, variances = [], []
        for x in views(random.Random(3)):
            if x.size == 0:
                with self.assertRaises(ArithmeticError):
                    samesum.mean(x)
                continue
            values = [Fraction(v) for v in x.ravel().tolist()]
            mean = sum(values) / len(values)
            variance = sum((v - mean) ** 2 for v in values) / len(values)
            means.append(mean)
            variances.append(variance)
            self.assertEqual(samesum.mean(x), float(mean))
            if variance < Fraction(2) ** 1024:
                self.assertEqual(samesum.var(x), float(variance))
            self.assertEqual(samesum.stats(x).mean, float(mean))
            if x.ndim > 1 and x.shape[1]:
                rows = samesum.var(x, axis=tuple(range(1, x.ndim)), ddof=0)
                self.assertEqual(rows.tolist(), [samesum.var(row) for row in x])
        informative(means)
        informative(variances)
        self.assertEqual(samesum.var([1.0, 2.0, 4.0], ddof=1), float(Fraction(7, 3)))
        self.assertEqual(samesum.var([[1.0, 2.0, 4.0]], ddof=1, axis=1).tolist(), [float(Fraction(7, 3))])
        self.assertEqual(samesum.std([1.0, 3.0]), 1.0)
        self.assertEqual(samesum.norm([3e300, 4e300]), 5e300)
        self.assertEqual(samesum.mean(np.float32([0.1, 0.2]), dtype=np.float32), float(np.float32(Fraction(float(np.float32(0.1))) / 2 + Fraction(float(np.float32(0.2))) / 2)))

    def test_extremes_agree_with_numpy(self):
        for x in views(random.Random(4)):
            if x.size == 0:
                continue
            self.assertEqual(samesum.min(x), x.min())
            self.assertEqual(samesum.max(x), x.max())
            self.assertEqual(x.ravel()[samesum.argmin(x)], x.min())
            self.assertEqual(samesum.count_nonzero(x), np.count_nonzero(x))
            self.assertEqual(samesum.any(x), bool(np.any(x)))
            self.assertEqual(samesum.all(x), bool(np.all(x)))
            for axis in range(x.ndim):
                np.testing.assert_array_equal(samesum.max(x, axis=axis), x.max(axis=axis))
                np.testing.assert_array_equal(samesum.count_nonzero(x, axis=axis), np.count_nonzero(x, axis=axis))
                np.testing.assert_array_equal(samesum.all(x, axis=axis), np.all(x, axis=axis))
        self.assertEqual(samesum.argmax(np.array([1, 5, 5])), 1)
        self.assertEqual(samesum.argmax(np.array([[1, 5, 5]]), axis=1).dtype, np.int64)

    def test_nans(self):
        x = np.array([1.0, np.nan, 2.0])
        self.assertTrue(math.isnan(samesum.sum(x)))
        self.assertEqual(samesum.sum(x, nan="skip"), 3.0)
        self.assertEqual(samesum.argmin(x), 1)
        self.assertEqual(samesum.mean(x[None], axis=1, nan="skip").tolist(), [1.5])
        with self.assertRaisesRegex(ValueError, "propagate"):
            samesum.sum(x, nan="omit")

    def test_where_and_masked_arrays(self):
        rng = random.Random(11)
        for dtype in ("float32", "int32"):
            x = ugly(rng, (7, 5), dtype)
            taken = np.array([[rng.random() < 0.6 for _ in range(5)] for _ in range(7)])
            taken[3] = True
            masked = np.ma.array(x, mask=~taken)
            for name in ("sum", "count_nonzero", "mean", "var", "min", "max", "median"):
                function = getattr(samesum, name)
                self.assertEqual(function(x, where=taken), function(x[taken]), name)
                self.assertEqual(function(masked), function(x[taken]), name)
                if not taken.any(axis=1).all():
                    continue
                wanted = [function(row[chosen]) for row, chosen in zip(x, taken)]
                self.assertEqual(function(x, axis=1, where=taken).tolist(), wanted, name)
                self.assertEqual(function(masked, axis=-1).tolist(), wanted, name)
                self.assertEqual(function(x, axis=1, where=taken, keepdims=True).shape, (7, 1), name)
            self.assertEqual(samesum.sum(x, axis=0, where=taken[:, :1]).tolist(), [samesum.sum(column[taken[:, 0]]) for column in x.T])
            self.assertEqual(samesum.any(x, axis=1, where=taken).tolist(), np.any(x, axis=1, where=taken).tolist())
            self.assertEqual(samesum.all(x, where=taken), np.all(x, where=taken))
        self.assertEqual(samesum.sum(np.ma.array([1.0, 2.0])), 3.0)
        with self.assertRaisesRegex(TypeError, "masked"):
            samesum.argmin(np.ma.array([1.0, 2.0], mask=[True, False]))
        with self.assertRaises(ValueError):
            samesum.sum(np.zeros((2, 2)), axis=2, where=[True, False])

    def test_results_go_where_out_says(self):
        x = ugly(random.Random(12), (4, 6), "float32")
        for name, dtype in (("sum", float), ("mean", float), ("norm", float), ("max", "float32"), ("argmax", np.int64), ("count_nonzero", np.int64)):
            function, out = getattr(samesum, name), np.empty((4, 3), dtype)
            self.assertIs(function(x, axis=1, out=out[:, 1]).base, out)
            self.assertEqual(out[:, 1].tolist(), function(x, axis=1).tolist(), name)
        out = np.empty((1, 1))
        samesum.mean(x, out=out, keepdims=True)
        self.assertEqual(out[0, 0], samesum.mean(x))
        out = np.empty(4)
        samesum.var(x, axis=1, ddof=1, out=out)
        self.assertEqual(out.tolist(), [samesum.var(row, ddof=1) for row in x])
        for bad in (np.empty(5), np.empty(4, "int32")):
            with self.assertRaises(samesum.SamesumError):
                samesum.mean(x, axis=1, out=bad)
            with self.assertRaises(ValueError):
                samesum.var(x, axis=1, ddof=1, out=bad)
        out.flags.writeable = False
        with self.assertRaisesRegex(TypeError, "writable"):
            samesum.mean(x, axis=1, out=out)

    def test_dots_and_products(self):
        rng = random.Random(5)
        a, b = ugly(rng, (999,), "float32"), ugly(rng, (999,), "float32")
        self.assertEqual(samesum.dot(a, b), informative(float(sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist())))))
        i, j = ugly(rng, (50,), "int64"), ugly(rng, (50,), "int64")
        self.assertEqual(samesum.dot(i, j), informative(sum(p * q for p, q in zip(i.tolist(), j.tolist()))))
        self.assertEqual(samesum.prod(i), informative(math.prod(i.tolist())))
        self.assertEqual(samesum.prod(np.array([[1.5, 2.0], [4.0, 0.5]]), axis=0).tolist(), [6.0, 1.0])

    def test_sums_of_integers_of_any_size(self):
        x = np.full(1000, -(2**63), np.int64)
        self.assertEqual(samesum.sum(x), -1000 * 2**63)
        with self.assertRaises(ArithmeticError):
            samesum.sum(x, axis=0)

    def test_complex_numbers(self):
        z = np.array([[1e16 + 1j, 1 - 1e16j], [-1e16 + 2j, 2 + 1e16j]])
        self.assertEqual(samesum.sum(z), complex(3.0, 3.0))
        self.assertEqual(samesum.sum(z, axis=1).tolist(), [samesum.sum(z[0]), samesum.sum(z[1])])
        self.assertEqual(samesum.norm(np.array([3 + 4j], np.complex64)), 5.0)
        with self.assertRaises(ValueError):
            samesum.max(z)

    def test_generators_and_sets(self):
        self.assertEqual(samesum.sum(2.0**-60 * k for k in (1, 2**60, 3)), 1 + 2.0**-58)
        self.assertEqual(samesum.mean(iter([1, 2])), 1.5)
        self.assertEqual(samesum.max({3, 1}), 3)
        self.assertEqual(samesum.sum(map(float, ["1", "2"])), 3.0)
        self.assertEqual(samesum.Accumulator(x for x in [1e16, 1.0]).fraction(), 10**16 + 1)
        self.assertEqual(samesum.sum(x for x in []), 0.0)
        with self.assertRaises(TypeError):
            samesum.sum({"a": 1})
        self.assertEqual(samesum.histogram((x for x in (1.0, 2, 3)), bins=2).counts().tolist(), [1, 2])
        self.assertEqual(samesum.histogram2d(iter([1.0, 2]), iter([1.0, 2]), 2)[0].tolist(), [[1, 0], [0, 1]])
        self.assertEqual((samesum.all(x for x in (1, 2)), samesum.all({1, 0}), samesum.any(iter([0, 0]))), (True, False, False))
        self.assertEqual(samesum.quantile([1, 2, 3], iter([0.5, 1])).tolist(), [2, 3])

    def test_sums_of_integers_beyond_64_bits_as_floats(self):
        x = np.array([[2**62] * 4, [1] * 4])
        self.assertEqual(samesum.sum(x, axis=1, dtype=np.float32).tolist(), [2.0**64, 4])
        self.assertEqual(samesum.sum(x, axis=1, dtype=float).tolist(), [2.0**64, 4])
        with self.assertRaises(samesum.NoAnswerError):
            samesum.sum(x, axis=1)

    def test_float32_results_along_axes(self):
        """With ddof, where and NaNs left out they take one pass; each is that of its elements alone, also halfway between two float32."""
        rng = np.random.default_rng(11)
        for dtype in (np.float64, np.float32, np.int32):
            x = (rng.normal(size=(50, 6)) * 1000).astype(dtype)
            if dtype is np.float64:  # sums, means and deviations that end in half a unit of a float32
                x[:20] = rng.integers(0, 8, (20, 6)) * 2.0 ** -25
                x[:20, 0] += 1
                x[:20, 1] += 2.0 ** -60 * rng.integers(-1, 2, 20)
            taken = rng.random(x.shape) < 0.8
            taken[:, :3] = True
            for name in ("sum", "mean", "var", "std", "norm"):
                function, more = getattr(samesum, name), {"ddof": 1} if name in ("var", "std") else {}
                found = function(x, axis=1, dtype=np.float32, **more)
                self.assertEqual(found.dtype, np.float32)
                self.assertEqual(found.tolist(), [function(row, dtype=np.float32, **more) for row in x], name)
                found = function(x, axis=1, dtype=np.float32, where=taken, keepdims=True, **more)
                self.assertEqual(found.shape, (50, 1))
                self.assertEqual(found[:, 0].tolist(), [function(row[t], dtype=np.float32, **more) for row, t in zip(x, taken)], name)
                if dtype is not np.int32:
                    y = np.where(taken, x, np.nan).astype(dtype)
                    found = function(y, axis=1, dtype=np.float32, nan="skip", **more)
                    self.assertEqual(found.tolist(), [function(row, dtype=np.float32, nan="skip", **more) for row in y], name)

    def test_quantiles(self):
        x = ugly(random.Random(6), (501,), "float32")
        self.assertEqual(samesum.median(x), np.sort(x)[250])
        np.testing.assert_array_equal(samesum.quantile(x, [0.0, 0.5, 1.0]), np.sort(x)[[0, 250, 500]])
        self.assertEqual(samesum.quantile([[1.0, 2.0], [5.0, 8.0]], 0.5, axis=1).tolist(), [1.5, 6.5])
        # Between two neighbours numpy rounds several times.
        rng = np.random.default_rng(7)
        for shape, axis in (((40, 9), 1), ((9, 40), 0), ((5, 6, 7), (0, 2)), ((3, 700), 1), ((12,), None)):
            for dtype in (np.float64, np.float32, np.float16, np.int64, np.uint8):
                x = (rng.normal(size=shape) * 50).astype(dtype) if dtype is not np.uint8 else rng.integers(0, 256, shape, dtype)
                for q in (0.5, [0.0, 0.3, 1.0]):
                    found = samesum.quantile(x, q, axis=axis, keepdims=True)
                    np.testing.assert_allclose(found, np.quantile(x.astype(np.float64), q, axis=axis, keepdims=True), rtol=1e-14, atol=1e-13)
                    found = samesum.quantile(x, q, axis=axis, keepdims=True, method="nearest")
                    self.assertEqual(found.dtype, dtype)
                if axis is not None and dtype is not np.uint8:
                    taken = rng.random(shape) < 0.8
                    some = samesum.median(x, axis=axis, where=taken)
                    self.assertEqual(some.tolist(), np.ma.median(np.ma.array(x.astype(np.float64), mask=~taken), axis=axis).tolist())
        out = np.zeros(2)
        for dtype in (np.int8, np.uint16, np.float32):  # one type, whatever `where` is
            x = np.array([[1, 2, 3], [4, 5, 6]], dtype)
            found = samesum.quantile(x, 0.5, axis=1, where=[[True, True, False], [True, False, True]], method="lower")
            self.assertEqual((found.dtype, found.tolist()), (dtype, [1, 4]))
        found = samesum.median(np.ma.array([1.0, 3.0, 5], mask=[1, 0, 0]), axis=0)
        self.assertEqual((type(found), found.shape, found.dtype, float(found)), (np.ndarray, (), np.float64, 4.0))
        self.assertIs(samesum.median([[1, 2], [5, 8]], axis=0, out=out), out)
        self.assertEqual(out.tolist(), [3, 5])

    def test_formulas(self):
        self.assertEqual(samesum.reduce(np.array([12, 18, 30]), "gcd(a, b)", 0), 6)
        self.assertEqual(samesum.map("m*x^2", x=np.array([1.0, 2.0]), m=3.0).tolist(), [3.0, 12.0])
        with self.assertRaises(ValueError):
            samesum.map("m*", m=1)
        x, w = ugly(random.Random(13), (300,), "float64"), np.ones(300)
        self.assertEqual(samesum.sum_map("w*x", w=w, x=x), informative(math.fsum(x.tolist())))
        self.assertEqual(samesum.sum_map("x^2 - m", x=np.arange(4), m=1), 10)

    def test_along_axes(self):
        rng = np.random.default_rng(2)
        x, y = rng.random((5, 6, 7)), rng.random(7)
        for axis in (0, 1, -1, (0, 2), (0, 1, 2), ()):
            values = samesum.map("x*y", x=x, y=np.broadcast_to(y, x.shape))
            self.assertEqual(samesum.sum_map("x*y", axis=axis, x=x, y=y).tolist(), samesum.sum(values, axis=axis).tolist())
        self.assertEqual(samesum.sum_map("i", axis=0, keepdims=True, x=x).tolist(), np.arange(210).reshape(5, 6, 7).sum(0, keepdims=True).tolist())
        n = rng.integers(1, 1000, (4, 30))
        self.assertEqual(samesum.reduce(n, "gcd(a, b)", axis=1).tolist(), [samesum.reduce(row, "gcd(a, b)") for row in n])
        self.assertEqual(samesum.reduce(x, "a*0.5 + b", axis=1).tolist(),
                         [[samesum.reduce(x[i, :, k], "a*0.5 + b") for k in range(7)] for i in range(5)])
        self.assertEqual(samesum.reduce(n[:0], "gcd(a, b)", 0, axis=0).tolist(), [0] * 30)
        with self.assertRaises(samesum.SamesumError):
            samesum.reduce(n, "a*b", axis=2)
        for dtype in "f2", "f4", "f8", "i1", "u8", "?":
            z = (rng.random((3, 4, 5)) * 2).astype(dtype)
            for axis in (0, 1, (0, 2)):
                found = samesum.prod(z, axis=axis)
                rest = np.moveaxis(z, axis, range(-len(np.atleast_1d(axis)), 0))
                shape = found.shape
                wanted = [samesum.prod(rest[at]) for at in np.ndindex(shape)]
                self.assertEqual(found.ravel().tolist(), wanted)
                self.assertEqual(found.dtype, np.float64 if dtype[0] == "f" else np.int64)
        self.assertEqual(samesum.prod(np.array([[1, 2], [np.nan, 4]]), axis=0, nan="skip").tolist(), [1, 8])
        self.assertEqual(samesum.prod(np.array([[1j, 2], [3, 4]]), axis=0).tolist(), [3j, 8])
        self.assertEqual(samesum.reduce(np.array([], np.int64), "gcd(a, b)", 0), 0)

    def test_statistics(self):
        x = ugly(random.Random(14), (501,), "float32")
        values = [Fraction(v) for v in x.tolist()]
        mean = sum(values) / len(values)
        found = samesum.stats(x[:200])
        found += samesum.stats(x[200:])
        whole = samesum.stats(x)
        self.assertEqual(found, whole)
        self.assertEqual(found.serialize(), whole.serialize())
        self.assertEqual(pickle.loads(pickle.dumps(found)), whole)
        self.assertEqual((whole.count, whole.nan_count, whole.mean, whole.sum), (501, 0, informative(float(mean)), float(sum(values))))
        self.assertEqual(whole.var(ddof=1), float(sum((v - mean) ** 2 for v in values) / 500))
        for name in ("norm", "min", "max", "argmin", "argmax", "std", "var"):
            value = getattr(whole, name)
            self.assertEqual(value() if callable(value) else value, getattr(samesum, name)(x), name)
        self.assertEqual(samesum.stats(np.array([2**62, 2**62, 2**62])).sum, 3 * 2**62)
        self.assertTrue(math.isnan(samesum.stats([1.0, math.nan]).mean))
        self.assertEqual(samesum.stats([1.0, math.nan]).var(nan="skip"), 0.0)
        with self.assertRaisesRegex(samesum.NoAnswerError, "no elements"):
            samesum.stats([]).mean


class Arrays(unittest.TestCase):
    def test_objects_that_are_no_arrays_of_numpy(self):
        self.assertEqual(samesum.sum(array.array("d", [1.0, 2.0])), 3.0)
        self.assertEqual(samesum.sum(b"\x01\x02"), 3)
        self.assertEqual(samesum.sum([1e16, 1.0, -1e16]), 1.0)
        self.assertEqual(samesum.sum(np.array([True, True, False])), 2)
        self.assertEqual(samesum.sum(3.5), 3.5)

    def test_what_is_no_number_is_refused(self):
        for x in (np.array(["a"]), np.array([object()]), np.zeros(2, "i4,f8"), np.array([1], "M8[s]")):
            with self.assertRaises(TypeError):
                samesum.sum(x)
        with self.assertRaisesRegex(ValueError, "axis 2"):
            samesum.sum(np.zeros((2, 2)), axis=2)
        with self.assertRaises(ValueError):
            samesum.sum(np.zeros(3), device="nothing:0")

    def test_interface_of_gpus(self):
        class There:
            def __init__(self, typestr, shape):
                self.__cuda_array_interface__ = {"typestr": typestr, "shape": shape, "data": (0, True), "version": 3, "strides": None}

        self.assertEqual(samesum.sum(There("<f4", (0, 3))), 0.0)
        self.assertEqual(samesum.sum(There("<i4", (3, 0)), axis=1).tolist(), [0, 0, 0])
        for typestr in (">f4", "<M8", "|V8"):
            with self.assertRaises(TypeError):
                samesum.sum(There(typestr, (0,)))

    def optional(self, name):
        try:
            return __import__(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")

    def test_torch(self):
        self.assertEqual(samesum.sum(self.optional("torch").tensor([1.0, 2.0])), 3.0)

    def test_bfloat16(self):
        x = np.array([1.0, 2.5]).astype(self.optional("ml_dtypes").bfloat16)
        self.assertEqual(samesum.sum(x), 3.5)


class Objects(unittest.TestCase):
    def test_accumulators(self):
        x = ugly(random.Random(7), (1000,), "float64")
        whole = samesum.Accumulator().add(x)
        parts = samesum.Accumulator().add(x[600:]) + samesum.Accumulator().add(x[:600])
        self.assertEqual(whole, parts)
        self.assertEqual(whole.fraction(), informative(exact(x)))
        self.assertEqual(pickle.loads(pickle.dumps(whole)), whole)
        self.assertEqual(float(whole), samesum.sum(x))
        self.assertEqual(whole.count, 1000)
        with self.assertRaises(ArithmeticError):
            samesum.Accumulator().add(math.inf).fraction()
        with self.assertRaises(ValueError):
            samesum.Accumulator.deserialize(b"nothing")
        damaged = bytearray(whole.serialize())
        damaged[30] ^= 1
        with self.assertRaises(samesum.SamesumError):
            samesum.Accumulator.deserialize(damaged)
        self.assertEqual(sum(samesum.Accumulator(x[i::7]) for i in range(7)), whole)
        with self.assertRaisesRegex(TypeError, "only another one is added, or 0"):
            1 + whole
        words = samesum.Accumulator(x[:7]).words() + samesum.Accumulator(x[7:]).words()
        self.assertEqual(samesum.Accumulator.from_words(words), whole)
        with self.assertRaisesRegex(ValueError, "82 words"):
            samesum.Accumulator.from_words(words[1:])
        total = samesum.Accumulator(np.array([2**62] * 5))
        self.assertEqual((total.value(), samesum.Accumulator([0.5]).value()), (5 * 2**62, 0.5))
        self.assertIs(total.merge(whole), total)

    def test_histograms(self):
        x = np.random.default_rng(8).normal(size=10001).astype(np.float32)
        counts, edges = samesum.histogram(x, 20, (-2.0, 2.0))
        np.testing.assert_array_equal(edges, np.linspace(-2, 2, 21))
        wanted = [int(np.sum((x.astype(np.float64) >= lo) & (x.astype(np.float64) < hi))) for lo, hi in zip(edges, edges[1:])]
        self.assertEqual(counts.tolist(), informative(wanted))
        h = samesum.histogram(np.array([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan]), [0.0, 0.5, 1.0])
        self.assertEqual((h.under, h.counts().tolist(), h.over, h.nan_count, h.total), (1, [1, 2], 1, 1, 6))
        self.assertEqual(pickle.loads(pickle.dumps(h)), h)
        self.assertEqual((h[0].tolist(), h[-1].tolist(), len(h)), ([1, 2], [0.0, 0.5, 1.0], 2))  # numpy's pair
        self.assertEqual((h + h).total, 12)
        self.assertEqual((h.kind, list(h.axes[0]), h.axes[0][-1]), ("COUNT", [(0.0, 0.5), (0.5, 1.0)], (0.5, 1.0)))
        self.assertEqual((h.values().tolist(), h.variances().tolist(), len(h.axes[0])), ([1.0, 2.0], [1.0, 2.0], 2))
        self.assertEqual(h.axes, (h + h).axes)
        self.assertEqual(samesum.histogram(np.arange(10)).counts().tolist(), np.histogram(np.arange(10))[0].tolist())

    def test_devices(self):
        x = ugly(random.Random(9), (5000,), "float32")
        for device in samesum.devices():
            self.assertEqual(samesum.sum(x, device=device["selector"]), informative(math.fsum(x.tolist())))
            self.assertEqual(samesum.sum(x, device=samesum.Device(device["selector"])), math.fsum(x.tolist()))
        self.assertEqual(samesum.Device("cpu").selector, "cpu")
        with self.assertRaises(samesum.SamesumError):
            samesum.Device("no such device")


class Process(unittest.TestCase):
    def test_threads(self):
        x = ugly(random.Random(10), (100000,), "float64")
        wanted, found = informative(math.fsum(x.tolist())), []
        threads = [threading.Thread(target=lambda: found.extend(samesum.sum(x) for _ in range(20))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 80)

    def test_subinterpreters_are_refused(self):
        try:
            import _interpreters as interpreters
        except ImportError:
            try:
                import _xxsubinterpreters as interpreters
            except ImportError:
                self.skipTest("this Python has no module for subinterpreters")
        with tempfile.TemporaryDirectory() as folder:
            told = os.path.join(folder, "told")
            code = (f"import sys, warnings; warnings.simplefilter('ignore'); sys.path[:] = {sys.path!r}\ntry:\n    import samesum\n    text = 'imported'\n"
                    f"except ImportError as error:\n    text = str(error)\nopen({told!r}, 'w').write(text)")
            run = [sys.executable, "-c", f"import {interpreters.__name__} as i; i.run_string(i.create(), {code!r})"]
            subprocess.run(run, check=True, capture_output=True)
            text = open(told).read()
        self.assertRegex(text, "samesum.*does not support loading in subinterpreters")

    def test_calls_leak_nothing(self):
        x = np.arange(12.0).reshape(3, 4)
        references = sys.getrefcount(x)

        def calls():
            for _ in range(1000):
                samesum.sum(x), samesum.sum(x, axis=0), samesum.stats(x), samesum.histogram(x, 3).counts()
                try:
                    samesum.sum(x, axis=5)
                except ValueError:
                    pass

        calls()
        tracemalloc.start()
        calls()
        gc.collect()
        before = tracemalloc.take_snapshot()
        calls()
        gc.collect()
        grown = sum(each.size_diff for each in tracemalloc.take_snapshot().compare_to(before, "filename"))
        tracemalloc.stop()
        self.assertLess(grown, 20000)
        self.assertEqual(sys.getrefcount(x), references)

    def test_a_signal_ends_the_work(self):
        class Stopped(Exception):
            pass

        def stop(*_):
            raise Stopped

        previous = signal.signal(signal.SIGUSR1, stop)
        try:
            x = np.ones(1 << 20)
            with self.assertRaises(Stopped):
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
                while True:
                    samesum.stats(x)
        finally:
            signal.signal(signal.SIGUSR1, previous)


class Documents(unittest.TestCase):
    def test_examples_run(self):
        """Every line; what a comment that is a value says is compared with what the line gives; a line that compares holds."""
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
        seen = set()
        for page in pages:
            for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
                seen.add(page.name)
                lacking = [name for name in ("torch", "dask") if f"import {name}" in block and importlib.util.find_spec(name) is None]
                if lacking:
                    print(f"an example of {page.name} was not run: {lacking[0]} is not installed")
                    continue
                names = {}
                for line in block.splitlines():
                    with self.subTest(page=page.name, line=line):
                        code, _, said = line.partition("  # ")
                        exec(code, names)
                        if re.match(r"[-\d.]+$|array\(", said):
                            self.assertEqual(repr(eval(code, names)), said.strip())
                        elif " == " in code:
                            self.assertTrue(eval(code, names))
        self.assertLessEqual({"README.md", "python.md", "distributed.md", "quick-start.md", "how-to.md", "tasks.md"}, seen)


if __name__ == "__main__":
    unittest.main()
