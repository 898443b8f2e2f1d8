"""Groups, scans, histograms over several axes and pairs of the Python package against exact arithmetic, on random arrays."""
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


def ugly(rng, n, dtype):
    """Elements that cancel, of all sizes."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return np.array([rng.randint(info.min // 4096, info.max // 4096) for _ in range(n)], dtype)
    top = {4: 100, 8: 450}[np.dtype(dtype).itemsize]  # of which the squares are finite
    x = np.array([rng.choice([0.0, rng.uniform(-1, 1) * 2.0 ** rng.randint(-top, top)]) for _ in range(n)], dtype)
    x[: n // 3] = -x[n // 3: 2 * (n // 3)]
    return x


def layouts(rng, x):
    yield x
    yield x[::-1]
    yield x[::2]
    yield np.repeat(x, 2)[1::2]


def exact(values):
    return sum((Fraction(v) for v in values), Fraction(0))


def rounded(total, dtype):
    return int(total) if np.dtype(dtype).kind in "iu" else float(total)


class Groups(unittest.TestCase):
    def test_each_group_is_that_of_its_elements_alone(self):
        rng = random.Random(1)
        sums, variances = [], []
        for dtype in ("float32", "float64", "int32", "int64", "uint8"):
            for n in (0, 1, 7, 500):
                for x in layouts(rng, ugly(rng, n, dtype)):
                    keys = np.array([rng.choice([-5, 3, 4, 900]) for _ in range(len(x))], np.int32)
                    groups = samesum.groupby(keys)
                    self.assertEqual(groups.keys.tolist(), sorted(set(keys.tolist())))
                    parts = [x[keys == key] for key in groups.keys]
                    self.assertEqual(groups.sum(x).tolist(), [samesum.sum(part) for part in parts])
                    self.assertEqual(groups.sum(x).tolist(), [rounded(exact(part.tolist()), dtype) for part in parts])
                    self.assertEqual(groups.mean(x).tolist(), [samesum.mean(part) for part in parts])
                    self.assertEqual(groups.median(x).tolist(), [float(samesum.median(part)) for part in parts])
                    self.assertEqual(groups.norm(x).tolist(), [samesum.norm(part) for part in parts])
                    self.assertEqual(groups.std(x).tolist(), [samesum.std(part) for part in parts])
                    self.assertEqual(groups.count_nonzero(x).tolist(), [np.count_nonzero(part) for part in parts])
                    places = [np.flatnonzero(keys == key) for key in groups.keys]
                    self.assertEqual(groups.argmin(x).tolist(), [place[samesum.argmin(part)] for place, part in zip(places, parts)])
                    self.assertEqual(groups.argmax(x).dtype, np.int64)
                    found = groups.reduce(x, "b[0] > a[0] ? b : a", map="(x, i)")
                    self.assertEqual(found[1].tolist(), [place[part.argmax()] for place, part in zip(places, parts)])
                    self.assertEqual(groups.reduce(x, "b*0.5 + a/2").tolist(), [samesum.reduce(part, "b*0.5 + a/2") for part in parts])
                    if x.dtype.kind == "f" or len(x) < 8:
                        small = x if x.dtype.kind == "f" else (x % 7).astype(dtype)
                        wanted = [samesum.prod(small[keys == key]) for key in groups.keys]
                        self.assertEqual(str(groups.prod(small).tolist()), str(wanted))  # of some NaN: infinity times 0
                    self.assertEqual(groups.quantile(x, [0.1, 0.9], "nearest").tolist(),
                                     [[samesum.quantile(part, q, method="nearest") for part in parts] for q in (0.1, 0.9)])
                    self.assertEqual(groups.var(x).tolist(), [samesum.var(part) for part in parts])
                    self.assertEqual(groups.min(x).tolist(), [samesum.min(part) for part in parts])
                    self.assertEqual(groups.max(x).tolist(), [samesum.max(part) for part in parts])
                    self.assertEqual(groups.count(x).tolist(), [len(part) for part in parts])
                    sums += groups.sum(x).tolist()
                    variances += groups.var(x).tolist()
        informative(sums)
        informative(variances)

    def test_keys_of_other_types(self):
        groups = samesum.groupby(np.array(["b", "a", "b"]))
        self.assertEqual((groups.keys.tolist(), groups.sum([1e16, 2.0, 1.0]).tolist(), len(groups)), (["a", "b"], [2.0, 1e16], 2))
        self.assertEqual(samesum.groupby([True, False, True]).sum([1, 2, 3]).tolist(), [2, 4])
        self.assertTrue(np.isnan(samesum.groupby([1, 1, 2]).var([1.0, 2.0, 3.0], ddof=1)[1]))
        self.assertEqual(samesum.groupby([1, 1]).sum([np.nan, 2.0], nan="skip").tolist(), [2.0])
        with self.assertRaises(samesum.SamesumError):
            samesum.groupby([1, 2]).sum([1.0, 2.0, 3.0])

    def test_bincount(self):
        rng = random.Random(2)
        x = np.array([rng.randint(0, 20) for _ in range(1000)])
        self.assertEqual(samesum.bincount(x).tolist(), np.bincount(x).tolist())
        self.assertEqual(samesum.bincount(x, minlength=30).tolist(), np.bincount(x, minlength=30).tolist())
        w = ugly(rng, 1000, "float64")
        self.assertEqual(samesum.bincount(x, w).tolist(), informative([float(exact(w[x == i].tolist())) for i in range(21)]))
        self.assertEqual((samesum.bincount([]).tolist(), samesum.bincount([], minlength=2).tolist()), ([], [0, 0]))
        with self.assertRaises(ValueError):
            samesum.bincount([1, -1])
        with self.assertRaises(TypeError):
            samesum.bincount([1.5])

    def test_add_at(self):
        rng = random.Random(3)
        for dtype in ("float32", "float64", "int64"):
            out, values = ugly(rng, 9, dtype), ugly(rng, 400, dtype)
            places = np.array([rng.randint(-9, 8) for _ in range(400)])
            wanted = [exact([out[i], *values[places % 9 == i]] if dtype == "int64" else [float(v) for v in (out[i], *values[places % 9 == i])])
                      for i in range(9)]
            informative(wanted)
            samesum.add_at(out, places, values)
            if dtype == "float32":  # one rounding: as an accumulator rounds
                scaled = [np.float32(float(v)) for v in wanted]
                for found, value, near in zip(out, wanted, scaled):
                    neighbours = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
                    self.assertEqual(abs(Fraction(float(found)) - value), min(abs(Fraction(float(v)) - value) for v in neighbours))
            else:
                self.assertEqual(out.tolist(), [rounded(value, dtype) for value in wanted])
        out = np.zeros(3)
        samesum.add_at(out, [0, 0, 2], 0.1)
        self.assertEqual(out.tolist(), [0.2, 0.0, 0.1])
        for bad, index, value in ((np.zeros(3), [3], 1.0), (np.zeros((2, 2)), [0], 1.0), (np.zeros(3, int), [0], 0.5)):
            with self.assertRaises(ValueError):
                samesum.add_at(bad, index, value)


class Scans(unittest.TestCase):
    def test_every_prefix_is_exact(self):
        rng = random.Random(4)
        for dtype in ("float32", "float64", "int16"):
            for n in (0, 1, 33, 700):
                for x in layouts(rng, ugly(rng, n, dtype)):
                    total, wanted = Fraction(0), []
                    for value in x.tolist():
                        total += Fraction(value)
                        wanted.append(rounded(total, dtype))
                    self.assertEqual(samesum.cumsum(x).tolist(), informative(wanted) if n > 1 else wanted)
                    self.assertEqual(samesum.scan(x, exclusive=True).tolist(), [rounded(0, dtype), *wanted][:len(x)])
        x = ugly(rng, 60, "float32").reshape(4, 5, 3)
        for axis in (0, 1, -1):
            found = samesum.cumsum(x, axis=axis)
            for i in range(x.shape[axis]):
                part = np.take(x, range(i + 1), axis)
                np.testing.assert_array_equal(np.take(found, i, axis), samesum.sum(part, axis=axis))
        self.assertEqual(samesum.cumsum(x).shape, (60,))
        out = np.empty(60)
        self.assertIs(samesum.cumsum(x, out=out), out)
        self.assertEqual(samesum.cumsum(x, dtype=np.float32).dtype, np.float32)

    def test_other_operations(self):
        x = np.array([3, 0, -2, 7, 1])
        self.assertEqual(samesum.scan(x, "max").tolist(), [3, 3, 3, 7, 7])
        self.assertEqual(samesum.scan(x, "min").tolist(), [3, 0, -2, -2, -2])
        self.assertEqual(samesum.scan(x, "product").tolist(), [3, 0, 0, 0, 0])
        self.assertEqual(samesum.scan(x, "count_nonzero").tolist(), [1, 1, 2, 3, 4])
        self.assertEqual(samesum.scan(x, offsets=[0, 2]).tolist(), [3, 3, -2, 5, 6])
        for bad in ({"operation": "median"}, {"axis": 2}, {"offsets": [1]}, {"dtype": int}):
            with self.assertRaises(ValueError):
                samesum.scan(x, **bad)


class Grids(unittest.TestCase):
    def test_counts_are_those_of_numpy(self):
        rng = np.random.default_rng(5)
        x, y, w = rng.normal(size=3000), rng.normal(size=3000).astype("float32"), ugly(random.Random(5), 3000, "float64")
        for bins, limits in ((5, None), ([4, 7], [[-1, 1], [-2, 2]]), ([[-1, 0, 0.25, 1], 3], [None, (-1, 1)])):
            found = samesum.histogram2d(x, y, bins, limits)
            wanted = np.histogram2d(x, y, bins, limits)
            for a, b in zip(found, wanted):
                np.testing.assert_array_equal(a, b)
            sums = samesum.histogram2d(x, y, bins, limits, weights=w)[0]
            column, row = (np.searchsorted(e, v, "right") - 1 for e, v in zip(wanted[1:], (x, y)))
            for v, e, k in ((x, wanted[1], column), (y, wanted[2], row)):
                k[v == e[-1]] = len(e) - 2
            informative(sums)
            for i in range(sums.shape[0]):
                for j in range(sums.shape[1]):
                    self.assertEqual(sums[i, j], float(exact(w[(column == i) & (row == j)].tolist())))
            for device in samesum.devices():
                there = samesum.histogram2d(x, y, bins, limits, weights=w, device=device["selector"])[0]
                self.assertEqual(there.tobytes(), sums.tobytes(), device["selector"])
        sample = rng.normal(size=(500, 3))
        cells, edges = samesum.histogramdd(sample, (3, 4, 5))
        wanted, wanted_edges = np.histogramdd(sample, (3, 4, 5))
        np.testing.assert_array_equal(cells, wanted)
        for a, b in zip(edges, wanted_edges):
            np.testing.assert_array_equal(a, b)
        with self.assertRaises(ValueError):
            samesum.histogramdd(sample, (3, 4))


class Pairs(unittest.TestCase):
    def test_keys_that_lie_near_each_other(self):
        rng = np.random.default_rng(12)
        x = rng.uniform(-1, 1, 6000) * 2.0 ** rng.integers(-60, 60, 6000)
        for dtype, low in (("int8", -128), ("uint8", 0), ("int16", -300), ("int64", -2**62), ("uint64", 2**62), ("int32", 100), ("uint64", 2**64 - 1000), ("int64", 7)):
            keys = (rng.integers(0, 200, 6000).astype(object) + low).astype(dtype)
            keys[keys == keys[5]] = keys[6]  # a key that is not there
            groups = samesum.groupby(keys)
            self.assertEqual((groups.keys.tolist(), groups.keys.dtype), (sorted(set(keys.tolist())), keys.dtype))
            wanted = [float(sum(map(Fraction, x[keys == key].tolist()))) for key in groups.keys]
            self.assertEqual(groups.sum(x).tolist(), informative(wanted))
            self.assertEqual(groups.sum(x.reshape(60, 100).ravel()[::1], nan="skip").tolist(), wanted)
            self.assertEqual(groups.count(x).tolist(), [int((keys == key).sum()) for key in groups.keys])
            self.assertEqual(groups.max(x).tolist(), [x[keys == key].max() for key in groups.keys])
            integers = rng.integers(-2**40, 2**40, 6000)
            self.assertEqual(groups.sum(integers).tolist(), [int(integers[keys == key].sum()) for key in groups.keys])
            self.assertEqual(len(groups), len(groups.keys))
        with self.assertRaises(samesum.NoAnswerError):
            groups.sum(np.full(6000, 2**62))
        with self.assertRaises(ValueError):
            groups.sum(x[:-1])
        table = samesum.groupby(np.arange(6000).reshape(60, 100) % 7)
        self.assertEqual(table.sum(np.ones((60, 100))).sum(), 6000.0)

    def test_identity_parameters_and_inputs(self):
        rng = np.random.default_rng(11)
        a, b, q = rng.integers(-9, 9, (5, 2)).astype(float), rng.integers(-9, 9, (7, 2)).astype(float), rng.integers(1, 9, 7).astype(float)
        squares = ((a[:, None] - b[None]) ** 2).sum(2)
        self.assertEqual(samesum.pairs(a, b, "s*q*sqdist(a, b)", inputs={"q": q, "s": 0.5}).tolist(), (squares * q * 0.5).sum(1).tolist())
        self.assertEqual(samesum.pairs(a, b, "dot(v, a)", "max", inputs={"v[]": b}).tolist(), (a @ b.T).max(1).tolist())
        ints = [each.astype(int) for each in (a, b)]
        found = samesum.pairs(*ints, "(sqdist(a, b), 1)", combine="((a[0] + b[0]) % p, a[1] + b[1])", finish="a[0]*m", inputs={"p": 7, "m": 3})
        self.assertEqual(found.tolist(), (squares.astype(int).sum(1) % 7 * 3).tolist())
        nothing = samesum.pairs(a, b[:0], "sqdist(a, b)", combine="max(a, b)", identity=-1.0)
        self.assertEqual(nothing.tolist(), [-1.0] * 5)
        both = samesum.pairs(a, b[:0], "(sqdist(a, b), a[0])", combine="(a[0] + b[0], max(a[1], b[1]))", identity=(0.0, -2.5))
        self.assertEqual(both.tolist(), [[0.0, -2.5]] * 5)
        self.assertEqual(samesum.reduce(np.array([3, 5, 7]), "mulmod(a, b, p)", 1, p=11), 105 % 11)
        for wrong in (lambda: samesum.reduce([1, 2], "a + b + p", p=np.ones(2)), lambda: samesum.reduce([1, 2], "a + b", np.ones(2)), lambda: samesum.pairs(a, b, "q*sqdist(a, b)")):
            with self.assertRaises(samesum.SamesumError):
                wrong()

    def test_operators_of_what_a_formula_gives(self):
        x, w = np.array([[3.0, -7.0, 5.0], [1.0, 0.5, -2.0]]), np.array([0.5, 2.0, 4.0])
        self.assertEqual(samesum.reduce(x, "b[0] > a[0] ? b : a", map="(abs(x), i)"), (7.0, 1))
        found = samesum.reduce(x, "b[0] > a[0] ? b : a", map="(abs(x), i)", axis=1)
        self.assertEqual([each.tolist() for each in found], [[7.0, 2.0], [1, 5]])
        self.assertEqual(samesum.reduce(x, "a + b", map="w*x", w=w, axis=1).tolist(), (x * w).sum(1).tolist())
        self.assertEqual(samesum.reduce(x, "a + b*s", map="x*s", finish="a/s", s=2.0, axis=0).tolist(), [(3 * 2 + 1 * 4) / 2, (-14 + 2) / 2, (10 - 8) / 2])
        self.assertEqual(samesum.reduce(np.array([1 + 2j, 3j]), "a*b"), -6 + 3j)
        self.assertEqual(samesum.reduce([], "a + b", identity=0.0, map="x*x"), 0.0)

    def test_names_that_no_formula_uses(self):
        """Above all arguments of other functions: they would be taken for inputs."""
        x, w = np.array([[3.0, -7.0, 5.0], [1.0, 0.5, -2.0]]), np.array([0.5, 2.0, 4.0])
        for wrong in (lambda: samesum.reduce(x, "a + b", where=1.0), lambda: samesum.groupby([1, 2, 3]).reduce(w, "a + b", where=w),
                      lambda: samesum.sum_map("x", x=x, where=x > 0), lambda: samesum.sum_map("x", axis=0, x=x, where=x > 0),
                      lambda: samesum.map("x*y", x=x, y=w, where=w > 1), lambda: samesum.pairs(w, w, "sqdist", inputs={"where": w}),
                      lambda: samesum.pairs(w, w, "s*sqdist(a, b)", inputs={"s": 1.0, "where[]": w}), lambda: samesum.Plan.map("x", x=x, where=w),
                      lambda: samesum.Plan.reduce(w, "a + b", where=1.0), lambda: samesum.Plan.pairs(w, w, "sqdist", inputs={"where": w})):
            with self.assertRaisesRegex(TypeError, r"^samesum: no formula uses 'where(\[\])?'$"):
                wrong()
        self.assertEqual(samesum.map("i*0.5", x=w).tolist(), [0.0, 0.5, 1.0])  # which only gives the shape
        self.assertEqual(samesum.sum_map("x*w", axis=1, x=x, w=w).tolist(), (x * w).sum(1).tolist())
        with self.assertRaisesRegex(TypeError, "map"):
            samesum.reduce(x, "a + b", map=3)

    def test_several_keys(self):
        rng = np.random.default_rng(3)
        x = rng.integers(-50, 50, 3000).astype(float)
        keys = rng.integers(0, 5, 3000).astype(np.int8), rng.choice(["b", "a", ""], 3000), rng.choice([0.5, -2.0], 3000)
        groups = samesum.groupby(*keys)
        wanted = {}
        for number, key in zip(x, zip(*(each.tolist() for each in keys))):
            wanted.setdefault(key, []).append(number)
        self.assertEqual([each.dtype for each in groups.keys], [each.dtype for each in keys])
        self.assertEqual(list(zip(*(each.tolist() for each in groups.keys))), sorted(wanted))
        self.assertEqual((len(groups), groups.sum(x).tolist()), (len(wanted), [sum(wanted[key]) for key in sorted(wanted)]))
        self.assertEqual(groups.prod(x[:, None].reshape(-1)).shape, (len(wanted),))
        wide = samesum.groupby(*(rng.permutation(2**13) for _ in range(6)))  # 2^78 combinations
        self.assertEqual((len(wide), wide.count(np.zeros(2**13)).tolist()), (2**13, [1] * 2**13))
        self.assertEqual(list(zip(*wide.keys)), sorted(zip(*wide.keys)))
        for wrong in (lambda: samesum.groupby(), lambda: samesum.groupby([1, 2], [1, 2, 3])):
            with self.assertRaises(TypeError):
                wrong()
        masked = np.ma.masked_array([1, 2, 3], [0, 0, 1])
        with self.assertRaisesRegex(samesum.NoAnswerError, "group .*2.*'b'"):
            samesum.groupby([1, 1, 2], ["a", "a", "b"]).min(masked)

    def test_keys_of_any_type_and_their_messages(self):
        """In ascending order, whatever finds them."""
        x = np.arange(8.0)
        for keys in (np.array([1.5, -0.0, 0.0, -2.0, np.inf, -np.inf, 1.5, 5e-324]), np.array([1.5, -2, 3, 1.5, 0, -2, 7, 8], "f2"),
                     np.array([3, -1, 3, 2, 2, 9, -5, 3], "M8[D]"), np.array([3, -1, 3, 2, 2, 9, -5, 3], "m8[s]"),
                     np.array(["b", "a", "", "b", "c", "a", "a", "z"]), np.array([True, False, True, True, False, True, True, True]),
                     np.array([2**63, 0, 2**64 - 1, 0, 1, 1, 2**63, 5], np.uint64), np.array([7, 3, 7, 7, 3, 1, 1, 2], ">i4")):
            groups, ordered = samesum.groupby(keys), np.unique(keys)
            self.assertEqual((groups.keys.tolist(), groups.keys.dtype), (ordered.tolist(), ordered.dtype))
            self.assertEqual(groups.sum(x).tolist(), [x[keys == key].sum() for key in ordered])
            self.assertEqual(samesum.groupby(keys, keys).sum(x).tolist(), groups.sum(x).tolist())
        self.assertEqual(str(samesum.groupby([1.5, np.nan, np.nan]).keys.tolist()), "[1.5, nan]")
        self.assertEqual([len(samesum.groupby(*keys)) for keys in (([],), ([], []), (np.array([], int), np.array([], "U3")))], [0, 0, 0])
        empty = np.array([], np.int32)
        self.assertEqual((samesum.groupby(empty).sum(empty).dtype, samesum.groupby(empty).min(empty).dtype), (np.int64, np.int64))
        for keys, key in (([105, 110, 110], "110"), (["a", "b", "b"], "'b'")):
            with self.assertRaisesRegex(samesum.NoAnswerError, "group " + key):
                samesum.groupby(keys).sum([1, 2**62, 2**62])
            with self.assertRaisesRegex(samesum.NoAnswerError, "group " + key):
                samesum.groupby(keys).reduce([1, 2**62, 2**62], "a + b")

    def test_missing_keys_and_masked_elements(self):
        masked = np.ma.array([1, 2**63 - 1, 5], mask=[1, 0, 0])
        for keys, key in (([1, 2, 2], "2"), (["a", "b", "b"], "'b'"), ([10, 700, 700], "700")):
            with self.assertRaisesRegex(samesum.NoAnswerError, "group " + key):
                samesum.groupby(keys).sum(masked)
        with self.assertRaisesRegex(TypeError, "keys are missing"):
            samesum.groupby(np.array([1.0, np.nan, "a"], object))
        self.assertEqual(samesum.groupby((i for i in [1, 2, 1]), iter("aba")).sum([1, 2, 4]).tolist(), [5, 2])
        for keys, x in (([10, 20, 30], [[1, 2, 3]]), (np.zeros((2, 3), int), [[1, 2], [3, 4], [5, 6]]), (np.zeros((2, 2), int), [1, 2, 3, 4])):
            with self.assertRaisesRegex(samesum.SamesumError, "each element needs one key"):
                samesum.groupby(keys).sum(x)

    def test_groups_are_those_of_when_they_were_made(self):
        for n in (100, 10000):
            keys = np.arange(n) % 10
            groups, x = samesum.groupby(keys), np.ones(n)
            keys[:] = 3
            for function in (groups.sum, groups.mean, groups.count, groups.max, groups.median):
                self.assertEqual(function(x).shape, (10,))
            self.assertEqual(groups.sum(x).tolist(), [n / 10] * 10)
            with self.assertRaisesRegex(samesum.SamesumError, "each element needs one key"):
                groups.mean(x.reshape(10, -1))

    def test_columns_of_pandas_as_keys(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        words = pandas.Series(["b", "a", "b", "c"])
        self.assertEqual((samesum.groupby(words).keys.tolist(), samesum.groupby(words).sum([1, 2, 4, 8]).tolist()), (["a", "b", "c"], [2, 5, 8]))
        sizes = pandas.Categorical(["lo", "hi", "mid", "lo"], categories=["lo", "mid", "hi"], ordered=True)
        self.assertEqual(samesum.groupby(sizes).keys.tolist(), ["lo", "mid", "hi"])
        self.assertEqual(samesum.groupby(words, sizes).sum([1, 2, 4, 8]).tolist(), [2, 1, 4, 8])
        for missing in (pandas.Series(["a", None]), pandas.Series(["a", None], dtype=object), pandas.Index([2**70, float("nan")], dtype=object),
                        pandas.Categorical(["a", None])):
            with self.assertRaisesRegex(TypeError, "missing"):
                samesum.groupby(missing).sum([1, 2])

    def test_numbers_for_operators(self):
        self.assertEqual([samesum.reduce(3.0, "a+b"), samesum.reduce(np.float64(3), "a+b"), samesum.reduce(3, "a+b", keepdims=True).tolist()], [3.0, 3.0, 3])
        self.assertEqual(samesum.groupby([1]).reduce([3.0], "a+b").tolist(), [3.0])
        self.assertEqual(samesum.reduce(np.array([], np.uint64), "min(a, b)", 2**64 - 1), 2**64 - 1)
        self.assertEqual(samesum.reduce([1, 2, 3], "a + b*p", np.int64(0), p=np.int32(3)), 16)
        with self.assertRaisesRegex(samesum.SamesumError, "fits neither"):
            samesum.reduce([1, 2], "min(a, b)", 2**70)
        with self.assertRaisesRegex(samesum.SamesumError, "identity has 3 numbers"):
            samesum.reduce([1, 2], "(a[0] + b[0], a[1] + b[1])", (0, 0, 0), map="(x, i)")

    def test_complex_pairs(self):
        rng = np.random.default_rng(7)
        for kind in (np.complex64, np.complex128):
            a, b, q = ((rng.integers(-9, 9, n) + 1j * rng.integers(-9, 9, n)).astype(kind) for n in (13, 4, 4))
            for accuracy in ("exact", "fast", "compensated"):
                found = samesum.pairs(a, b, accuracy=accuracy)
                self.assertEqual((found.dtype, found.tolist()), (kind, (a[:, None] * b).sum(1).tolist()))
            self.assertEqual(samesum.pairs(a, b, reduction="product").tolist(), (a[:, None] * b).prod(1).tolist())
            self.assertEqual(samesum.pairs(a, b, "sqdist", "argmin").tolist(), (abs(a[:, None] - b) ** 2).argmin(1).tolist())
            self.assertEqual(samesum.pairs(a, b, "a*conj(b)*q", inputs={"q": q}).tolist(), (a[:, None] * b.conj() * q).sum(1).tolist())
            self.assertEqual(samesum.pairs(a, b, "a - b", combine="a + b", finish="abs2(a)").tolist(), (abs((a[:, None] - b).sum(1)) ** 2).round().tolist())
            plan = samesum.Plan.pairs(a, b, accuracy="fast")
            plan.enqueue(a, b)
            self.assertEqual(plan.result().tolist(), (a[:, None] * b).sum(1).tolist())
            product = samesum.map("x*conj(y)", x=b, y=q)
            self.assertEqual((product.dtype, product.tolist()), (kind, (b * q.conj()).tolist()))
            self.assertEqual(samesum.reduce(b, "a*b"), complex(b.prod()))
            self.assertEqual(samesum.sum_map("abs2(x)", x=b), float((abs(b) ** 2).sum().round()))
            for wrong in (lambda: samesum.pairs(a, b, "dot(a, b)"), lambda: samesum.pairs(a, b, reduction="min"), lambda: samesum.pairs(a, b.real)):
                with self.assertRaises(samesum.SamesumError):
                    wrong()

    def test_pairs(self):
        rng = np.random.default_rng(6)
        a, b = rng.integers(-9, 9, (13, 3)).astype(float), rng.integers(-9, 9, (17, 3)).astype(float)
        squares = ((a[:, None] - b[None]) ** 2).sum(-1)
        self.assertEqual(samesum.pairs(a, b, "sqdist", "argmin").tolist(), squares.argmin(1).tolist())
        self.assertEqual(samesum.pairs(a, b, "sqdist(a, b)", "max").tolist(), squares.max(1).tolist())
        self.assertEqual(samesum.pairs(a, b).tolist(), (a @ b.T).sum(1).tolist())
        w = rng.integers(1, 5, 17).astype(float)
        self.assertEqual(samesum.pairs(a, b, "sqdist", weights=w).tolist(), (squares * w).sum(1).tolist())
        self.assertEqual(samesum.pairs(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist(), [7.0, 14.0])
        self.assertEqual(samesum.pairs(a, b, "sqdist", "argsmallest", k=4).tolist(), squares.argsort(1, kind="stable")[:, :4].tolist())
        whole = samesum.pairs(a.astype("int32"), b.astype("int32"), "sqdist")
        self.assertEqual((whole.dtype, whole.tolist()), (np.dtype("int64"), squares.sum(1).tolist()))
        self.assertEqual(samesum.pairs(a, b, "(b - a)", "max").tolist(), (b[None] - a[:, None]).max(1).tolist())
        self.assertEqual(samesum.pairs(a, b, "(dot(a, b), 1)", combine="(a[0] + b[0], a[1] + b[1])", finish="a[0]/a[1]").tolist(),
                         ((a @ b.T).sum(1) / 17).tolist())
        for bad in ((a, b[:, :2]), (a, b.astype("float32")), (a, b[0])):
            with self.assertRaises(ValueError):
                samesum.pairs(*bad)


if __name__ == "__main__":
    unittest.main()
