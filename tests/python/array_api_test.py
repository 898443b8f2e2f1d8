"""samesum.array_api against exact fractions, each rounded once to the type that the standard says."""
import importlib.util
import math
import os
import random
import subprocess
import sys
import unittest
import warnings
from fractions import Fraction

from support.informative import informative

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
    import samesum.array_api as xp
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")

TYPES = ["float16", "float32", "float64"]


def nearest(q, dtype):
    """A fraction rounded once to the nearest element of a type, ties to even."""
    info = np.finfo(dtype)
    high = int(info.maxexp)
    if q == 0:
        return np.zeros((), dtype)[()]
    exponent = q.numerator.bit_length() - q.denominator.bit_length() if q > 0 else (-q).numerator.bit_length() - q.denominator.bit_length()
    if abs(q) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, int(info.minexp)) - int(info.nmant))
    value = Fraction(round(q / unit)) * unit  # Python rounds ties to even
    if abs(value) >= Fraction(2) ** high:
        return np.dtype(dtype).type(math.copysign(math.inf, value))
    return np.array(float(value)).astype(dtype)[()]


def ugly(rng, shape, dtype):
    """Few bits of few sizes, so that sums are often halfway between two elements of the type."""
    info = np.finfo(dtype)
    spread = {16: 11, 32: 24, 64: 53}[info.bits]
    values = [rng.choice([-1, 1]) * rng.choice([0.0, 1.0, 1.5, 3.0, float(info.eps)]) * 2.0 ** rng.randint(-spread, 3) for _ in range(math.prod(shape))]
    return (np.array(values) + 0.0).astype(dtype).reshape(shape)  # no -0.0


def fractions(x):
    return [Fraction(float(v)) for v in x.ravel()]


def moments(x, correction=0):
    """The mean and the variance."""
    values = fractions(x)
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - Fraction(correction))


class Exact(unittest.TestCase):
    def rows(self, x, axis):
        rest = np.moveaxis(x, axis, range(-len(axis), 0))
        return rest.reshape(-1, math.prod(x.shape[i] for i in axis))

    def same(self, found, wanted, dtype):
        self.assertEqual(found.dtype, np.dtype(dtype))
        np.testing.assert_array_equal(found.ravel().view(f"u{found.itemsize}"), np.array(wanted, dtype).view(f"u{found.itemsize}"))

    def test_each_result_is_rounded_once(self):
        rng, halfway, all_wanted = random.Random(1), 0, []
        for dtype in TYPES:
            for _ in range(40):
                shape = tuple(rng.choice([1, 2, 3, 5]) for _ in range(rng.randint(1, 3)))
                x = ugly(rng, shape, dtype)
                axis = tuple(sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape)))))
                rows = self.rows(x, axis)
                sums = [nearest(sum(fractions(row)), dtype) for row in rows]
                self.same(xp.sum(x, axis=axis), [s + 0.0 for s in sums], dtype)
                self.same(xp.mean(x, axis=axis, keepdims=True), [nearest(moments(row)[0], dtype) + 0.0 for row in rows], dtype)
                for correction in (0, 0.25):
                    wanted = [nearest(moments(row, correction)[1], dtype) for row in rows]
                    self.same(xp.var(x, axis=axis, correction=correction), wanted, dtype)
                    for deviation, row in zip(xp.std(x, axis=axis, correction=correction).ravel(), rows):
                        self.is_root(deviation, moments(row, correction)[1], dtype)
                if len(axis) == 1:
                    for found, row in zip(self.rows(xp.cumulative_sum(x, axis=axis[0]), axis), rows):
                        self.same(found, [nearest(sum(fractions(row[:i + 1])), dtype) + 0.0 for i in range(len(row))], dtype)
                halfway += sum(Fraction(float(s)) != sum(fractions(row)) for s, row in zip(sums, rows))
                all_wanted += [float(s) for s in sums]
        self.assertGreater(halfway, 50)  # results that are rounded at all
        informative(all_wanted)

    def is_root(self, found, q, dtype):
        """The square root of q rounded to nearest is the one between whose midpoints it lies."""
        here = np.dtype(dtype).type(found)
        low, high = (Fraction(float(np.nextafter(here, np.dtype(dtype).type(side)))) for side in (-np.inf, np.inf))
        middle = Fraction(float(here))
        self.assertLessEqual(max(Fraction(0), (low + middle) / 2) ** 2, q)
        self.assertGreaterEqual(((high + middle) / 2) ** 2, q)

    def test_a_second_rounding_would_show(self):
        # 1 + 2^-11 is halfway in float16; what lies beyond a float64 decides.
        for tiny, wanted in ((2.0**-24, 1 + 2.0**-10), (0.0, 1.0), (-(2.0**-24), 1.0)):
            x = np.array([1.0, 2.0**-11, tiny], np.float16)
            self.assertEqual(xp.sum(x), np.float16(wanted))
        for far, wanted in ((2.0**-149, 1 + 2.0**-23), (0.0, 1.0), (-(2.0**-149), 1.0)):
            x = np.array([[1.0, 2.0**-24, far], [0, 0, 0]], np.float32)
            self.assertEqual(xp.sum(x, axis=1)[0], np.float32(wanted))
            self.assertEqual(samesum.sum(x, axis=1, dtype=np.float32)[0], np.float32(wanted))
            self.assertEqual(xp.cumulative_sum(x, axis=1)[0, 2], np.float32(wanted))
            self.assertEqual(xp.sum(x.astype(np.complex64) * 1j, axis=1)[0], 1j * np.float32(wanted))


