"""samesum.dask: the same bits for any chunks, those of exact arithmetic."""
import doctest
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import textwrap
import unittest
from fractions import Fraction

from support.informative import informative

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
    import dask
    import dask.array as da
except ImportError as error:
    raise unittest.SkipTest(f"samesum.dask is not tested: {error}")
import samesum.dask as exact
from samesum import _dask_parts

REDUCTIONS = ("sum", "mean", "var", "std", "norm")
dask.config.set(scheduler="synchronous")


def ugly(rng, shape, dtype="float64"):
    """Elements that cancel, of all sizes."""
    n = int(np.prod(shape))
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return np.array([rng.randint(info.min, info.max) for _ in range(n)], dtype).reshape(shape)
    top = 60 if dtype == "float32" else 400
    x = np.array([rng.uniform(-1, 1) * 2.0 ** rng.randint(-top, top) for _ in range(n)], dtype)
    x[:n // 3] = -x[n // 3:2 * (n // 3)]
    return x.reshape(shape)


def chunked(rng, x):
    """The array in chunks of random sizes."""
    sizes = []
    for n in x.shape:
        cuts = sorted({0, n, *(rng.randint(0, n) for _ in range(rng.randint(0, 3)))})
        sizes.append(tuple(b - a for a, b in zip(cuts, cuts[1:])) or (0,))
    return da.from_array(x, chunks=tuple(sizes))


def total(x):
    return sum((Fraction(v) for v in np.ravel(x).tolist()), Fraction(0))


class Arrays(unittest.TestCase):
    def test_any_chunks_give_the_same_bits(self):
        rng, wanted = random.Random(1), []
        for dtype in ("float64", "float32", "int32", "uint8"):
            x = ugly(rng, (20, 9, 5), dtype)
            rows = x.reshape(20, 45)
            wanted.append(total(x))
            for _ in range(2):
                d = chunked(rng, x)
                self.assertEqual(exact.sum(d).compute(), float(total(x)) if dtype.startswith("f") else int(total(x)))
                self.assertEqual(exact.mean(d).compute(), float(total(x) / x.size))
                for name in REDUCTIONS:
                    ours, whole = getattr(exact, name), getattr(samesum, name)
                    self.assertEqual(ours(d).compute(), whole(x), (name, dtype))
                    found = ours(d, axis=(1, -1))
                    self.assertEqual(found.shape, (20,))
                    self.assertEqual(found.compute().tolist(), [whole(row) for row in rows], (name, dtype))
                    for axis in (0, 1, 2, (0, 2), (0, 1, 2)):
                        found = ours(d, axis=axis)
                        self.assertEqual(found.compute().tolist(), whole(x, axis=axis).tolist(), (name, dtype, axis))
                        self.assertEqual(found.compute().dtype, found.dtype)
                        self.assertEqual(ours(d, axis=axis, keepdims=True).compute().shape, x.sum(axis=axis, keepdims=True).shape)
                for name in ("var", "std"):
                    self.assertEqual(getattr(exact, name)(d, ddof=2).compute(), getattr(samesum, name)(x, ddof=2))
                    self.assertEqual(getattr(exact, name)(d, axis=0, ddof=2).compute().tolist(), getattr(samesum, name)(x, axis=0, ddof=2).tolist())
        informative(wanted)

    def test_many_chunks_make_a_tree(self):
        x = ugly(random.Random(2), 1000)
        self.assertEqual(exact.sum(da.from_array(x, chunks=1)).compute(), informative(float(total(x))))
        rows = da.from_array(x.reshape(2, 500), chunks=(1, 3))
        self.assertEqual(exact.sum(rows, axis=1).compute().tolist(), [float(total(row)) for row in x.reshape(2, 500)])

    def test_nans_and_no_elements(self):
        x = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, 5.0]])
        d = da.from_array(x, chunks=(1, 2))
        self.assertTrue(np.isnan(exact.sum(d).compute()))
        for name in REDUCTIONS:
            self.assertEqual(getattr(exact, name)(d, nan="skip").compute(), getattr(samesum, name)(x, nan="skip"))
            np.testing.assert_array_equal(getattr(exact, name)(d, axis=0).compute(), getattr(samesum, name)(x, axis=0))
            np.testing.assert_array_equal(getattr(exact, name)(d, axis=1, nan="skip").compute(), getattr(samesum, name)(x, axis=1, nan="skip"))
        self.assertEqual(exact.sum(da.zeros(0)).compute(), 0.0)
        self.assertEqual(exact.sum(da.zeros((0, 3), dtype=int, chunks=2), axis=0).compute().tolist(), [0, 0, 0])
        with self.assertRaises(samesum.NoAnswerError):
            exact.mean(da.zeros(0)).compute()
        self.assertTrue(np.isnan(exact.mean(da.zeros((2, 0)), axis=1).compute()).all())

    def test_integers_that_do_not_fit(self):
        for x in (np.full(4, 2**62), np.full(2, 2**63, np.uint64)):
            with self.assertRaises(samesum.NoAnswerError):
                exact.sum(da.from_array(x, chunks=1)).compute()
            with self.assertRaises(samesum.NoAnswerError):
                exact.sum(da.from_array(x[:, None], chunks=1), axis=0).compute()
        self.assertEqual(exact.sum(da.from_array(np.array([2**62, 2**62, -2**62]), chunks=1)).compute(), 2**62)

    def test_chunks_of_unknown_sizes(self):
        x = ugly(random.Random(3), 300)
        d = da.from_array(x, chunks=70)
        self.assertEqual(exact.sum(d[d > 0]).compute(), informative(float(total(x[x > 0]))))
        self.assertEqual(exact.dot(d[d > 0], d[d > 0]).compute(), samesum.dot(x[x > 0], x[x > 0]))

    def test_products(self):
        rng = random.Random(4)
        for dtype in ("float64", "float32", "int16"):
            a, b = ugly(rng, 500, dtype), ugly(rng, 500, dtype)
            found = exact.dot(chunked(rng, a), chunked(rng, b)).compute()
            products = sum(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist()))
            self.assertEqual(found, informative(float(products) if dtype.startswith("f") else int(products)))

    def test_histograms(self):
        rng = random.Random(5)
        x = np.array([rng.gauss(0, 1) for _ in range(2000)])
        for bins, limits in ((20, (-2, 2)), ([-1.0, 0.0, 0.5, 3.0], None)):
            counts, edges = exact.histogram(chunked(rng, x), bins, limits)
            wanted, wanted_edges = np.histogram(x, bins, limits)
            self.assertEqual((counts.compute().tolist(), edges.tolist()), (wanted.tolist(), np.asarray(wanted_edges, float).tolist()))
            self.assertEqual(counts.dtype, np.int64)

    def test_groups(self):
        rng = random.Random(6)
        for keys in (np.array([rng.randrange(9) for _ in range(400)]), np.array([rng.choice(["b", "aa", "c"]) for _ in range(400)]),
                     np.array([rng.choice([0.5, np.nan, -1.0]) for _ in range(400)])):
            for dtype in ("float64", "int32", "uint8"):
                x = ugly(rng, 400, dtype)
                groups, whole = exact.groupby(chunked(rng, keys)), samesum.groupby(keys)
                np.testing.assert_array_equal(groups.keys.compute(), whole.keys)
                for name in ("sum", "mean", "var", "std", "min", "max", "count"):
                    found = getattr(groups, name)(chunked(rng, x))
                    self.assertEqual(found.compute().dtype, found.dtype)
                    np.testing.assert_array_equal(found.compute(), getattr(whole, name)(x), name)
                self.assertEqual(groups.var(chunked(rng, x), ddof=1).compute().tolist(), whole.var(x, ddof=1).tolist())
        self.assertEqual(exact.groupby(da.from_array(np.array([1, 2, 1]), chunks=1)).sum(da.from_array(np.array([1e16, 2.0, 1.0]), chunks=2),
                                                                                        nan="skip").compute().tolist(), [1e16, 2.0])

    def test_ddof_may_be_a_float(self):
        x = np.array([1.0, 2.0, 6.0])
        d = da.from_array(x, chunks=2)
        self.assertEqual((float(exact.var(d, ddof=1.0)), float(exact.std(d, ddof=2.0))), (samesum.var(x, ddof=1), samesum.std(x, ddof=2)))
        self.assertEqual(exact.groupby(da.from_array(np.array([1, 1, 1]), chunks=2)).var(d, ddof=1.0).compute().tolist(), [samesum.var(x, ddof=1)])

    def test_groups_without_elements_have_the_types_that_were_announced(self):
        for dtype, wanted in (("i4", np.int64), ("u2", np.uint64), ("f4", np.float64)):
            for size in (0, 3):
                keys, x = (da.from_array(np.arange(size).astype(each), chunks=1) for each in (int, dtype))
                for name in ("sum", "min", "max"):
                    found = getattr(exact.groupby(keys), name)(x)
                    self.assertEqual((found.dtype, found.compute().dtype, found.compute().tolist()), (wanted, wanted, list(range(size))))

    def test_errors(self):
        x = da.ones((3, 4), chunks=2)
        for error, wrong in ((ValueError, lambda: exact.sum(x, axis=2)), (ValueError, lambda: exact.sum(x, axis=(0, -2))),
                             (TypeError, lambda: exact.sum(x.astype(complex))), (TypeError, lambda: exact.sum(x.astype("M8[s]"))),
                             (ValueError, lambda: exact.dot(x, x)), (ValueError, lambda: exact.dot(x[0], x[:, 0])),
                             (ValueError, lambda: exact.dot(x[0], x[0].astype("f4"))), (ValueError, lambda: exact.histogram(x)),
                             (ValueError, lambda: exact.groupby(x[0]).sum(x[:, 0])),
                             (ValueError, lambda: exact.var(x, ddof=-1)), (TypeError, lambda: exact.groupby(x[0]).std(x[0], ddof="1"))):
            with self.assertRaises(error) as caught:
                wrong()
            self.assertGreater(len(str(caught.exception)), 20)

    def test_examples_run(self):
        finder = doctest.DocTestFinder(exclude_empty=False)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        said = []
        for name in (None, *exact.__all__):
            value = exact if name is None else getattr(exact, name)
            for case in finder.find(value, name or "samesum.dask", globs={"samesum": samesum, "dask": dask, "numpy": np}, module=False):
                runner.run(case, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 9)


