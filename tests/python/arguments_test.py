"""Arguments of other types than a function's own: masks of integers, integers of more than 64 bits, narrower results, and so on."""
import math
import os
import random
import sys
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


class Masks(unittest.TestCase):
    def test_masks_of_integers_are_masks(self):
        x = [10.0, 20.0, 30.0]
        masks = ([0, 0, 1], np.array([0, 0, 1]), np.array([0, 0, 1], np.uint8), [False, False, True], np.array([False, False, True], object))
        for where in masks:
            for name in ("sum", "mean", "norm", "min", "max", "prod", "median"):
                self.assertEqual(getattr(samesum, name)(x, where=where), 30.0, name)
            self.assertEqual((samesum.var(x, where=where), samesum.count_nonzero(x, where=where)), (0.0, 1))
            self.assertEqual((samesum.any([1, 1, 0], where=where), samesum.all([0, 0, 1], where=where)), (False, True))
            self.assertEqual(samesum.sum([x, x], axis=1, where=where).tolist(), [30.0, 30.0])
            self.assertEqual(samesum.sum(np.array([1, 2, 4], "m8[s]"), where=where), np.timedelta64(4, "s"))
            self.assertEqual(samesum.sum(np.ma.array(x, mask=[0, 1, 0]), where=[1, 1, 0]), 10.0)
        self.assertEqual((samesum.sum(x, where=1), samesum.sum(x, where=np.True_), samesum.sum(x, where=0)), (60.0, 60.0, 0.0))

    def test_other_masks_are_refused(self):
        for where in ([0.0, 0.0, 1.0], [0, 2, 1], np.array([0, -1, 1]), ["a", "b", ""], [None, True, True], None):
            for x in ([1.0, 2.0, 3.0], np.array([1, 2, 3], "m8[s]")):
                with self.assertRaisesRegex(TypeError, "where"):
                    samesum.sum(x, where=where)

    def test_masks_of_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not there")
        where = pandas.array([False, False, True], "boolean")
        self.assertEqual(samesum.sum([10.0, 20.0, 30.0], where=where), 30.0)
        self.assertEqual(samesum.mean([10.0, 20.0, 30.0], where=pandas.Series(where)), 30.0)
        with self.assertRaises(TypeError):
            samesum.sum([10.0, 20.0, 30.0], where=pandas.array([False, None, True], "boolean"))


class Integers(unittest.TestCase):
    LISTS = ([2**63, -1], [-1, 2**64 - 1], [2**64], [2**100, -(2**100), 1], [[2**63, -1], [5, -2**63]], [np.int64(-1), np.uint64(2**53 + 1)],
             (2**64 - 1, -(2**63)), [2**53 + 1, 2**64, -7])

    def test_lists_of_integers_of_any_size(self):
        sums = []
        for x in self.LISTS:
            flat = [int(each) for each in np.array(x, object).flat]
            sums.append(sum(flat))
            for name, wanted in (("sum", sum(flat)), ("min", min(flat)), ("max", max(flat)), ("argmin", flat.index(min(flat))),
                                 ("argmax", flat.index(max(flat)))):
                found = getattr(samesum, name)(x)
                self.assertEqual((found, type(found)), (wanted, int), (name, x))
            self.assertEqual(samesum.mean(x), float(Fraction(sum(flat), len(flat))))
        informative(sums)

    def test_what_would_round_them_is_refused(self):
        for x in self.LISTS:
            for function in (samesum.var, samesum.norm, samesum.prod, samesum.cumsum, samesum.Accumulator, samesum.stats, samesum.median,
                             lambda each: samesum.sum(each, axis=0), lambda each: samesum.dot(each, each),
                             lambda each: samesum.sum(each, where=[True] * len(each[0] if isinstance(each[0], list) else each))):
                with self.assertRaisesRegex(TypeError, "fit neither int64 nor uint64|no numbers that it knows"):
                    function(x)

    def test_floats_of_any_size_stay_floats(self):
        for x in ([[1e300, 1.0], [-1e300, 2.0]], [math.inf, 1], [2**53, 0.5]):
            self.assertIsInstance(samesum.sum(x), float)


class Indices(unittest.TestCase):
    def test_negative_indices_are_refused(self):
        for x, weights in (([-1], None), ([-1], [1.0]), ([-5, 2], None), (np.array([-1, -2], np.int8), None)):
            with self.assertRaisesRegex(samesum.SamesumError, "element 0 has the index"):
                samesum.bincount(x, weights)
        with self.assertRaises(samesum.SamesumError):
            samesum.bincount(np.array([2**64 - 1, 3], np.uint64))

    def test_counts_of_all_types(self):
        rng = np.random.default_rng(1)
        for dtype in ("int8", "uint8", "int16", "uint32", "int64", "uint64", ">i4"):
            x = rng.integers(0, 100, 1000).astype(dtype)
            found = samesum.bincount(x, minlength=120)
            self.assertEqual((found.tolist(), found.dtype), ([x.tolist().count(i) for i in range(120)], np.int64))
        self.assertEqual(samesum.bincount([], minlength=2).tolist(), [0, 0])

    def test_narrow_indices_from_the_end(self):
        for dtype in ("int8", "int16", "int32", "int64"):
            out = np.zeros(300)
            samesum.add_at(out, np.array([-1, -1, 0], dtype), [1.0, 2.0, 4.0])
            self.assertEqual((out[299], out[0], out.sum()), (3.0, 4.0, 7.0))


if __name__ == "__main__":
    unittest.main()
