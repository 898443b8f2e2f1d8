"""Columns of Arrow's PyCapsule interface, pandas, polars and pyarrow; what is missing is left out."""
import ctypes
import gc
import importlib.util
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


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = (ctypes.CFUNCTYPE(None, ctypes.POINTER(each)) for each in (Schema, Array, Stream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
POINTER, NUMBER = ctypes.c_void_p, ctypes.c_int64
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", POINTER), ("flags", NUMBER), ("n_children", NUMBER),
                   ("children", POINTER), ("dictionary", POINTER), ("release", RELEASE_SCHEMA), ("private_data", POINTER)]
Array._fields_ = [("length", NUMBER), ("null_count", NUMBER), ("offset", NUMBER), ("n_buffers", NUMBER), ("n_children", NUMBER),
                  ("buffers", ctypes.POINTER(POINTER)), ("children", POINTER), ("dictionary", POINTER), ("release", RELEASE_ARRAY),
                  ("private_data", POINTER)]
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", LAST_ERROR), ("release", RELEASE_STREAM),
                   ("private_data", POINTER)]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [POINTER, ctypes.c_char_p, POINTER]

FORMATS = {"int8": b"c", "uint8": b"C", "int16": b"s", "uint16": b"S", "int32": b"i", "uint32": b"I", "int64": b"l", "uint64": b"L",
           "float16": b"e", "float32": b"f", "float64": b"g", "bool": b"b"}


def bits(values, before):
    """A bitmap of Arrow, after `before` bits of another slice."""
    return np.packbits(np.concatenate([np.ones(before, bool), np.asarray(values, bool)]), bitorder="little")


class Producer:
    """Chunks of a column as a producer of Arrow's C data interface lends them; counts what is not yet released."""

    def __init__(self, chunks, valid=None, offset=0, null_count=None, format=None, fails=False):
        self.chunks, self.lent, self.keep, self.fails = chunks, 0, [], fails
        self.format = format or FORMATS[chunks[0].dtype.name]
        self.valid = valid or [None] * len(chunks)
        self.offset, self.null_count = offset, null_count
        self.release_schema, self.release_array, self.release_stream = RELEASE_SCHEMA(self.end), RELEASE_ARRAY(self.end), RELEASE_STREAM(self.end)
        self.get_schema, self.get_next, self.last_error = GET_SCHEMA(self.fill_schema), GET_NEXT(self.fill_next), LAST_ERROR(self.error)
        self.at = 0

    def end(self, structure):
        structure[0].release = type(structure[0].release)()
        self.lent -= 1

    def error(self, _):
        return ctypes.cast(b"the disk is on fire", POINTER).value

    def fill_schema(self, _, schema):
        schema[0].format, schema[0].release, self.lent = self.format, self.release_schema, self.lent + 1
        return 0

    def fill_array(self, array, i):
        chunk, valid = self.chunks[i], self.valid[i]
        data = bits(chunk, self.offset) if chunk.dtype == bool else np.concatenate([np.full(self.offset, 77, chunk.dtype), chunk])
        data = np.ascontiguousarray(data)
        mask = None if valid is None else bits(valid, self.offset)
        buffers = (POINTER * 2)(None if mask is None else mask.ctypes.data, data.ctypes.data)
        self.keep += [data, mask, buffers]
        self.places = getattr(self, "places", []) + [data.ctypes.data + (0 if chunk.dtype == bool else self.offset * chunk.itemsize)]
        nulls = 0 if valid is None else int(np.sum(~np.asarray(valid)))
        array.length, array.offset, array.n_buffers = len(chunk), self.offset, 2
        array.null_count = nulls if self.null_count is None else self.null_count
        array.buffers, array.release, self.lent = buffers, self.release_array, self.lent + 1

    def fill_next(self, _, array):
        if self.fails:
            return 5
        if self.at < len(self.chunks):
            self.fill_array(array[0], self.at)
            self.at += 1
        return 0

    def capsule(self, structure, name):
        self.keep.append(structure)
        return new_capsule(ctypes.addressof(structure), name, None)


class AsArray(Producer):
    def __arrow_c_array__(self, requested_schema=None):
        schema, array = Schema(), Array()
        self.fill_schema(None, ctypes.pointer(schema))
        self.fill_array(array, 0)
        return self.capsule(schema, b"arrow_schema"), self.capsule(array, b"arrow_array")


class AsStream(Producer):
    def __arrow_c_stream__(self, requested_schema=None):
        self.at, self.lent = 0, self.lent + 1
        stream = Stream(self.get_schema, self.get_next, self.last_error, self.release_stream, None)
        return self.capsule(stream, b"arrow_array_stream")


def exact(values):
    """Their sum, rounded once where one of them is a float."""
    values = np.asarray(values, object).tolist() if isinstance(values, list) else values.tolist()
    total = sum((Fraction(v) for v in values), Fraction(0))
    return float(total) if any(isinstance(v, float) for v in values) else int(total)


