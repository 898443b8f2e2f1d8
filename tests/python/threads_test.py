"""Many threads in the package at once: on values of their own, and on ones that they share. Without the interpreter's lock (3.13t) they truly run at once."""
import math
import os
import sys
import sysconfig
import threading
import unittest

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
except ImportError as error:
    raise unittest.SkipTest(f"the Python package cannot be imported: {error}")

THREADS = 8


def at_once(work, threads=THREADS):
    """work(i) in each of the threads, which begin together; the first exception."""
    start, failures, switch = threading.Barrier(threads), [], sys.getswitchinterval()

    def run(i):
        try:
            start.wait()
            work(i)
        except BaseException as error:
            failures.append(error)
    sys.setswitchinterval(1e-6)  # so that those with a lock change often
    try:
        all_threads = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
        for each in all_threads:
            each.start()
        for each in all_threads:
            each.join()
    finally:
        sys.setswitchinterval(switch)
    if failures:
        raise failures[0]


def ugly(rng, size):
    x = rng.uniform(-1, 1, size) * 2.0 ** rng.integers(-300, 300, size)
    x[:size // 3] = -x[size // 3:2 * (size // 3)]
    return x


class Threads(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(3)

    def test_the_module_needs_no_lock(self):
        if not sysconfig.get_config_var("Py_GIL_DISABLED"):
            self.skipTest("this interpreter has a lock")
        self.assertFalse(sys._is_gil_enabled(), "the import of samesum has enabled the lock")

    def test_every_function(self):
        parts = [ugly(self.rng, 6000 + i) for i in range(THREADS)]  # some calls are long enough to give the lock back
        keys = self.rng.integers(0, 50, 7000)
        calls = (samesum.sum, samesum.mean, samesum.var, samesum.norm, samesum.median, samesum.stats, samesum.argmax, lambda x: samesum.prod(x[:2]),
                 lambda x: samesum.sum(x[:6000].reshape(60, 100), axis=0).tolist(), lambda x: samesum.cumsum(x).tolist(),
                 lambda x: samesum.histogram(x, 20, (-1e6, 1e6)), lambda x: samesum.groupby(keys[:x.size]).sum(x).tolist(),
                 lambda x: samesum.sum(x[:200].tolist()), lambda x: samesum.map("x*2 + 1", x=x).tolist(), lambda x: samesum.vdot(x, x),
                 lambda x: samesum.pairs(x[:40], x[:50], "absdiff", "argmax").tolist(), lambda x: samesum.reduce(x, "b == 0 ? a : b"),
                 lambda x: samesum.bincount(keys[:x.size], x).tolist(), lambda x: samesum.Accumulator(x).fraction())
        wanted = [[call(x) for call in calls] for x in parts]

        def work(i):
            for turn in range(3):
                for k, call in enumerate(calls):
                    found = call(parts[(i + turn) % THREADS])
                    assert found == wanted[(i + turn) % THREADS][k], (k, found)
        at_once(work)

    def test_errors_are_those_of_the_thread(self):
        def work(i):
            for _ in range(100):
                try:
                    samesum.sum(np.ones(3), axis=10 + i)
                except samesum.SamesumError as error:
                    assert f"axis {10 + i} " in str(error), error
                else:
                    raise AssertionError("no error")
        at_once(work)

    def test_progress_is_called_in_the_thread_that_called(self):
        x = np.ones(1 << 20)

        def work(i):
            told = []
            assert samesum.sum(x, progress=lambda done, whole: told.append(threading.get_ident())) == 1 << 20
            assert set(told) == {threading.get_ident()}
        at_once(work, 4)

    def test_one_accumulator(self):
        parts = [ugly(self.rng, 500 + 9000 * (i % 2)) for i in range(THREADS)]
        total, rounds = samesum.Accumulator(), 20

        def work(i):
            for _ in range(rounds):
                total.add(parts[i])
                for _ in range(50):
                    total.merge(samesum.Accumulator([1.0]))
                float(total), total.count, total.serialize(), total == total, total + total  # noqa: B015
        at_once(work)
        wanted = samesum.Accumulator()
        for _ in range(rounds):
            for x in parts:
                wanted.add(x).add(50.0)
                for _ in range(49):  # what is counted too
                    wanted.add(0.0)
        self.assertEqual(total, wanted)

    def test_values_that_merge_with_each_other(self):
        x = ugly(self.rng, 1000)
        for make in (samesum.stats, lambda x: samesum.histogram(x, 10, (-1.0, 1.0)), samesum.Accumulator):
            a, b, rounds = make(x), make(x), 50  # each of which is merged into the other, by all threads: no deadlock, nothing is lost of one

            def work(i, a=a, b=b):
                for _ in range(rounds):
                    if i % 2 == 0:
                        a.merge(make(x))
                        assert a + b != a
                    else:
                        b.merge(make(x))
                        assert b + a != b
            at_once(work)
            wanted = make(x)
            for _ in range(THREADS // 2 * rounds):
                wanted.merge(make(x))
            self.assertEqual(a, wanted)
            self.assertEqual(b, wanted)

    def test_plans(self):
        x, out = ugly(self.rng, 9000), np.zeros((THREADS, 90))
        rows, bins, sums = samesum.Plan("sum", x.reshape(90, 100), axis=1), samesum.Plan.histogram(x, 10, (-1.0, 1.0)), samesum.Plan("sum", x)
        wanted, counts, whole = samesum.sum(x.reshape(90, 100), axis=1), samesum.histogram(x, 10, (-1.0, 1.0)), samesum.Accumulator(x)

        def work(i):
            for _ in range(20):
                rows.enqueue(x.reshape(90, 100), out=out[i])
                bins.enqueue(x)
                sums.enqueue(x)
                assert bins.result() == counts and sums.result() == whole
            assert out[i].tolist() == wanted.tolist()
        at_once(work)

    def test_a_list_that_changes(self):
        numbers, ended = [1.0] * 5000, threading.Event()

        def work(i):
            if i == 0:
                for _ in range(300):
                    numbers.append(2.0 ** 60 * 3)
                    numbers.pop()
                    numbers[17] = 5e-324 * 7
                    numbers[17] = 1.0
                ended.set()
            while not ended.is_set():
                total = samesum.sum(numbers)
                assert math.isfinite(total) and 4999 <= total <= 5001 + 2.0 ** 62, total
        at_once(work, 4)


if __name__ == "__main__":
    unittest.main()