class Standard(unittest.TestCase):
    def test_averages_of_integers_are_float64(self):
        for dtype in ("int8", "uint16", "int64", "uint64", "bool"):
            x = np.array([[1, 1], [0, 1]]).astype(dtype)
            for found, wanted in ((xp.mean(x), 0.75), (xp.var(x), 0.1875), (xp.std(x, correction=1), 0.5), (xp.mean(x, axis=1), [1.0, 0.5]),
                                  (xp.var(x, axis=1, correction=1), [0.0, 0.5]), (xp.mean(x[:0]), math.nan)):
                np.testing.assert_array_equal(found, wanted)
                self.assertEqual(found.dtype, np.float64)
        x = np.array([2**62, 2**62 + 1, 2**62 + 1])
        self.assertEqual(xp.mean(x), float(Fraction(sum(x.tolist()), 3)))

    def test_types(self):
        for dtype, wanted in (("int8", "int64"), ("uint8", "uint64"), ("int64", "int64"), ("float32", "float32"), ("complex64", "complex64")):
            x = np.ones((2, 3), dtype)
            for function in (xp.sum, xp.prod):
                self.assertEqual(function(x).dtype, wanted)
                self.assertEqual(function(x, axis=0, keepdims=True).shape, (1, 3))
            self.assertEqual(xp.cumulative_sum(x, axis=1).dtype, wanted)
            self.assertEqual(xp.argmax(x.real, axis=1).dtype, np.int64)
        self.assertEqual(xp.sum(np.ones(3, "int8"), dtype=np.float32).dtype, np.float32)
        self.assertEqual(xp.max(np.array([1, 2], np.uint8)).dtype, np.uint8)
        self.assertEqual(xp.cumulative_prod(np.array([[2.0], [3.0]]), axis=0, include_initial=True).tolist(), [[1], [2], [6]])

    def test_what_has_no_answer(self):
        with self.assertRaisesRegex(samesum.NoAnswerError, "int8"):
            xp.sum(np.array([100, 100], np.int8), dtype=np.int8)
        with self.assertRaises(samesum.NoAnswerError):
            xp.prod(np.array([2**62, 4]))
        with self.assertRaises(samesum.NoAnswerError):
            xp.cumulative_sum(np.array([2**62, 2**62]))
        with self.assertRaises(TypeError):
            xp.cumulative_prod(np.array([1j]))
        with self.assertRaises(samesum.SamesumError):
            xp.cumulative_sum(np.ones((2, 2)))
        with self.assertRaises(samesum.SamesumError):
            xp.sum(np.ones(2), axis=1)
        for nothing in (xp.mean(np.ones((0, 2)), axis=0), xp.var(np.ones((1, 2)), axis=0, correction=1), xp.std(np.ones((1, 2)), axis=0, correction=1.5)):
            self.assertTrue(np.isnan(nothing).all() and nothing.shape == (2,))
        self.assertEqual(xp.sum(np.ones((0, 2)), axis=0).tolist(), [0.0, 0.0])
        x = np.array([1.0, np.inf, -1.0], np.float32)
        self.assertEqual((xp.sum(x), xp.mean(x)), (np.inf, np.inf))
        self.assertTrue(np.isnan(xp.var(x, correction=0.5)))

    def test_products_beyond_the_type(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x = np.array([6e4, 6e4, -1.0], np.float16)
            self.assertEqual((xp.prod(x).tolist(), xp.cumulative_prod(x).tolist()), (-math.inf, [60000.0, math.inf, -math.inf]))
            self.assertEqual(xp.prod(x).dtype, np.float16)

    def test_variances_whose_sums_have_no_float(self):
        """Sums beyond the greatest float64, and of integers beyond 64 bits."""
        x = np.array([[1.7e308, 1.7e308, -1.0], [1.0, 2.0, 6.0], [1.0, np.inf, 2.0], [1.0, np.nan, 2.0]])
        self.assertEqual(xp.var(x, axis=1, correction=0.5)[:2].tolist(), [math.inf, float(moments(x[1], 0.5)[1])])
        found = xp.std(x, axis=1, correction=0.5)
        Exact.is_root(self, found[0], moments(x[0], 0.5)[1], np.float64)
        self.assertTrue(np.isnan(found[2:]).all() and found[1] > 0)
        u = np.array([2**64 - 1, 2**64 - 1, 5], np.uint64)
        mean = Fraction(sum(u.tolist()), 3)
        self.assertEqual(xp.var(u, correction=0.5), informative(float(sum((v - mean) ** 2 for v in u.tolist()) / Fraction(5, 2))))
        self.assertEqual((xp.var(u[:2], correction=0.5), xp.std(u[:2], correction=0.5)), (0.0, 0.0))

    def test_complex_numbers_that_are_not_zero(self):
        x = np.array([[1 + 1j, 0, 1j], [0, 0, 0]])
        self.assertEqual((samesum.count_nonzero(x), samesum.count_nonzero(x, axis=1).tolist()), (2, [2, 0]))
        self.assertEqual((xp.any(x, axis=1).tolist(), xp.all(x, axis=0).tolist()), ([True, False], [False] * 3))
        self.assertTrue(samesum.all(x[0], where=[True, False, True]))

    def test_tensors_of_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int16):
            x = torch.arange(12).reshape(3, 4).to(dtype)
            found = xp.sum(x, axis=0)
            self.assertIsInstance(found, torch.Tensor)
            self.assertEqual((found.dtype, found.tolist()), (torch.int64 if dtype == torch.int16 else dtype, [12, 15, 18, 21]))
        self.assertEqual(xp.mean(torch.tensor([1e30, 3.0, -1e30, 6.0])), torch.tensor(2.25))

    def test_arrays_of_jax(self):
        if importlib.util.find_spec("jax") is None:
            self.skipTest("jax is not installed")
        # In a process of its own: JAX starts threads, and may be set to a GPU.
        code = ("import sys; sys.path.insert(0, sys.argv[1])\nimport jax, jax.numpy as jnp, samesum, samesum.array_api as xp\n"
                "jax.config.update('jax_enable_x64', True)\n"
                "for dtype in ('float16', 'bfloat16', 'float32', 'float64', 'int16', 'complex64'):\n"
                "    x = jnp.arange(12).reshape(3, 4).astype(dtype)\n"
                "    found = xp.sum(x, axis=0)\n"
                "    assert isinstance(found, jax.Array) and found.dtype == ('int64' if dtype == 'int16' else dtype), found.dtype\n"
                "    assert found.tolist() == [12, 15, 18, 21] and samesum.sum(x) == 66, found\n")
        run = subprocess.run([sys.executable, "-c", code, os.environ["SAMESUM_PYTHON_PACKAGE"]], env={**os.environ, "JAX_PLATFORMS": "cpu"},
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