class Arrow(unittest.TestCase):
    def test_columns_of_all_types(self):
        rng = np.random.default_rng(1)
        for name in FORMATS:
            sums = []
            for offset in (0, 3, 11):
                for nulls in (False, True):
                    for given in (None, -1):
                        x = (rng.normal(size=50) * 100).astype(name) if name != "bool" else rng.random(50) < 0.5
                        valid = rng.random(50) < 0.7
                        column = AsArray([x], [valid] if nulls else None, offset, given if nulls else None)
                        taken = x[valid] if nulls else x
                        with self.subTest(name=name, offset=offset, nulls=nulls):
                            self.assertEqual(samesum.sum(column), exact(taken))
                            self.assertEqual(samesum.count_nonzero(column, axis=0), np.count_nonzero(taken))
                            self.assertEqual(samesum.all(column), bool(taken.all()))
                            sums.append(exact(taken))
                        gc.collect()
                        self.assertEqual(column.lent, 0)
            informative(sums)

    def test_streams(self):
        rng = np.random.default_rng(2)
        chunks = [rng.normal(size=n) for n in (7, 0, 30, 1)]
        valid = [None, None, rng.random(30) < 0.5, np.array([False])]
        taken = np.concatenate([chunks[0], chunks[2][valid[2]]])
        for column, wanted in ((AsStream(chunks, valid, 5), taken), (AsStream(chunks), np.concatenate(chunks)), (AsStream(chunks[:1]), chunks[0])):
            self.assertEqual(samesum.sum(column), informative(exact(wanted)))
            self.assertEqual(samesum.median(column), np.median(wanted))
            gc.collect()
            self.assertEqual(column.lent, 0)
        empty = AsStream([np.zeros(0)])
        empty.chunks = []
        self.assertEqual(samesum.sum(empty), 0.0)
        broken = AsStream(chunks, fails=True)
        with self.assertRaisesRegex(samesum.SamesumError, "the disk is on fire"):
            samesum.sum(broken)
        self.assertEqual(broken.lent, 0)

    def test_one_chunk_is_not_copied(self):
        from samesum import _core
        for column in (AsArray([np.arange(1000.0)], None, 3), AsStream([np.arange(1000.0)], None, 3)):
            array, missing = _core.read_arrow(column)
            self.assertEqual((array.ctypes.data, missing, array.tolist()), (column.places[-1], 0, list(range(1000))))
            self.assertFalse(array.flags.writeable)
            gc.collect()
            self.assertEqual(column.lent, 1)
            del array
            gc.collect()
            self.assertEqual(column.lent, 0)

    def test_positions_are_not_shifted_without_a_word(self):
        x, valid = np.array([3.0, 1.0, 2.0]), np.array([False, True, True])
        column = AsArray([x], [valid])
        masked = np.ma.array(x, mask=~valid)
        for short in (column, masked):
            for call in (lambda: samesum.argmin(short), lambda: samesum.argmax(short, axis=0), lambda: samesum.cumsum(short),
                         lambda: samesum.groupby([1, 2, 1]).sum(column), lambda: samesum.bincount([1, 2, 1], weights=short),
                         lambda: samesum.dot(short, x), lambda: samesum.vdot(x, short),
                         lambda: samesum.map("x + 1", x=short), lambda: samesum.pairs(short, x), lambda: samesum.histogram2d(short, x)):
                with self.assertRaisesRegex(TypeError, "missing or masked"):
                    call()
        with self.assertRaisesRegex(TypeError, "missing"):
            samesum.sum(column, where=[True, True, False])
        self.assertEqual(samesum.sum(AsArray([x]), where=[True, True, False]), 4.0)
        self.assertEqual(samesum.argmin(AsArray([x])), 1)

    def test_what_is_no_column_of_numbers(self):
        for format in (b"u", b"+s", b"tdD", b"d:38,2"):
            column = AsArray([np.zeros(3)], format=format)
            with self.assertRaisesRegex(TypeError, "of Arrow of the format"):
                samesum.sum(column)
            self.assertEqual(column.lent, 0)


class Keys(unittest.TestCase):
    def test_values_that_are_missing_are_left_out(self):
        columns, values = [np.ma.array([1e16, 2.0, 1.0, 5.0, 7.0], mask=[0, 0, 0, 1, 1])], [1e16, 2.0, 1.0, None, None]
        for library, make in (("pandas", lambda p: p.Series(values, dtype="Float64")), ("polars", lambda p: p.Series(values)),
                              ("pyarrow", lambda p: p.array(values)), ("pyarrow", lambda p: p.chunked_array([values[:2], values[2:]]))):
            if importlib.util.find_spec(library) is not None:
                columns.append(make(importlib.import_module(library)))
        for column in columns:
            for keys in (["b", "a", "b", "c", "a"], [2, 1, 2, 3, 1]):
                groups = samesum.groupby(keys)
                self.assertEqual((groups.sum(column).tolist(), groups.count(column).tolist()), ([2.0, 1e16, 0.0], [1, 2, 0]))
                np.testing.assert_array_equal(groups.mean(column), [2.0, 5e15, np.nan])
        whole = np.ma.array([4, 5, 6, 7, 8], mask=[0, 0, 0, 1, 0])
        self.assertEqual(samesum.groupby([2, 1, 2, 3, 1]).sum(whole).tolist(), [13, 10, 0])
        with self.assertRaisesRegex(samesum.NoAnswerError, "max.*3"):
            samesum.groupby([2, 1, 2, 3, 1]).max(whole)
        with self.assertRaises(TypeError):
            samesum.groupby(np.ma.array([1, 2], mask=[0, 1])).sum([1.0, 2.0])


