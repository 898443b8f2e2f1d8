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

    def test_along_axes(self):
        names = ("sum", "mean", "var", "std", "norm", "min", "max", "argmin", "argmax", "count_nonzero")
        for dtype in TYPES:
            for like, axes in ((np.zeros((7, 33), dtype), (0, 1, -1, (0, 1))), (np.zeros((3, 4, 10), dtype)[:, ::-1, ::3], (0, (2, -3), 1)),
                               (np.zeros(9, dtype), (0,))):
                x = like.copy() if like.flags.c_contiguous else np.zeros((3, 4, 10), dtype)[:, ::-1, ::3]
                x[...] = ugly(self.rng, x.size, dtype).reshape(x.shape)
                if np.dtype(dtype).kind in "iu":
                    x //= np.array(100 if x.itemsize < 8 else 1000, dtype)  # so that sums fit into 64 bits
                for axis in axes:
                    for name in names:
                        for keepdims in (False, True):
                            plan = samesum.Plan(name, like, axis=axis, keepdims=keepdims)
                            for _ in range(2):
                                plan.enqueue(x)
                                found, wanted = plan.result(), getattr(samesum, name)(x, axis=axis, keepdims=keepdims)
                                self.assertEqual(found.dtype, wanted.dtype, (name, dtype))
                                np.testing.assert_array_equal(found, wanted, name)
        y = x = ugly(self.rng, 600, "float64").reshape(20, 30)
        y = y.copy()
        y[3, 4] = math.nan
        for nan in ("propagate", "skip"):
            out = np.zeros(20)
            samesum.Plan("sum", x, nan, axis=1).enqueue(y, out=out)
            np.testing.assert_array_equal(out, samesum.sum(y, axis=1, nan=nan))
        self.assertEqual([Fraction(each) for each in samesum.sum(x, axis=1).tolist()],
                         [Fraction(float(sum(map(Fraction, row)))) for row in x.tolist()])

    def test_histograms(self):
        for dtype in TYPES:
            like = ugly(self.rng, 1000, dtype)
            for bins, limits in ((7, None), (16, (-3.0, 5.0)), ([-1e30, -2.0, 0.0, 0.1, 77.0], None), (70000, (0, 100))):
                plan = samesum.Plan.histogram(like, bins, limits)
                edges = samesum.histogram(like, bins, limits).edges
                for size in (0, 1, 1000, 4097):
                    x = ugly(self.rng, size, dtype)
                    if np.dtype(dtype).kind == "f" and size:
                        x[:1] = math.nan
                    wanted = samesum.histogram(x, edges if limits is None else bins, limits)
                    counts = np.full(wanted.counts().size + 3, 99, np.uint64)
                    plan.enqueue(x, out=counts)
                    plan.enqueue(x)
                    found = plan.result()
                    self.assertEqual(found.counts().tolist(), wanted.counts().tolist())
                    self.assertEqual((found.under, found.over, found.nan_count), (wanted.under, wanted.over, wanted.nan_count))
                    self.assertEqual(counts.tolist(), [found.under, *found.counts().tolist(), found.over, found.nan_count])
                    self.assertEqual(found.total, size)

    def test_pairs(self):
        cases = (("sqdist", "argmin", {}), ("product", "sum", {}), ("absdiff", "max", {}), ("sqdist", "argsmallest", {"k": 3}),
                 ("sqdist(a, b)", "smallest", {"k": 2}), ("product", "sum", {"accuracy": "compensated"}))
        for dtype in ("float32", "float64", "int16"):
            for shape in ((), (3,)):
                a, b = (ugly(self.rng, n * (shape or (1,))[0], dtype).reshape(n, *shape) for n in (31, 57))
                for f, reduction, options in cases:
                    if shape and f == "absdiff" or not shape and f == "sqdist(a, b)" or dtype == "int16" and (f == "sqdist(a, b)" or reduction == "sum"):
                        continue
                    plan = samesum.Plan.pairs(a, b, f, reduction, **options)
                    for x, y in ((a, b), (a[:5], b[:40]), (b, a), (a[:0], b)):
                        wanted = samesum.pairs(x, y, f, reduction, **options)
                        plan.enqueue(x, y)
                        found = plan.result()
                        self.assertEqual(found.dtype, wanted.dtype)
                        if len(x):
                            np.testing.assert_array_equal(found, wanted, (f, reduction))
                        out = np.zeros(wanted.shape, wanted.dtype)
                        plan.enqueue(x, y, out=out)
                        np.testing.assert_array_equal(out, wanted, (f, reduction))
        a, b, q = (ugly(self.rng, n, "float64") for n in (9, 20, 20))
        for how in ({"f": "q*exp(-s*sqdist(a, b))", "inputs": {"q": q, "s": 0.5}}, {"f": "product", "weights": q},
                    {"f": "difference", "combine": "a + s*b", "identity": 0.0, "inputs": {"s": 2.0}}):
            plan = samesum.Plan.pairs(a, b, **how)
            plan.enqueue(a[::-1].copy(), b)
            np.testing.assert_array_equal(plan.result(), samesum.pairs(a[::-1], b, **how))

    def test_formulas(self):
        for dtype, formula, m in (("float32", "m*x - y", 3.5), ("float64", "m*x - y", 3.5), ("float16", "x < y ? m : y", 0.25), ("int32", "min(x, y) & m", 1023)):
            x, y = np.ones(50, dtype), np.ones(50, dtype)
            plan = samesum.Plan.map(formula, y=y, m=m, x=x)
            for size in (0, 1, 50, 1001):
                x, y = ugly(self.rng, size, dtype), ugly(self.rng, size, dtype)
                values = samesum.map(formula, x=x, y=y, m=m)
                record = np.zeros(16)
                plan.enqueue(y, x, out=record)
                self.assertEqual(plan.result(), samesum.stats(values), (dtype, size))
                self.assertEqual(record.view(np.uint64)[0], size)
                if size:
                    self.assertEqual(record[5:8].tolist(), [samesum.mean(values), samesum.var(values), samesum.std(values)])
        with_gap = np.array([1.0, math.nan, 3.0])
        plan = samesum.Plan.map("x^2", "skip", x=with_gap)
        record = np.zeros(16)
        plan.enqueue(with_gap, out=record)
        self.assertEqual(record[2], 10.0)

    def test_operators(self):
        for dtype, formula, identity, numbers in (("float64", "b == 0 ? a : b", None, {}), ("float32", "a*s + b", 0.0, {"s": 0.5}),
                                                  ("int64", "min(a, b)", 2**63 - 1, {}), ("uint32", "a | b", 0, {}), ("int32", "a & b", -1, {})):
            plan = samesum.Plan.reduce(np.zeros(100, dtype), formula, identity, **numbers)
            for size in (1, 2, 100, 5003):
                x = ugly(self.rng, size, dtype)
                wanted, word = samesum.reduce(x, formula, identity, **numbers), np.zeros(1, np.int64)
                plan.enqueue(x)
                self.assertEqual(plan.result(), wanted)
                plan.enqueue(x, out=word)
                read = word.view({"float64": "f8", "float32": "f4", "uint32": "u8"}.get(dtype, "i8"))[0]
                self.assertEqual(read, wanted, (dtype, formula))
            if identity is not None:
                plan.enqueue(np.zeros(0, dtype))
                self.assertEqual(plan.result(), identity)

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
        with self.assertRaisesRegex(TypeError, "^samesum: the operation has to be a text, not 3$"):
            samesum.Plan(3, x)
        for what, text in ((lambda: samesum.Plan("total", x), "sum, dot"), (lambda: samesum.Plan("sum", x, "drop"), "skip"),
                           (lambda: plan.result(), "enqueue"), (lambda: plan.enqueue(x, x), "one array"), (lambda: plan.enqueue(), "array"),
                           (lambda: plan.enqueue(np.ones(4, "f4")), "float"), (lambda: plan.enqueue(x[::2]), "make the plan for an array with gaps"), (lambda: plan.enqueue(x, out=np.ones(2)), "24"),
                           (lambda: plan.enqueue(x, out=np.ones(9)[::3]), "contiguous"),
                           (lambda: samesum.Plan("sum", np.ones(9)[::2]).enqueue(np.ones((4, 9))[:, ::2]), "single run"), (lambda: samesum.Plan("dot", x).enqueue(x), "two arrays"),
                           (lambda: samesum.Plan("sum", x + 1j), "complex"), (lambda: samesum.Plan("mean", x), "with axis"),
                           (lambda: samesum.Plan("total", x, axis=0), "count_nonzero"), (lambda: samesum.Plan("sum", x, axis=1), "axis 1"),
                           (lambda: samesum.Plan("sum", x, axis=0).enqueue(x[:3]), r"shape \(4\)"), (lambda: samesum.Plan("mean", x[:0], axis=0).enqueue(x[:0]), "mean"),
                           (lambda: samesum.Plan.histogram(x, [2.0, 1.0]), "."), (lambda: samesum.Plan.histogram(x, 3, (0, 1)).enqueue(x, out=np.zeros(5, np.uint64)), "48 bytes"),
                           (lambda: samesum.Plan.map("3*m", m=4), "no array"), (lambda: samesum.Plan.map("gcd(x, x)", x=np.ones(4, int)), "fail"), (lambda: samesum.Plan.reduce(x, "a +"), "."),
                           (lambda: samesum.Plan.pairs(x, x, "absdiff").enqueue(x, x[:0]), "empty"), (lambda: samesum.Plan.pairs(x, x[None]), "axis"),
                           (lambda: samesum.Plan.map("x*y", x=x, y=x).enqueue(x), "2 inputs"),
                           (lambda: samesum.Plan.pairs(np.ones(3, "i4"), np.ones(3, "i4")), "failed")):
            with self.assertRaisesRegex(samesum.SamesumError, text):
                what()


if __name__ == "__main__":
    unittest.main()
