"""Arguments of other types than a function's own: masks of integers, integers of more than 64 bits, narrower results, and so on."""
import math
import os
import random
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
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")


class OfWrongTypes(unittest.TestCase):
    def refused(self, kind, words, call):
        with self.assertRaises(kind) as found:
            call()
        self.assertIn(words, str(found.exception))

    def test_results_go_where_they_fit(self):
        x = np.arange(6.0).reshape(2, 3)
        plan = samesum.Plan("sum", x, axis=1)
        self.refused(samesum.SamesumError, "out is of int64, and these results are of float64", lambda: plan.enqueue(x, out=np.zeros(2, "i8")))
        self.refused(samesum.SamesumError, "out is of complex numbers", lambda: plan.enqueue(x, out=np.zeros(2, "c16")))
        to = np.zeros(2)
        plan.enqueue(x, out=to)
        self.assertEqual(to.tolist(), [3.0, 12.0])
        counts = samesum.Plan.histogram(np.zeros(3), bins=2, range=(0, 1))
        self.refused(samesum.SamesumError, "these results are of uint64", lambda: counts.enqueue(np.zeros(3), out=np.zeros(2)))
        self.refused(samesum.SamesumError, "this result has (4, 2) and float64", lambda: samesum.sum(np.ones((3, 4, 2)), axis=0, out=np.zeros(4, "c16")))
        self.refused(samesum.SamesumError, "this result has (2,) and complex128", lambda: samesum.sum(np.ones((3, 2), "c16"), axis=0, out=np.zeros((2, 2))))

    def test_out_of_types_that_hold_the_results(self):
        """The same ones, whether the library or the package writes them."""
        x = np.array([[5, 2, 9], [3, 8, 1]], np.int16)
        for where in (True, np.ones((2, 3), bool)):
            for name, types, others in (("min", "i2 i4 >i8 f4 f8 c16", "i1 u2 f2 ?"), ("sum", "i8 >i8 f8 c16", "i4 u8 f4"), ("mean", "f8 >f8 c16", "f4 i8"),
                                        ("count_nonzero", "i8 f8", "u8 i4"), ("argmax", "i8 >i8 f8", "u8 i4"), ("median", "f8 >f8", "f4"), ("prod", "i8 f8", "i4 u8")):
                options = {} if name == "argmax" else {"where": where}
                function = getattr(samesum, name)
                wanted = function(x, axis=0, **options).tolist()
                for dtype in types.split():
                    out = np.empty(3, dtype)
                    self.assertIs(function(x, axis=0, out=out, **options), out)
                    self.assertEqual(out.tolist(), wanted, (name, dtype))
                    self.assertEqual(function(x[:, ::-1].tolist(), axis=0, **options).tolist(), wanted[::-1])
                for dtype in others.split():
                    with self.assertRaisesRegex(samesum.SamesumError, f"out has the shape .* and the type .*{np.dtype(dtype)}"):
                        function(x, axis=0, out=np.empty(3, dtype), **options)
                with self.assertRaisesRegex(TypeError, "out has to be a writable array of numpy"):
                    function(x, axis=0, out=[0, 0, 0], **options)
        informative(wanted)

    def test_extremes_of_bfloat16_go_to_float32(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        x = np.array([[1, -7], [2, 5]], ml_dtypes.bfloat16)
        for where in (True, np.ones((2, 2), bool)):
            out = np.empty(2, np.float32)
            self.assertIs(samesum.max(x, axis=0, where=where, out=out), out)
            self.assertEqual(out.tolist(), [2.0, 5.0])

    def test_numbers_that_are_no_integers(self):
        self.refused(TypeError, "integer", lambda: samesum.scan([1, 2, 3], offsets=[0, 1.9]))
        self.refused(ValueError, "offset 0 is -1", lambda: samesum.scan([1, 2, 3], offsets=[-1]))
        words = samesum.Accumulator([1.5, 2]).words()
        self.refused(TypeError, "82 of int64", lambda: samesum.Accumulator.from_words(words + 0.5))
        self.refused(TypeError, "q is a number", lambda: samesum.quantile([1, 2, 3], "0.5"))
        self.refused(TypeError, "q is a number", lambda: samesum.quantile([1, 2, 3], [[0.1], [0.2]]))
        self.refused(samesum.NoAnswerError, "more than", lambda: samesum.var([1.0, 2.0], ddof=2**70))
        self.refused(ValueError, "has the index -4", lambda: samesum.add_at(np.zeros(3), [0, -4], [1, 1]))
        self.refused(ValueError, "out has to be an array", lambda: samesum.add_at([0, 0], [0], [1]))
        self.refused(ValueError, "k is of 'smallest'", lambda: samesum.pairs([1.0], [2.0], "sqdist", "min", k=2))
        self.refused(TypeError, "keys are missing", lambda: samesum.groupby([1, None, 2]))
        self.assertIn("9007199254740993", repr(samesum.Accumulator([2**53 + 1])))


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

    def test_masks_along_axes_choose_the_elements_of_each_result(self):
        """The bits of the function of the elements that are chosen, NaNs and -0.0 among them; and its error where none is."""
        generator = np.random.default_rng(3)

        def found(call):
            try:
                return call()
            except samesum.NoAnswerError:
                return None

        for dtype in ("f2", "f4", "f8", "i1", "u1", "i4", "u8", "?"):
            for special in (None, np.nan, -0.0, np.inf):
                x = generator.standard_normal((6, 9)) * 20
                x = (np.abs(x) if dtype[0] == "u" else x).astype(dtype)
                if special is not None and x.dtype.kind == "f":
                    x[:, 2:7:2] = special
                for where in (generator.random((6, 9)) < 0.5, x != x, generator.random(9) < 0.6, np.arange(6).reshape(6, 1) > 2):
                    taken = np.broadcast_to(where, x.shape)
                    for name in ("sum", "mean", "var", "std", "norm", "min", "max", "count_nonzero"):
                        function = getattr(samesum, name)
                        for nan in ("propagate", "skip"):
                            rows = [found(lambda i=i: function(x[i][taken[i]], nan=nan)) for i in range(6)]
                            along = found(lambda: function(x, axis=1, where=where, nan=nan))
                            if None in rows:
                                self.assertIsNone(along)
                                continue
                            self.assertEqual(along.tobytes(), np.array(rows, along.dtype).tobytes(), (name, dtype, special, nan))
                            self.assertEqual(function(x.T, axis=0, where=np.transpose(taken), nan=nan).tobytes(), along.tobytes())
                    masked = np.ma.array(x, mask=~taken)
                    self.assertEqual(samesum.sum(masked, axis=1).tobytes(), samesum.sum(x, axis=1, where=where).tobytes())

    def test_variances_along_axes_have_ddof(self):
        random.seed(5)
        x = np.array([[[random.uniform(-1, 1) * 2.0 ** random.randint(-30, 30) for _ in range(7)] for _ in range(5)] for _ in range(6)])
        for numbers in (x, x.astype(np.float32), (x * 1000).astype(np.int32), (x * 2**20).astype(np.int64)):
            for ddof in (1, 2, 4):
                for function in (samesum.var, samesum.std):
                    found = function(numbers, axis=(0, 2), ddof=ddof)
                    self.assertEqual(found.tolist(), [function(numbers[:, i], ddof=ddof) for i in range(5)])
                    kept = function(numbers, axis=1, ddof=ddof, keepdims=True)
                    self.assertEqual(kept[:, 0].tolist(), [[function(numbers[i, :, k], ddof=ddof) for k in range(7)] for i in range(6)])
        x[0, 0, 0] = np.nan
        self.assertEqual(samesum.var(x[0], axis=1, ddof=1, nan="skip").tolist(), [samesum.var(row, ddof=1, nan="skip") for row in x[0]])
        with self.assertRaises(samesum.NoAnswerError):
            samesum.var(x, axis=1, ddof=5)

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

    def test_lists_that_uint64_holds(self):
        """numpy makes float64 of integers below 2^63 beside others from there on."""
        x = [2**64 - 1, 0, 2**63, 2**53 + 1, 5]
        u = np.array(x, np.uint64)
        self.assertEqual((samesum.median(x), samesum.quantile(x, 1, method="lower")), (2**53 + 1, 2**64 - 1))
        self.assertEqual(samesum.cumsum(x[2:]).tolist(), informative([2**63, 2**63 + 2**53 + 1, 2**63 + 2**53 + 6]))
        self.assertEqual(samesum.prod([2**63 + 1, 3]), 3 * 2**63 + 3)
        self.assertEqual(samesum.Accumulator(x).value(), sum(x))
        for name in ("var", "norm", "any", "all", "count_nonzero", "sum", "mean"):
            self.assertEqual(getattr(samesum, name)(x), getattr(samesum, name)(u), name)
            self.assertEqual(getattr(samesum, name)(each for each in x), getattr(samesum, name)(u), name)
        self.assertEqual(samesum.max([x, x], axis=0).tolist(), x)
        self.assertEqual(samesum.histogram(x, 2).counts().tolist(), [3, 2])
        self.assertEqual(samesum.map("floor(x/2)", x=x).tolist(), [each // 2 for each in x])
        self.assertEqual(samesum.groupby([1, 1, 1, 0, 0]).max(x).tolist(), [2**53 + 1, 2**64 - 1])
        for where in ([True] * 5, [False, True, True, True, True]):
            self.assertEqual(samesum.sum(x, where=where), sum(each for each, taken in zip(x, where) if taken))
        self.assertEqual(samesum.groupby(x).keys.tolist(), sorted(x))

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


class Types(unittest.TestCase):
    X = np.arange(1, 13).reshape(3, 4)
    ALL = np.ones((3, 4), bool)

    def test_types_do_not_depend_on_where(self):
        for dtype in ("u1", "i1", "u4", "i8", "u8", "f2", "f4", "f8", "?", "c8", "c16"):
            x = self.X.astype(dtype)
            for name in ("sum", "mean", "var", "std", "norm", "min", "max", "count_nonzero", "prod", "all", "any"):
                if dtype[0] == "c" and name in ("min", "max"):
                    continue
                function = getattr(samesum, name)
                wanted = function(x, axis=1)
                found = function(x, axis=1, where=self.ALL)
                self.assertEqual((found.dtype, found.tolist()), (wanted.dtype, wanted.tolist()), (dtype, name))
                masked = np.ma.array(np.vstack([x, x[:1]]), mask=np.vstack([~self.ALL, self.ALL[:1]]))
                if name in ("sum", "count_nonzero"):
                    found = function(masked, axis=1)
                    self.assertEqual((found.dtype, found.tolist()), (wanted.dtype, wanted.tolist() + [0]), (dtype, name))
                empty = function(x[:0], axis=1)
                self.assertEqual(function(x[:0], axis=1, where=self.ALL[:0]).dtype, empty.dtype, (dtype, name))

    def test_integers_with_where_are_those_of_each_row(self):
        random = np.random.default_rng(5)
        taken = random.random((50, 9)) < 0.6
        taken[:, 0] = True
        for dtype in ("i1", "u2", "i4", "u4", "i8", "u8", "?"):
            small = random.integers(0, 2 if dtype == "?" else 100, (50, 9)).astype(dtype)
            cases = [small]
            if dtype in ("i8", "u8"):  # among them numbers that float64 does not hold
                cases.append(np.where(small % 3 == 0, np.array(np.iinfo(dtype).max - 1, dtype), small))
            for x in cases:
                for name in ("mean", "var", "std", "norm", "min", "max"):
                    function = getattr(samesum, name)
                    found = function(x, axis=1, where=taken)
                    self.assertEqual(found.tolist(), [function(row[of]) for row, of in zip(x, taken)], (dtype, name))
                for method in ("linear", "lower", "nearest"):
                    found = samesum.quantile(x, [0.3, 0.5], axis=1, where=taken, method=method)
                    each = [samesum.quantile(row[of], [0.3, 0.5], method=method).tolist() for row, of in zip(x, taken)]
                    self.assertEqual(found.T.tolist(), each, (dtype, method))
                    self.assertEqual(found.dtype, samesum.quantile(x, [0.3, 0.5], axis=1, method=method).dtype)

    def test_types_that_no_argument_has(self):
        x = self.X
        for call in (lambda: samesum.sum(x, axis="x"), lambda: samesum.mean(x, axis=1.0), lambda: samesum.median(x, axis=(0, "a")),
                     lambda: samesum.scan(x, axis=(0, 1)), lambda: samesum.sum_map("x", x=x, axis="x")):
            with self.assertRaisesRegex(TypeError, "^samesum: an axis is an integer, not "):
                call()
        with self.assertRaisesRegex(ValueError, "^axis 1180591620717411303424 is none of an array"):
            samesum.sum(x, axis=2**70)
        for call in (lambda: samesum.map(3, x=x), lambda: samesum.sum_map(None, x=x), lambda: samesum.reduce(x, 5),
                     lambda: samesum.scan(x, 5), lambda: samesum.pairs([1.0], [2.0], f=3)):
            with self.assertRaisesRegex(TypeError, "^samesum: .* has to be a text, not "):
                call()
        for call in (lambda: samesum.quantile(x, 0.5, method=3), lambda: samesum.quantile(x, 0.5, axis=0, method=3),
                     lambda: samesum.groupby([1, 2]).quantile([1, 2], 0.5, method=3)):
            with self.assertRaisesRegex(TypeError, "^samesum: method has to be a text, not 3$"):
                call()
        one = [1.0]
        for words, options in (("h has to be a number, not 'a'", {"h": "a"}), ("softening has to be a number", {"softening": None}),
                               ("k has to be an integer, not 1.5", {"reduction": "smallest", "k": 1.5}), (r"inputs has to be a dict, .*, not \[1\]", {"inputs": [1]})):
            for pairs in (samesum.pairs, samesum.Plan.pairs):
                with self.assertRaisesRegex(TypeError, f"^samesum: {words}"):
                    pairs(one, one, **options)
        with self.assertRaisesRegex(ValueError, "^k is 0: it has to be 1 to 128"):
            samesum.pairs(one, one, reduction="smallest", k=0)
        for name in ("sum", "prod", "median", "all", "argmin"):
            function = getattr(samesum, name)
            with self.assertRaisesRegex(samesum.SamesumError, "^axis 5 is none of an array of 2 axes$"):
                function(x, axis=5)
        for name in ("sum", "prod", "median"):
            with self.assertRaisesRegex(samesum.SamesumError, "^axis 1 is named twice$"):
                getattr(samesum, name)(x, axis=(1, 1))
        for bins in (2.5, np.float64(3)):
            with self.assertRaisesRegex(TypeError, "^bins is a number of bins, edges along one axis, or the name of a rule, not "):
                samesum.histogram(x, bins=bins)
        with self.assertRaisesRegex(ValueError, "^bins is a number of bins, which is not -1"):
            samesum.histogram(x, bins=-1)
        with self.assertRaisesRegex(ValueError, "^range has to be two numbers, not "):
            samesum.histogram(x, range=(0,))
        for name in ("mean", "max", "var", "median"):
            with self.assertRaisesRegex(samesum.NoAnswerError, "(all are left out|more than 0 elements)"):
                getattr(samesum, name)(x, axis=0, where=[[True, False, True, False]])

    def test_types_do_not_depend_on_values(self):
        for x in ([[1, 3], [3, 5]], [[1, 2], [3, 5]], [[1, 2], [3, 4]]):
            for q in (0.5, [0.0, 0.5]):
                for axis in (1, None):
                    found = samesum.quantile(x, q, axis=axis, keepdims=True)
                    self.assertEqual((found.dtype, found.tolist()), (np.float64, np.quantile(x, q, axis=axis, keepdims=True).tolist()))
            self.assertEqual(samesum.median(x, axis=0).dtype, np.float64)
            self.assertEqual(samesum.quantile(x, [0.5, 1]).dtype, np.float64)
            self.assertEqual(samesum.quantile(np.array(x, np.uint8), 0.5, axis=0, method="lower").dtype, np.uint8)
        empty = np.zeros((0, 2))
        for found in (samesum.var(empty, axis=1, ddof=1), samesum.std(empty, axis=1, ddof=1), samesum.median(empty, axis=1)):
            self.assertEqual((found.dtype, found.shape), (np.float64, (0,)))

    def test_the_bytes_of_elements_are_the_machines(self):
        for dtype in (">i2", ">u8", ">f4", ">f8"):
            x = self.X.astype(dtype)
            for name in ("min", "max", "sum"):
                function = getattr(samesum, name)
                wanted = function(x.astype(x.dtype.newbyteorder("=")), axis=1)
                for found in (function(x, axis=1), function(x, axis=1, where=self.ALL), function(np.ma.array(x, mask=~self.ALL), axis=1),
                              function(np.ma.array(x, mask=self.X < 2), axis=1) if name == "max" else wanted):
                    self.assertEqual((found.dtype.str, found.tolist()), (wanted.dtype.str, wanted.tolist()))
            self.assertEqual(samesum.quantile(x, 0.5, axis=1, where=self.ALL, method="lower").dtype.str, x.dtype.newbyteorder("=").str)

    def test_results_without_axes_are_arrays(self):
        x = np.array([3.0, 1.0, 0.0, 4.0])
        u = np.full(4, 2**63, np.uint64)
        for where in (True, np.array([True, True, False, True])):
            kept = x[where] if where is not True else x
            for name in ("sum", "mean", "var", "std", "norm", "min", "max", "prod", "median", "count_nonzero", "any", "all"):
                function = getattr(samesum, name)
                found = function(x, axis=0, where=where)
                self.assertEqual((type(found), found.shape, found.tolist()), (np.ndarray, (), function(kept)), name)
                if name not in ("min", "max", "median"):
                    self.assertIs(type(function(x + 1j, axis=0, where=where)), np.ndarray)
        for found in (samesum.sum(u, axis=0, dtype=float), samesum.sum(u // 8, axis=0, dtype=float), samesum.quantile(x, 0.25, axis=0), samesum.argmax(x, axis=0)):
            self.assertEqual((type(found), found.shape), (np.ndarray, ()))
        self.assertIs(type(samesum.any(x)), bool)

    def test_no_quantiles_have_the_shape_of_some(self):
        for x in (np.full((3, 4), np.nan), np.arange(12.0).reshape(3, 4)):
            for where in (True, self.ALL):
                for q in ([], [0.5], [0.25, 0.5]):
                    self.assertEqual(samesum.quantile(x, q, axis=0, where=where).shape, (len(q), 4))
                    self.assertEqual(samesum.quantile(x, np.array(q), axis=(0, 1), where=where, keepdims=True).shape, (len(q), 1, 1))

    def test_sums_that_do_not_fit_with_where(self):
        x = np.array([[2**62, 2**62]])
        for where in (True, [True, True]):
            with self.assertRaises(samesum.NoAnswerError):
                samesum.sum(x, axis=1, where=where)

    def test_out_does_not_round_again(self):
        x = np.array([[1.0, 2.0**-24, 2.0**-60], [1.0, 2.0, 3.0]])
        narrow = np.empty(2, np.float32)
        for call in (lambda: samesum.sum(x, axis=1, out=narrow), lambda: samesum.sum(x, axis=1, where=x > 0, out=narrow),
                     lambda: samesum.var(x, axis=1, ddof=1, out=narrow), lambda: samesum.median(x, axis=1, out=narrow),
                     lambda: samesum.cumsum(x[0, :2], out=narrow), lambda: samesum.dot(x, x[0], out=narrow),
                     lambda: samesum.sum(np.array([[300], [1]]), axis=1, where=[True], out=np.empty(2, np.int8)),
                     lambda: samesum.dot([[2**62], [1]], [1], out=np.empty(2, np.int32))):
            with self.assertRaisesRegex(ValueError, "out|type|float32"):
                call()
        self.assertIs(samesum.sum(x, axis=1, dtype=np.float32, where=x > 0, out=narrow), narrow)
        self.assertEqual(narrow.tolist(), [1 + 2.0**-23, 6.0])  # which two roundings would not give
        self.assertIs(samesum.var(x, axis=1, ddof=1, dtype=np.float32, out=narrow), narrow)
        self.assertEqual(narrow.tolist(), [samesum.var(row, ddof=1, dtype=np.float32) for row in x])
        wide = np.empty(2)
        self.assertEqual(samesum.sum(self.X[:2], axis=1, dtype=float, out=wide).tolist(), [10.0, 26.0])

    def test_dtype_of_integers(self):
        big = np.array([[2**53, 1, 2], [1, 2, 3]])
        large = np.array([[2**64 - 2**12, 2**64 - 1], [2**12, 2**64 - 1]], np.uint64)
        self.assertEqual(repr(samesum.sum([1, 2], dtype=float)), "3.0")
        self.assertEqual(repr(samesum.sum(np.full(4, 2**63, np.uint64), dtype=float)), repr(2.0**65))
        for found, wanted in ((samesum.sum(big, axis=1, dtype=float), [2.0**53 + 4, 6.0]), (samesum.sum(big, axis=1, dtype=float, where=big > 1), [2.0**53 + 2, 5.0]),
                              (samesum.cumsum(big[0], dtype=float), [2.0**53, 2.0**53, 2.0**53 + 4]), (samesum.scan([3, 1], "max", dtype=float), [3.0, 3.0]),
                              (samesum.sum(big, dtype=float, keepdims=True), [[2.0**53 + 8]]),
                              (samesum.sum(large, dtype=float, keepdims=True), [[3 * 2.0**64]]), (samesum.sum(large, axis=0, dtype=float), [2.0**64, 2.0**65]),
                              (samesum.sum(large, dtype=float, keepdims=True, where=[[True], [False]]), [[2.0**65 - 2.0**12]]),
                              (samesum.sum(large, dtype=np.float64, out=np.empty(())), 3 * 2.0**64)):
            self.assertEqual((found.dtype, found.tolist()), (np.float64, wanted))
        for other in (int, "f2", np.uint64):
            with self.assertRaisesRegex(ValueError, "^dtype has to be None, float64 or float32, not "):
                samesum.sum(big, dtype=other)
        with self.assertRaisesRegex(ValueError, "of their own type"):
            samesum.sum(np.array([1, 2], "m8[s]"), dtype=float)

    def test_dtype_of_scans(self):
        for operation in ("sum", "min", "max", "count_nonzero", "product"):
            for x in (np.array([2**24 + 1, 2]), np.array([2.0**24 + 1, 2.0])):
                for dtype in (np.float32, np.float64):
                    if operation == "product" and x.dtype == float and dtype == np.float32:
                        with self.assertRaisesRegex(TypeError, "round them again"):
                            samesum.scan(x, operation, dtype=dtype)
                        continue
                    found = samesum.scan(x, operation, dtype=dtype)
                    self.assertEqual((found.dtype, found.tolist()), (dtype, samesum.scan(x, operation).astype(dtype).tolist()), operation)

    def test_dtype_of_complex_numbers(self):
        z = np.array([[1 + 2.0**-24 + 2j, 2.0**-60 + 1j], [3j, 4]])
        for dtype in (np.float32, float):
            for function in (samesum.sum, samesum.mean, samesum.cumsum):
                for x in (z, z.tolist()):
                    with self.assertRaisesRegex(TypeError, "complex"):
                        function(x, axis=1, dtype=dtype)
        self.assertEqual(samesum.norm(z[1:], axis=1, dtype=np.float32).tolist(), [5.0])
        self.assertEqual(samesum.norm(z[1:], axis=1, dtype=np.float32).dtype, np.float32)
        # 1 + 2^-24 is halfway between two float32s; 2^-60 decides.
        self.assertEqual(samesum.norm(np.array([[1 + 2.0**-24 + 2.0**-29 * 1j]]), axis=1, dtype=np.float32).tolist(), [1 + 2.0**-23])
        self.assertEqual(samesum.var(z[1], dtype=np.float32), 6.25)

    def test_numbers_of_other_types(self):
        x = np.array([[1.0, 2.0], [3.0, 6.0]])
        for one in (1.0, np.int64(1), np.float64(1), True):
            self.assertEqual(samesum.var(x, axis=1, ddof=one).tolist(), [0.5, 4.5])
            self.assertEqual(samesum.std(x[0], ddof=one), math.sqrt(0.5))
            self.assertEqual(samesum.groupby([1, 1]).var([1.0, 2.0], ddof=one).tolist(), [0.5])
        for one in (1, np.True_):
            for name in ("sum", "mean", "min", "argmin", "prod", "median", "count_nonzero", "var"):
                self.assertEqual(getattr(samesum, name)(x, axis=1, keepdims=one).shape, (2, 1), name)
            self.assertEqual(samesum.sum_map("x", axis=1, keepdims=one, x=x).shape, (2, 1))
        found = samesum.stats(x)
        for one in (1.0, np.int64(1), True):
            self.assertEqual((found.var(one), found.std(ddof=one)), (samesum.var(x, ddof=1), samesum.std(x, ddof=1)))
        self.assertTrue(math.isnan(samesum.stats([1.0, math.nan]).var()))
        self.assertEqual(samesum.stats([1.0, math.nan, 3.0]).std(nan="skip"), 1.0)
        for function in (lambda ddof: samesum.var(x, ddof=ddof), found.var, found.std):
            for bad in (0.5, "1", None):
                with self.assertRaises(TypeError):
                    function(bad)
            with self.assertRaisesRegex(ValueError, "^ddof is -1: it must not be negative"):
                function(-1)

    def test_variances_of_rows_with_ddof(self):
        rng, wanted = random.Random(7), []
        for dtype in ("f2", "f4", "f8", "i1", "u4", "i8", "?"):
            x = np.array([[rng.uniform(-1, 1) * 2.0 ** rng.randint(-10, 0) for _ in range(7)] for _ in range(50)])
            x = (abs(x) * 100).astype(dtype) if dtype != "?" else x > 0
            for name in ("var", "std"):
                function = getattr(samesum, name)
                for ddof in (1, 3):
                    wanted += [function(row, ddof=ddof) for row in x]
                    self.assertEqual(function(x, axis=1, ddof=ddof).tolist(), wanted[-50:])
                    self.assertEqual(function(x.T, axis=0, ddof=ddof, keepdims=True).tolist(), [wanted[-50:]])
        values = [Fraction(v) for v in x[0].tolist()]
        mean = sum(values) / 7
        self.assertEqual(samesum.var(x, axis=1, ddof=3)[0], float(sum((v - mean) ** 2 for v in values) / 4))
        cube = np.array([[[1.0, 2.0], [4.0, 8.0]], [[1.0, 1.0], [1.0, 2.0]]])
        self.assertEqual(samesum.var(cube, axis=(0, 2), ddof=1).tolist(), [samesum.var(cube[:, i], ddof=1) for i in range(2)])
        holes = np.array([[1.0, math.nan, 3.0], [1.0, math.inf, 3.0], [1.0, 2.0, 4.0]])
        for nan in ("propagate", "skip"):
            np.testing.assert_array_equal(samesum.var(holes, axis=1, ddof=1, nan=nan), [samesum.var(row, ddof=1, nan=nan) for row in holes])
        for bad in (np.array([[1.0], [2.0]]), np.zeros((2, 0))):
            with self.assertRaises(samesum.NoAnswerError):
                samesum.var(bad, axis=1, ddof=1)
        with self.assertRaises(samesum.NoAnswerError):
            samesum.var(np.array([[1.0, 2.0], [1.0, math.nan]]), axis=1, ddof=1, nan="skip")
        informative(wanted)


class Options(unittest.TestCase):
    def test_names_of_other_types_are_refused(self):
        x = np.ones((2, 2))
        for call in (samesum.sum, samesum.mean, samesum.max, samesum.median, samesum.cumsum, lambda x, **options: samesum.sum(x, axis=1, **options)):
            with self.assertRaisesRegex(TypeError, "nan has to be 'propagate' or 'skip'"):
                call(x, nan=5)
            with self.assertRaisesRegex(TypeError, "device has to be"):
                call(x, device=5)

    def test_values_that_change_have_no_hash(self):
        for value in (samesum.Accumulator([1.0]), samesum.stats([1.0]), samesum.histogram([1.0], 2)):
            self.assertEqual(value, value)
            with self.assertRaisesRegex(TypeError, "unhashable"):
                hash(value)


class Products(unittest.TestCase):
    def test_products_of_more_digits_than_int_takes(self):
        for numbers in (range(1, 1700), range(-1699, 0), [-(2**63)] * 400, [3, -7] * 5000, [2**40] * 50):
            x = np.array(numbers, np.int64)
            self.assertEqual(samesum.prod(numbers), math.prod(numbers))
            self.assertEqual(samesum.prod(np.array([x, x]), axis=1).tolist(), [math.prod(numbers)] * 2)


class Complex(unittest.TestCase):
    def test_a_number_with_a_nan_is_left_out(self):
        nan = math.nan
        rng, kept = random.Random(3), []
        z = np.array([complex(rng.uniform(-1, 1) * 2.0 ** rng.randint(-60, 60), rng.uniform(-1, 1)) for _ in range(60)])
        for i, bad in ((3, complex(nan, 1e18)), (10, complex(1e18, nan)), (30, complex(nan, nan)), (31, complex(1e18, nan))):
            z[i] = bad
        rows = z.reshape(3, 20)
        for name in ("sum", "mean", "norm", "var", "std"):
            function = getattr(samesum, name)
            wanted = [function(row[~np.isnan(row)]) for row in rows]
            kept.append(abs(function(z[~np.isnan(z)])))
            for each in (z, z.astype(">c16"), z.tolist(), np.ma.array(z)):
                self.assertEqual(function(each, nan="skip"), function(z[~np.isnan(z)]), name)
            self.assertEqual(function(rows, axis=1, nan="skip").tolist(), wanted, name)
            self.assertEqual(function(rows, axis=1, nan="skip", where=np.ones(20, bool)).tolist(), wanted, name)
            self.assertTrue(np.isnan(function(z)), name)
        self.assertEqual(samesum.cumsum(z, nan="skip").tolist()[-1], samesum.sum(z, nan="skip"))
        taken = ~np.isnan(z)
        self.assertEqual(samesum.dot(z, z, nan="skip"), samesum.dot(z[taken], z[taken]))
        self.assertEqual(samesum.prod(np.array([2j, complex(nan, 3), 5]), nan="skip"), 10j)
        self.assertEqual(samesum.prod(np.array([[2j, complex(nan, 3), 5]]), axis=1, nan="skip").tolist(), [10j])
        masked = np.ma.array(z, mask=np.arange(60) < 5)
        self.assertEqual(samesum.sum(masked, nan="skip"), samesum.sum(z[5:], nan="skip"))
        informative(kept)

    def test_counts_of_all_types(self):
        for dtype in ("c8", "c16", ">c8", ">c16"):
            z = np.array([[0, 1j], [0, 0]], dtype)
            self.assertEqual((samesum.count_nonzero(z), samesum.any(z), samesum.all(z)), (1, True, False))
            self.assertEqual(samesum.count_nonzero(z, axis=1).tolist(), [1, 0])
        nan = math.nan
        z = np.array([[1 + 1j, complex(nan, 1), complex(0, nan)], [0, complex(nan, nan), -2j]])
        for each in (z, z.astype(">c8"), np.ma.array(z), z.tolist()):
            self.assertEqual((samesum.count_nonzero(each), samesum.count_nonzero(each, nan="skip")), (5, 2))
            self.assertEqual(samesum.count_nonzero(each, axis=0, nan="skip").tolist(), [1, 0, 1])
            self.assertEqual(samesum.count_nonzero(each, axis=1, where=[True, True, False], nan="skip").tolist(), [1, 0])
            with self.assertRaisesRegex(ValueError, "nan has to be"):
                samesum.count_nonzero(each, nan="omit")
        signalling = np.array([0x7FF0000000000001, 0, 0, 0, 1, 0], np.uint64).view(np.complex128)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual((samesum.count_nonzero(signalling), samesum.count_nonzero(signalling, nan="skip")), (2, 1))


class Labelled(unittest.TestCase):
    def test_arrays_that_are_tables_to_arrow(self):
        """xarray's arrays, as far as samesum looks at them."""
        class DataArray:
            dims, coords, dtype, shape = ("a", "b"), {}, np.dtype(float), (2, 2)

            def __array__(self, dtype=None, copy=None):
                return np.array([[1.0, 2.0], [3.0, 5.0]])

            def __arrow_c_stream__(self, requested_schema=None):
                raise AssertionError("its elements are in __array__")

        self.assertEqual((samesum.sum(DataArray()), samesum.sum(DataArray(), axis=0).tolist(), samesum.max(DataArray())), (11.0, [4.0, 7.0], 5.0))


if __name__ == "__main__":
    unittest.main()