class Libraries(unittest.TestCase):
    def optional(self, name):
        try:
            return __import__(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")

    def check(self, column, values):
        """`values`: those of the column, None where one is missing."""
        taken = [v for v in values if v is not None]
        self.assertEqual(samesum.sum(column), exact(taken))
        self.assertEqual(samesum.mean(column), float(sum(Fraction(v) for v in taken) / len(taken)))
        self.assertEqual(samesum.max(column, axis=0), max(taken))
        self.assertEqual(samesum.stats(column).count, len(taken))
        self.assertEqual(samesum.all(column), all(taken))
        self.assertEqual(samesum.histogram(column, 3).counts().tolist(), np.histogram(np.array(taken, float), 3)[0].tolist())
        if None in values:
            with self.assertRaisesRegex(TypeError, "missing"):
                samesum.argmax(column)
            with self.assertRaisesRegex(TypeError, "missing"):
                samesum.groupby(column)
        else:
            self.assertEqual(samesum.argmax(column), values.index(max(values)))
            self.assertEqual(samesum.groupby(column).keys.tolist(), sorted(set(values)))

    COLUMNS = ([2**60 + 1, None, 3, 2**60 + 5], [1, 2, 2], [0.1, None, 1e16, -1e16], [True, False, None, True])

    def test_pandas(self):
        pandas = self.optional("pandas")
        for values, dtype in zip(self.COLUMNS, ("Int64", "UInt8", "Float64", "boolean")):
            self.check(pandas.Series(values, dtype=dtype), values)
        self.assertEqual(samesum.sum(pandas.Series([1.0, np.nan, 2.0]), nan="skip"), 3.0)
        self.assertTrue(np.isnan(samesum.sum(pandas.Series([1.0, np.nan, 2.0]))))
        frame = pandas.DataFrame({"k": ["b", "a", "b", "b"], "v": [1e16, 2.0, 1.0, -1e16]})
        self.assertEqual(frame.groupby("k")["v"].agg(samesum.sum).tolist(), [2.0, 1.0])
        groups = samesum.groupby(frame["k"])
        self.assertEqual((groups.keys.tolist(), groups.sum(frame["v"]).tolist()), (["a", "b"], [2.0, 1.0]))
        self.assertEqual(samesum.sum(frame[["v"]], axis=0).tolist(), [3.0])
        with self.assertRaises(TypeError):
            samesum.sum(frame["k"])

    def test_pandas_on_arrow(self):
        pandas = self.optional("pandas")
        self.optional("pyarrow")
        for values, dtype in zip(self.COLUMNS, ("int64", "int8", "double", "bool")):
            self.check(pandas.Series(values, dtype=dtype + "[pyarrow]"), values)

    def test_polars(self):
        polars = self.optional("polars")
        for values in self.COLUMNS:
            self.check(polars.Series(values), values)
            self.check(polars.Series([values[-1], *values, *values])[1:], [*values, *values])
        frame = polars.DataFrame({"k": ["b", "a", "b"], "v": [1e16, 2.0, 1.0]})
        self.assertEqual(samesum.groupby(frame["k"]).sum(frame["v"]).tolist(), [2.0, 1e16])
        self.assertEqual(samesum.sum(polars.Series([None, None])), 0.0)  # of no type, as all are missing
        for column in (frame["k"], frame):
            with self.assertRaises(TypeError):
                samesum.sum(column)

    def test_pyarrow(self):
        pyarrow = self.optional("pyarrow")
        for values in self.COLUMNS:
            self.check(pyarrow.array(values), values)
            self.check(pyarrow.array([1, *values])[1:] if values[0] is not True else pyarrow.array(values), values)
            self.check(pyarrow.chunked_array([values, values[:1], []], pyarrow.array(values).type), values + values[:1])
        big = pyarrow.array(np.arange(100000.0))
        self.assertEqual(samesum.sum(big), 4999950000.0)
        for column in (pyarrow.array(["a"]), pyarrow.table({"v": [1.0]}), pyarrow.array([1, 2]).dictionary_encode()):
            with self.assertRaises(TypeError):
                samesum.sum(column)


if __name__ == "__main__":
    unittest.main()
