"""Dates and durations against exact arithmetic; functions that are told of progress."""
import datetime
import importlib
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

NAT = -2**63


def draw(rng, dtype, shape, nats=0.0):
    """Times of all sizes."""
    values = [NAT if rng.random() < nats else int(rng.uniform(-1, 1) * 2.0 ** rng.randint(0, 62)) for _ in range(int(np.prod(shape)))]
    return np.array(values, np.int64).view(dtype.lstrip("<>")).astype(dtype).reshape(shape)


def ints(x):
    return np.asarray(x).astype(x.dtype.newbyteorder("=")).view(np.int64).reshape(-1).tolist()


def mean_of(values):
    """The nearest integer, ties to even, as Python rounds fractions."""
    return round(Fraction(sum(values), len(values)))


def answer(name, values, nan):
    """What the reduction of these integers is."""
    if nan == "propagate" and NAT in values:
        return values.index(NAT) if name.startswith("arg") else NAT
    kept = [v for v in values if v != NAT]
    if name == "sum":
        return sum(kept)
    if name == "mean":
        return mean_of(kept)
    chosen = min(kept) if name.endswith("min") else max(kept)
    return values.index(chosen) if name.startswith("arg") else chosen


class Times(unittest.TestCase):
    def test_reductions(self):
        rng, wanted = random.Random(1), []
        for dtype in ("M8[ns]", "m8[ns]", ">M8[s]", "<m8[D]", "m8[25us]"):
            for nats in (0.0, 0.05):
                x = draw(rng, dtype, (12, 9), nats)[::-1, ::2]
                if not nats:  # so that sums fit
                    x = (np.array(ints(x)) // 64).view(x.dtype.newbyteorder("=")).astype(x.dtype).reshape(x.shape)
                for name in ("sum", "mean", "min", "max", "argmin", "argmax"):
                    function = getattr(samesum, name)
                    for nan in ("propagate", "skip"):
                        for axis in (None, 0, 1, -1):
                            rows = [ints(x)] if axis is None else [ints(row) for row in np.moveaxis(x, axis, -1)]
                            if name == "sum" and "M" in dtype:
                                with self.assertRaisesRegex(TypeError, "no sum"):
                                    function(x, axis=axis, nan=nan)
                                continue
                            answers = [answer(name, row, nan) for row in rows]
                            if any(not -2**63 <= each < 2**63 for each in answers):
                                with self.assertRaisesRegex(samesum.NoAnswerError, "fit"):
                                    function(x, axis=axis, nan=nan)
                                continue
                            found = function(x, axis=axis, nan=nan)
                            if name.startswith("arg"):
                                self.assertEqual(np.reshape(found, -1).tolist(), answers, (name, dtype, axis, nan))
                            else:
                                self.assertEqual(found.dtype, x.dtype.newbyteorder("="))
                                self.assertEqual(np.asarray(found).reshape(-1).view(np.int64).tolist(), answers, (name, dtype, axis, nan))
                                self.assertEqual(found.shape, () if axis is None else x.max(axis=axis).shape)
                            wanted += [each for each in answers if each != NAT]
        informative(wanted)

    def test_means_round_to_even(self):
        for values, wanted in (([1, 2], 2), ([2, 3], 2), ([-1, -2], -2), ([-3, -2], -2), ([1, 1, 3], 2), ([0, 0, 1], 0), ([2**62, 2**62 + 1], 2**62)):
            for kind in "mM":
                self.assertEqual(samesum.mean(np.array(values).view(f"{kind}8[s]")).view(np.int64), wanted)
        whole = np.full(1000, 2**63 - 1).view("M8[ns]")
        self.assertEqual(samesum.mean(whole), whole[0])
        self.assertEqual(samesum.mean(whole.reshape(10, 100), axis=1).tolist(), whole[:10].tolist())

    def test_a_single_time(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for name in ("mean", "min", "max"):
                self.assertTrue(np.isnat(getattr(samesum, name)(np.datetime64("NaT", "s"))))
                self.assertEqual(getattr(samesum, name)(np.datetime64("2026-11-24")), np.datetime64("2026-11-24"))
            self.assertEqual(samesum.sum(np.timedelta64(5, "s")), np.timedelta64(5, "s"))

    def test_sums_that_fit_and_do_not(self):
        most = np.array([2**63 - 1, 1, -1], np.int64)
        self.assertEqual(samesum.sum(most.view("m8[ms]")).view(np.int64), 2**63 - 1)
        for values in ([2**63 - 1, 1], [-2**63 + 1, -1]):
            for axis in (None, 0):
                with self.assertRaises(samesum.NoAnswerError):
                    samesum.sum(np.array(values, np.int64).view("m8[ms]"), axis=axis)
        self.assertEqual(samesum.sum(np.zeros(0, "m8[s]")), np.timedelta64(0, "s"))
        for x in (np.zeros(0, "m8[s]"), np.zeros((3, 0), "M8[s]")):
            for name in ("mean", "min", "argmax"):
                with self.assertRaises(samesum.NoAnswerError):
                    getattr(samesum, name)(x, axis=x.ndim - 1)
        with self.assertRaisesRegex(samesum.NoAnswerError, "NaT"):
            samesum.mean(np.array(["NaT"], "M8[s]"), nan="skip")

    def test_a_nat_wins_over_a_sum_that_does_not_fit(self):
        x = np.array([[5, 2**62, NAT], [2**62, 2**62, 2**62], [NAT, -7, 2**62]], np.int64).view("m8[s]")
        self.assertEqual(samesum.sum(x).view(np.int64), NAT)
        self.assertEqual(ints(samesum.sum(x[:, ::2], axis=0)), [NAT, NAT])
        self.assertEqual(ints(samesum.sum(x[::2], axis=1)), [NAT, NAT])
        self.assertEqual(ints(samesum.sum(x[:, :2], axis=0, where=[[True], [False], [True]])), [NAT, 2**62 - 7])
        self.assertEqual(ints(samesum.groupby([1, 0, 1]).sum(x[:, 0])), [2**62, NAT])
        self.assertEqual(ints(samesum.groupby([1, 1, 1, 0]).sum(np.array([2**62, 2**62, NAT, 3]).view("m8[s]"))), [3, NAT])
        self.assertEqual(ints(samesum.cumsum(x[::2].reshape(-1))), [5, 2**62 + 5, NAT, NAT, NAT, NAT])
        self.assertEqual(ints(samesum.cumsum(x[[2, 1, 1], :2], axis=0)[:, 0]), [NAT, NAT, NAT])
        for call in (lambda: samesum.sum(x, nan="skip"), lambda: samesum.sum(x, axis=1), lambda: samesum.cumsum(x[1]), lambda: samesum.cumsum(x, nan="skip"),
                     lambda: samesum.groupby([0, 0, 1]).sum(x[1])):
            with self.assertRaises(samesum.NoAnswerError):
                call()

    def test_where_masked_out_and_keepdims(self):
        rng = random.Random(2)
        x = draw(rng, "m8[ns]", (6, 8), 0.1)
        x = np.where(np.isnat(x), x, (x.view(np.int64) // 64).view("m8[ns]"))
        take = np.array([[rng.random() < 0.7 for _ in range(8)] for _ in range(6)])
        for name in ("sum", "mean", "min", "max"):
            function = getattr(samesum, name)
            wanted = [answer(name, ints(row[kept]), "skip") for row, kept in zip(x, take)]
            for found in (function(x, axis=1, where=take, nan="skip"), function(np.ma.array(x, mask=~take), axis=1, nan="skip"),
                          function(x, axis=1, where=take, keepdims=True, nan="skip")[:, 0]):
                self.assertEqual(ints(found), wanted)
            out = np.zeros(6, "m8[ns]")
            self.assertIs(function(x, axis=1, where=take, nan="skip", out=out), out)
            self.assertEqual(ints(out), wanted)
            with self.assertRaisesRegex(ValueError, "out has"):
                function(x, axis=1, out=np.zeros(6, "m8[s]"))
        with self.assertRaises(TypeError):
            samesum.argmin(np.ma.array(x, mask=take))
        for name in ("var", "prod", "median", "norm", "count_nonzero", "dot", "stats"):
            with self.assertRaises(TypeError):
                getattr(samesum, name)(*(x[0], x[0])[:2 if name == "dot" else 1])
        for name in ("prod", "var"):
            with self.assertRaises(TypeError):
                getattr(samesum, name)(x, axis=0, where=take)
        with self.assertRaisesRegex(ValueError, "dtype"):
            samesum.mean(x, dtype=np.float32)
        with self.assertRaisesRegex(ValueError, "propagate"):
            samesum.mean(x, nan="omit")

    def test_prefixes(self):
        x = np.array([5, 2**62, NAT, 7], np.int64).view("m8[s]")
        self.assertEqual(ints(samesum.cumsum(x)), [5, 2**62 + 5, NAT, NAT])
        self.assertEqual(ints(samesum.cumsum(x, nan="skip")), [5, 2**62 + 5, 2**62 + 5, 2**62 + 12])
        self.assertEqual(ints(samesum.cumsum(x.reshape(2, 2), axis=0)), [5, 2**62, NAT, 2**62 + 7])
        with self.assertRaises(TypeError):
            samesum.cumsum(x.view("M8[s]"))
        with self.assertRaises(samesum.NoAnswerError):
            samesum.cumsum(np.array([2**62, 2**62], "m8[s]"))

    def test_groups(self):
        rng = random.Random(3)
        keys = np.array([rng.randrange(7) for _ in range(200)])
        for dtype in ("m8[ns]", ">M8[us]"):
            x = draw(rng, dtype, 200, 0.02)
            if "m" in dtype:
                x = np.where(np.isnat(x), x, (x.view(np.int64) // 128).view("m8[ns]"))
            groups = samesum.groupby(keys)
            rows = [ints(x[keys == k]) for k in range(7)]
            for name in ("mean", "min", "max") + (("sum",) if "m" in dtype else ()):
                for nan in ("propagate", "skip"):
                    found = getattr(groups, name)(x, nan=nan)
                    self.assertEqual(found.dtype, x.dtype.newbyteorder("="))
                    self.assertEqual(ints(found), [answer(name, row, nan) for row in rows])
            self.assertEqual(groups.count(x).tolist(), [len(row) for row in rows])
        with self.assertRaisesRegex(TypeError, "no var"):
            samesum.groupby(keys).var(x)
        self.assertEqual(ints(samesum.groupby([1, 2]).mean(np.array([NAT, 3]).view("m8[s]"), nan="skip")), [NAT, 3])
        try:
            import pandas
            zoned = pandas.Series(pandas.to_datetime(["2020-01-01", "2021-01-01", "2019-01-01"], utc=True)).dt.tz_convert("Europe/Oslo")
            for each in (zoned, pandas.DatetimeIndex(zoned), zoned.array):
                self.assertEqual([str(day)[:10] for day in samesum.groupby([1, 1, 2]).max(each)], ["2021-01-01", "2019-01-01"])
                self.assertEqual(str(samesum.max(each))[:10], "2021-01-01")
        except ImportError:
            pass
        with self.assertRaisesRegex(samesum.SamesumError, "'propagate' or 'skip', not 'foo'"):
            samesum.groupby([1, 1]).sum(np.array([1, 2], "m8[s]"), nan="foo")
        days = np.array(["2026-01-02", "2026-01-01", "2026-01-02"], "M8[D]")
        self.assertEqual(samesum.groupby(days).keys.tolist(), sorted(set(days.tolist())))

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        x = pandas.Series(draw(random.Random(4), "M8[ns]", 100))
        self.assertEqual(samesum.mean(x).view(np.int64), mean_of(x.to_numpy().view(np.int64).tolist()))
        self.assertEqual(samesum.max(x), x.max().to_datetime64())


class Progress(unittest.TestCase):
    def test_work_says_how_far_it_is(self):
        x = np.ones(1 << 23)
        small, cells = x[:1 << 10], {"bins": 3, "range": (0, 2)}
        for name, arguments, named, total in (
                *((name, (x,), {}, x.nbytes) for name in ("sum", "mean", "var", "std", "norm", "min", "max", "argmin", "argmax", "prod",
                                                          "count_nonzero", "stats")),
                ("median", (x,), {}, 0), ("quantile", (x, 0.5), {}, 0), ("histogram", (x,), cells, x.nbytes), ("dot", (x, x), {}, 2 * x.nbytes),
                ("vdot", (x, x), {}, 2 * x.nbytes), ("histogram2d", (x, x, 2), {}, 2 * x.nbytes), ("histogramdd", ([x, x], 2), {}, 2 * x.nbytes),
                ("pairs", (small, small), {}, 1 << 20)):
            seen, function = [], getattr(samesum, name)
            found = function(*arguments, **named, progress=lambda done, whole: seen.append((done, whole)))
            plain = function(*arguments, **named)
            if isinstance(plain, tuple):
                found, plain = found[0], plain[0]
            self.assertTrue(np.all(found == plain), name)
            self.assertEqual([each for each, _ in seen], sorted(each for each, _ in seen) if total else [each for each, _ in seen])
            self.assertEqual({whole for _, whole in seen}, {total}, name)
            if total:
                self.assertEqual(seen[-1], (total, total), name)

    def test_an_exception_ends_the_work(self):
        class Enough(Exception):
            pass

        def stop(done, whole):
            raise Enough(done)

        x = np.ones(1 << 23)
        for _ in range(2):
            with self.assertRaises(Enough):
                samesum.sum(x, progress=stop)
        self.assertEqual(samesum.sum(x), 1 << 23)

    def test_a_callback_may_sum(self):
        x, seen = np.ones(1 << 23), []
        samesum.sum(x, progress=lambda done, whole: seen.append(samesum.sum(x)))
        self.assertEqual(set(seen), {float(1 << 23)})


class Columns(unittest.TestCase):
    """Times of polars, pyarrow and pandas: nulls are left out, NaT is not."""

    def columns(self, values):
        for name, make in (("polars", lambda module: module.Series(values)), ("pyarrow", lambda module: module.array(values)),
                           ("pyarrow", lambda module: module.chunked_array([values[:2], values[2:]])),
                           ("pandas", lambda module: module.Series(values, dtype=module.ArrowDtype(importlib.import_module("pyarrow").array(values).type)))):
            try:
                yield make(importlib.import_module(name))
            except ImportError:
                continue

    def test_nulls_are_left_out(self):
        day = datetime.timedelta(1)
        first, tried = datetime.datetime(2024, 2, 28), 0
        for x in self.columns([first, None, first + 3 * day, first + day]):
            tried += 1
            self.assertEqual(samesum.mean(x), np.datetime64("2024-02-29T08:00", "us"), type(x))
            self.assertEqual((samesum.min(x), samesum.max(x)), (np.datetime64(first), np.datetime64(first + 3 * day)))
            self.assertRaises(TypeError, samesum.argmin, x)
            self.assertRaises(TypeError, samesum.groupby([1, 1, 2, 2]).mean, x)
        for x in self.columns([day, None, -3 * day]):
            self.assertEqual(samesum.sum(x), np.timedelta64(-2 * day))
        for x in self.columns([day, 2 * day]):
            self.assertEqual((samesum.sum(x), samesum.argmax(x)), (np.timedelta64(3 * day), 1))
        if not tried:
            self.skipTest("neither polars nor pyarrow is installed")

    def test_time_zones_are_utc(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        x = pandas.Series(pandas.to_datetime(["2024-01-01 01:00", "2024-01-03 01:00"])).dt.tz_localize("Etc/GMT-1")
        self.assertEqual(samesum.mean(x), np.datetime64("2024-01-02T00:00"))
        self.assertEqual((samesum.max(x), samesum.argmax(x)), (np.datetime64("2024-01-03T00:00"), 1))


if __name__ == "__main__":
    unittest.main()
