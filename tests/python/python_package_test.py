"""The Python package beside fractions.Fraction and numpy: values by bits, layouts, types, files of results, errors."""
import ctypes
import fractions
import gc
import math
import pathlib
import pickle
import random
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy
    import samesum
    from samesum import _library
except ImportError as error:
    raise unittest.SkipTest(str(error))

FLOATS, INTEGERS = ("float16", "float32", "float64"), ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
HEADER = pathlib.Path(__file__).resolve().parents[2] / "include" / "samesum" / "samesum.h"


def exact(x):
    return sum(map(fractions.Fraction, numpy.asarray(x).ravel().tolist()), fractions.Fraction(0))


def layouts(x):
    """The same elements, or some of them, in other places."""
    yield x
    yield x[::-1]
    yield x[1:]
    if x.ndim == 2:
        yield x.T
        yield x[:, ::2]
        yield numpy.asfortranarray(x)
    raw = numpy.empty(x.nbytes + 1, numpy.uint8)  # at an odd address
    odd = raw[1:].view(x.dtype).reshape(x.shape)
    odd[...] = x
    yield odd
    yield numpy.broadcast_to(x[:1], x.shape)


class Sums(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(5)

    def arrays(self, dtype):
        for shape in ((0,), (1,), (7,), (1001,), (13, 8), (3, 4, 5)):
            if dtype in FLOATS:
                x = (self.random.standard_normal(shape) * 2.0 ** self.random.integers(-8, 9, shape)).astype(dtype)
            else:
                info = numpy.iinfo(dtype)
                x = self.random.integers(info.min // 4096, info.max // 4096 + 1, shape).astype(dtype)
            yield from layouts(x) if x.size else [x]

    def test_sums_and_means_are_correctly_rounded(self):
        for dtype in FLOATS + INTEGERS:
            for x in self.arrays(dtype):
                with self.subTest(dtype=dtype, shape=x.shape, strides=x.strides):
                    total = exact(x)
                    found = samesum.sum(x)
                    self.assertEqual(found, int(total) if dtype in INTEGERS else float(total))
                    self.assertIs(type(found), int if dtype in INTEGERS else float)
                    if x.size:
                        self.assertEqual(samesum.mean(x), float(total / x.size))

    def test_cancellation(self):
        x = numpy.array([1e100, 1, -1e100, 2.0 ** -60])
        self.assertEqual(samesum.sum(x), 1 + 2.0 ** -60)
        self.assertEqual(samesum.sum([0.1] * 10), 1.0)
        self.assertEqual(samesum.dot(x, x), float(sum(fractions.Fraction(v) ** 2 for v in x.tolist())))

    def test_axes(self):
        x = self.random.standard_normal((5, 6, 7)).astype(numpy.float32)
        for array in (x, numpy.asfortranarray(x), x[:, ::2]):
            for axis in (0, 1, -1, (0, 2), (0, 1, 2)):
                for keepdims in (False, True):
                    found = samesum.sum(array, axis=axis, keepdims=keepdims)
                    wanted = array.astype(object)
                    wanted = numpy.frompyfunc(fractions.Fraction, 1, 1)(wanted).sum(axis=axis, keepdims=keepdims)
                    numpy.testing.assert_array_equal(found, numpy.asarray(wanted).astype(float))
            numpy.testing.assert_array_equal(samesum.argmax(array, axis=1), array.argmax(axis=1))
            numpy.testing.assert_array_equal(samesum.min(array, axis=0), array.min(axis=0))
        integers = self.random.integers(-9, 9, (4, 5)).astype(numpy.int16)
        found = samesum.sum(integers, axis=0)
        self.assertEqual(found.dtype, numpy.int64)
        numpy.testing.assert_array_equal(found, integers.sum(axis=0))
        out = numpy.empty(4)
        self.assertIs(samesum.mean(integers, axis=1, out=out), out)
        numpy.testing.assert_array_equal(out, integers.mean(axis=1))
        with self.assertRaisesRegex(ValueError, "out has"):
            samesum.mean(integers, axis=1, out=numpy.empty(3))
        with self.assertRaises(samesum.SamesumError):
            samesum.sum(integers, axis=2)

    def test_where_and_nan(self):
        x = numpy.array([1, numpy.nan, 3])
        self.assertTrue(math.isnan(samesum.sum(x)))
        self.assertEqual(samesum.sum(x, nan="skip"), 4)
        self.assertEqual(samesum.sum(x, where=[True, False, True]), 4)
        self.assertEqual(samesum.sum(numpy.ma.masked_invalid(x)), 4)
        with self.assertRaisesRegex(ValueError, "propagate"):
            samesum.sum(x, nan="omit")

    def test_other_arrays(self):
        self.assertEqual(samesum.sum(memoryview(numpy.arange(5.0))), 10)
        self.assertEqual(samesum.sum(range(5)), 10)
        self.assertEqual(samesum.sum(numpy.arange(5).astype(">f8")), 10)
        self.assertEqual(samesum.sum(numpy.array([True, False, True])), 2)
        self.assertEqual(samesum.sum(numpy.float32(0.5)), 0.5)
        with self.assertRaisesRegex(TypeError, "complex128"):
            samesum.sum(numpy.array([1j]))
        with self.assertRaises(TypeError):
            samesum.sum(numpy.array(["a"]))


class Others(unittest.TestCase):
    def test_statistics(self):
        x = numpy.array([3.0, -1.5, 10.25, 4.0, -1.5])
        mean = exact(x) / 5
        variance = sum((fractions.Fraction(v) - mean) ** 2 for v in x.tolist()) / 5
        self.assertEqual(samesum.var(x), float(variance))
        self.assertEqual(samesum.var(x, ddof=1), float(variance * 5 / 4))
        self.assertEqual((samesum.min(x), samesum.max(x), samesum.argmin(x), samesum.argmax(x)), (-1.5, 10.25, 1, 2))
        self.assertEqual((samesum.count_nonzero(x), samesum.any(x), samesum.all(x)), (5, True, True))
        self.assertEqual((samesum.median(x), samesum.quantile(x, [0, 1])), (3.0, [-1.5, 10.25]))
        all_of_it = samesum.stats(x[:2])
        all_of_it += samesum.stats(x[2:])
        self.assertEqual((all_of_it.count, all_of_it.mean, all_of_it.var(), all_of_it.argmax), (5, float(mean), float(variance), 2))
        self.assertEqual(all_of_it.std(), samesum.std(x))
        self.assertEqual(pickle.loads(pickle.dumps(all_of_it)).serialize(), all_of_it.serialize())
        with self.assertRaisesRegex(samesum.SamesumError, "no elements"):
            samesum.mean([])

    def test_products(self):
        self.assertEqual(samesum.prod([2 ** 40, 3]), 3 * 2 ** 40)
        with self.assertRaisesRegex(samesum.SamesumError, str(2 ** 80)):
            samesum.prod([2 ** 40, 2 ** 40])
        self.assertEqual(samesum.prod([0.5, 3.0]), 1.5)
        self.assertEqual(samesum.reduce(numpy.array([12, 18, 30]), "gcd(a, b)"), 6)
        self.assertEqual(samesum.reduce(numpy.array([], numpy.int64), "gcd(a, b)", 0), 0)

    def test_formulas(self):
        x, w = numpy.array([1.5, 2.5, -3]), numpy.array([1, 2, 3.0])
        self.assertEqual(samesum.sum_map("w*(x - m)^2", w=w, x=x, m=0.5), float((w * (x - 0.5) ** 2).sum()))
        with self.assertRaisesRegex(samesum.SamesumError, "expected"):
            samesum.sum_map("x +* 2", x=x)

    def test_accumulators(self):
        numbers = [random.Random(3).uniform(-1, 1) * 2.0 ** (i % 200 - 100) for i in range(500)]
        whole = samesum.Accumulator(numbers)
        parts = samesum.Accumulator(numbers[:100]) + samesum.Accumulator(numbers[100:])
        self.assertEqual(float(whole), math.fsum(numbers))
        self.assertEqual(whole.serialize(), parts.serialize())
        words = samesum.Accumulator(numbers[:7]).words() + samesum.Accumulator(numbers[7:]).words()
        self.assertEqual(float(samesum.Accumulator.from_words(words)), math.fsum(numbers))
        self.assertEqual(float(pickle.loads(pickle.dumps(whole))), math.fsum(numbers))
        self.assertEqual(samesum.Accumulator([1, 2]).value(), 3)
        self.assertEqual(whole.count, 500)
        damaged = bytearray(whole.serialize())
        damaged[30] ^= 1
        with self.assertRaises(samesum.SamesumError):
            samesum.Accumulator.deserialize(damaged)

    def test_histograms(self):
        x = numpy.random.default_rng(1).standard_normal(10007)
        for bins, limits in ((10, None), (17, (-1, 1)), ([-2, 0, 0.5, 3], None)):
            counts, edges = samesum.histogram(x, bins, limits)
            wanted, wanted_edges = numpy.histogram(x, bins, limits)
            numpy.testing.assert_array_equal(counts, wanted)
            numpy.testing.assert_array_equal(edges, wanted_edges)
        found = samesum.histogram([0.5, 5, -1, math.nan], 2, (0, 1))
        self.assertEqual((found.under, found.over, found.nan), (1, 1, 1))
        found += samesum.histogram([0.25], 2, (0, 1))
        self.assertEqual(found.counts.tolist(), [1, 1])

    def test_devices(self):
        device = samesum.Device("cpu")
        self.assertEqual((device.selector, samesum.sum([1.0, 2.0], device=device)), ("cpu", 3.0))
        with self.assertRaises(samesum.SamesumError):
            samesum.Device("no such device")

    def test_structs_are_those_of_the_header(self):
        if not HEADER.exists():
            self.skipTest("no header here")
        header = HEADER.read_text()
        listed = header.partition("typedef enum samesum_type {")[2].partition("}")[0].replace(",", " ").split()
        self.assertEqual([name.removeprefix("SAMESUM_").lower() for name in listed], list(_library.TYPES))
        self.assertEqual(ctypes.sizeof(_library.Array), 48)
        self.assertIn("#define SAMESUM_ACCUMULATOR_WORDS 82", header)


class Documents(unittest.TestCase):
    def test_the_page_runs(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
        if not page.exists():
            self.skipTest("no documents here")
        block = page.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
        self.assertIn("samesum.sum(x)", block)
        names = {"w": numpy.arange(3.0), "n": numpy.array([12, 18]), "y": numpy.ones(2)}
        exec(block, names)  # pylint: disable=exec-used
        self.assertEqual(float(names["total"]), 3.0)


class Behaviour(unittest.TestCase):
    def test_threads(self):
        x = numpy.random.default_rng(2).standard_normal(100000)
        wanted, found = samesum.sum(x), []
        threads = [threading.Thread(target=lambda: found.extend(samesum.sum(x) for _ in range(20))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 160)

    def test_nothing_is_leaked(self):
        def memory():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * 4096
        x = numpy.arange(1000.0)

        def work(times):
            for _ in range(times):
                samesum.sum(x)
                samesum.stats(x).serialize()
                samesum.histogram(x, 1000)
                samesum.Accumulator(x).words()
        work(300)
        before = memory()
        work(3000)
        self.assertLess(memory() - before, 4 << 20)


if __name__ == "__main__":
    unittest.main()