class Frames(unittest.TestCase):
    def setUp(self):
        try:
            import dask.dataframe
            import pandas
        except ImportError as error:
            self.skipTest(f"dask.dataframe cannot be imported: {error}")
        rng = random.Random(7)
        self.frame = pandas.DataFrame({"key": [rng.choice(["b", "a", "c"]) for _ in range(300)], "x": ugly(rng, 300), "n": range(300)})
        self.parts = [dask.dataframe.from_pandas(self.frame, npartitions=n) for n in (1, 2, 20)]
        self.pandas = pandas

    def test_columns(self):
        x, n = self.frame["x"].to_numpy(), self.frame["n"].to_numpy()
        for d in self.parts:
            for name in REDUCTIONS:
                self.assertEqual(getattr(exact, name)(d["x"]).compute(), getattr(samesum, name)(x))
            self.assertEqual(exact.sum(d["x"]).compute(), informative(float(total(x))))
            self.assertEqual(exact.sum(d["n"]).compute(), 300 * 299 // 2)
            self.assertEqual(exact.dot(d["x"], d["x"]).compute(), samesum.dot(x, x))
            self.assertEqual(exact.histogram(d["n"], 3, (0, 300))[0].compute().tolist(), [100] * 3)
            groups, whole = exact.groupby(d["key"]), samesum.groupby(self.frame["key"])
            self.assertEqual(groups.keys.compute().tolist(), ["a", "b", "c"])
            for name in ("sum", "mean", "var", "max", "count"):
                self.assertEqual(getattr(groups, name)(d["x"]).compute().tolist(), getattr(whole, name)(x).tolist())
            self.assertEqual(groups.sum(d["n"]).compute().tolist(), whole.sum(n).tolist())
        with self.assertRaisesRegex(ValueError, "partitions"):
            exact.dot(self.parts[1]["x"], self.parts[2]["x"])

    def test_missing_values(self):
        import dask.dataframe
        x = self.pandas.Series([1.5, None, 2.5, 4.0], dtype="Float64")
        d = dask.dataframe.from_pandas(x, npartitions=2)
        self.assertEqual((exact.sum(d).compute(), exact.mean(d).compute()), (8.0, 8.0 / 3))
        n = dask.dataframe.from_pandas(self.pandas.Series([1, None, 4, 1], dtype="Int64"), npartitions=2)
        self.assertEqual((exact.sum(n).compute(), exact.sum(n).dtype), (6, np.int64))
        for refused in (lambda: exact.dot(d, d), lambda: exact.groupby(n).sum(d), lambda: exact.groupby(d).keys):
            with self.assertRaisesRegex(TypeError, "missing"):
                refused().compute()

    def test_columns_of_arrow(self):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("pyarrow is not installed")
        d = self.parts[1].astype({"n": "int32[pyarrow]", "x": "double[pyarrow]"})
        self.assertEqual(exact.sum(d["n"]).compute(), 300 * 299 // 2)
        self.assertEqual(exact.var(d["x"]).compute(), samesum.var(self.frame["x"]))
        self.assertEqual(exact.norm(d["x"]).compute(), samesum.norm(self.frame["x"]))
        self.assertEqual(exact.groupby(d["key"]).mean(d["x"]).compute().tolist(), samesum.groupby(self.frame["key"]).mean(self.frame["x"]).tolist())


class Processes(unittest.TestCase):
    def test_parts_pickle_and_stay_what_they_are(self):
        x = ugly(random.Random(8), (30, 4))
        parts = [_dask_parts.along(each, (0,), "var") for each in (x[:10], x[10:])]
        before = [pickle.dumps(part) for part in parts]
        merged = _dask_parts.merged_along([pickle.loads(each) for each in before])
        self.assertEqual(_dask_parts.merged_along(parts)[1].shown("var", 0, None).tolist(), samesum.var(x, axis=0).tolist())
        self.assertEqual(merged[1].shown("sum", 0, None).tolist(), samesum.sum(x, axis=0).tolist())
        self.assertEqual([pickle.dumps(part) for part in parts], before)
        product = pickle.loads(pickle.dumps(samesum._core.products(x[:, 0], x[:, 1])))
        self.assertEqual(product.round(None), samesum.dot(x[:, 0], x[:, 1]))

    def test_threads_and_processes(self):
        code = """
            import sys
            import numpy as np, dask, dask.array as da, samesum, samesum.dask
            if __name__ == "__main__":
                x = np.arange(3000.0).reshape(30, 100) ** 9 * np.where(np.arange(100) % 2, -1, 1)
                d = da.from_array(x, chunks=(7, 30))
                for scheduler in ("threads", "processes"):
                    with dask.config.set(scheduler=scheduler, num_workers=2):
                        assert samesum.dask.sum(d).compute() == samesum.sum(x)
                        assert samesum.dask.sum(d, axis=0).compute().tolist() == samesum.sum(x, axis=0).tolist()
                        means = samesum.groupby(x[:, 0] % 3).mean(x[:, 1])
                        assert samesum.dask.groupby(d[:, 0] % 3).mean(d[:, 1]).compute().tolist() == means.tolist()
                        counts = samesum.histogram(x, 5, (-1e9, 1e9)).counts()
                        assert samesum.dask.histogram(d, 5, (-1e9, 1e9))[0].compute().tolist() == counts.tolist()
                        assert samesum.dask.dot(d[0], d[1]).compute() == samesum.dot(x[0], x[1])
                print("the same")
        """
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(textwrap.dedent(code), encoding="utf-8")
            environment = {**os.environ, "PYTHONPATH": os.environ["SAMESUM_PYTHON_PACKAGE"]}
            done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=300)
            self.assertEqual((done.stdout, done.returncode), ("the same\n", 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
