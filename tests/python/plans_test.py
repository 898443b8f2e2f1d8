"""samesum.Plan against the functions of the package and exact arithmetic."""
import math
import os
import sys
import threading
import unittest
from fractions import Fraction

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")

TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def ugly(rng, size, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, size, dtype, endpoint=True)
    top = {2: 6, 4: 60, 8: 500}[dtype.itemsize]
    x = (rng.uniform(-1, 1, size) * 2.0 ** rng.integers(-top, top, size)).astype(dtype)
    x[:size // 3] = -x[size // 3:2 * (size // 3)]
    return x


class Plans(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)

    def test_one_plan_for_arrays_of_all_sizes(self):
        for dtype in TYPES:
            like = np.zeros(1000, dtype)
            sums, dots, extrema, statistics, products = (samesum.Plan(name, like) for name in ("sum", "dot", "extrema", "statistics", "product"))
            for size in (0, 1, 7, 1000, 4097):
                x, y = ugly(self.rng, size, dtype), ugly(self.rng, size, dtype)
                sums.enqueue(x)
                self.assertEqual(sums.result(), samesum.Accumulator(x))
                if np.dtype(dtype).kind == "f":
                    self.assertEqual(sums.result().fraction(), sum(map(Fraction, x.tolist()), Fraction(0)))
                dots.enqueue(x, y)
                self.assertEqual(dots.result(), samesum.vdot(x, y))
                statistics.enqueue(x)
                self.assertEqual(statistics.result(), samesum.stats(x))
                if size:
                    extrema.enqueue(x)
                    self.assertEqual((extrema.result().min, extrema.result().max), (x.min(), x.max()))
                few = x[:5] % 7 if np.dtype(dtype).kind in "iu" else x
                products.enqueue(few)
                found, wanted = products.result(), samesum.prod(few)
                self.assertTrue(found == wanted or (math.isnan(found) and math.isnan(wanted)), (found, wanted))

    def test_records(self):
        x = ugly(self.rng, 1001, "float32")
        record = np.zeros(5)
        samesum.Plan("sum", x).enqueue(x, out=record[1:4])
        self.assertEqual(record[1], samesum.sum(x))
        self.assertEqual(record[1:].view(np.float32)[4], samesum.sum(x, dtype="float32"))
        self.assertEqual((record[0], record[4]), (0, 0))
        n = ugly(self.rng, 1001, "int32")
        samesum.Plan("sum", n).enqueue(n, out=record[:3])
        self.assertEqual(record.view(np.int64)[1], samesum.sum(n))
        whole = np.zeros(16)
        samesum.Plan("statistics", x).enqueue(x, out=whole)
        self.assertEqual(whole.view(np.uint64)[0], 1001)
        self.assertEqual(whole[5:8].tolist(), [samesum.mean(x), samesum.var(x), samesum.std(x)])

    def test_gaps_and_missing_numbers(self):
        x = ugly(self.rng, 3000, "float64")
        plan = samesum.Plan("sum", x[::3])
        for each in (x[::3], x[::-2], x.reshape(30, 100)[:, ::10], x):
            plan.enqueue(each)
            self.assertEqual(plan.result(), samesum.Accumulator(each))
        x[5] = math.nan
        record = np.zeros(3)
        for nan in ("propagate", "skip"):
            samesum.Plan("sum", x, nan).enqueue(x, out=record)
            np.testing.assert_array_equal(record[0], samesum.sum(x, nan=nan))

    def test_threads_share_a_plan(self):
        parts = [ugly(self.rng, 5000, "float64") for _ in range(4)]
        plan, records = samesum.Plan("sum", parts[0]), np.zeros((4, 3))

        def work(i):
            for _ in range(50):
                plan.enqueue(parts[i], out=records[i])
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(records[:, 0].tolist(), [samesum.sum(x) for x in parts])

    def test_errors_say_what_to_do(self):
        x = np.ones(4)
        plan = samesum.Plan("sum", x)
        for what, text in ((lambda: samesum.Plan("total", x), "sum, dot"), (lambda: samesum.Plan("sum", x, "drop"), "skip"),
                           (lambda: plan.result(), "enqueue"), (lambda: plan.enqueue(x, x), "one array"), (lambda: plan.enqueue(), "array"),
                           (lambda: plan.enqueue(np.ones(4, "f4")), "float"), (lambda: plan.enqueue(x, out=np.ones(2)), "24"),
                           (lambda: plan.enqueue(x, out=np.ones(9)[::3]), "contiguous"),
                           (lambda: samesum.Plan("sum", np.ones(9)[::2]).enqueue(np.ones((4, 9))[:, ::2]), "single run"), (lambda: samesum.Plan("dot", x).enqueue(x), "two arrays"),
                           (lambda: samesum.Plan("sum", x + 1j), "complex")):
            with self.assertRaisesRegex(samesum.SamesumError, text):
                what()


if __name__ == "__main__":
    unittest.main()
