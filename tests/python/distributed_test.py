"""samesum.distributed over processes of torch.distributed's gloo: every rank has the bits of exact arithmetic."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path[:0] = [os.environ["SAMESUM_PYTHON_PACKAGE"], str(pathlib.Path(__file__).parent)]
try:
    import numpy as np
    import samesum
    import torch
    import torch.distributed
except ImportError as error:
    raise unittest.SkipTest(f"samesum.distributed is not tested: {error}")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    raise unittest.SkipTest("this torch has no gloo")
import samesum.distributed
from exact_rounding import rounded
from samesum import _digits, _one_word

PROGRAM = pathlib.Path(__file__).with_name("distributed_ranks.py")


class Ranks(unittest.TestCase):
    def run_ranks(self, size):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PYTHONPATH": os.environ["SAMESUM_PYTHON_PACKAGE"], "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
            ranks = [subprocess.Popen([sys.executable, PROGRAM, str(rank), str(size), folder], env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True) for rank in range(size)]
            try:
                for rank in ranks:
                    said, _ = rank.communicate(timeout=300)
                    self.assertEqual(rank.returncode, 0, said)
                    self.assertIn("compared", said)
            finally:
                for rank in ranks:
                    rank.kill()
                    rank.wait()

    def test_one_rank(self):
        self.run_ranks(1)

    def test_two_ranks(self):
        self.run_ranks(2)

    def test_five_ranks(self):
        self.run_ranks(5)


class Words(unittest.TestCase):
    def test_what_is_sent_is_what_is_needed(self):
        x = torch.tensor([1.0, -1.5, 3.0, 0.0])
        high, low, special = _digits.range_of(x).tolist()
        self.assertEqual((high + low + 1, special), (1, 0))  # one word each
        self.assertEqual(_digits.rounded(_digits.of_floats(x, -low, high), -low, x).tolist(), x.tolist())
        self.assertEqual(_digits.range_of(torch.zeros(3)).tolist(), [-1, -1000, 0])
        for value, special in ((-0.0, 1), (float("nan"), 1), (float("-inf"), 1), (5e-324, 0), (1.7e308, 0)):
            self.assertEqual(_digits.range_of(torch.tensor([value], dtype=torch.float64))[2].item(), special)

    def test_words_of_every_number(self):
        """All float16 and bfloat16, and float32 and float64 of random bits."""
        rng = np.random.default_rng(1)
        for dtype, bits in ((torch.float16, np.arange(-2**15, 2**15).astype(np.int16)), (torch.bfloat16, np.arange(-2**15, 2**15).astype(np.int16)),
                            (torch.float32, rng.integers(-2**31, 2**31, 50000).astype(np.int32)),
                            (torch.float64, rng.integers(-2**63, 2**63 - 1, 50000))):
            x = torch.from_numpy(bits).view(dtype)
            x = torch.cat([x, torch.tensor([torch.finfo(dtype).max, torch.finfo(dtype).tiny, torch.finfo(dtype).smallest_normal / 2], dtype=dtype)])
            x = x[torch.isfinite(x)]
            high, low, _ = _digits.range_of(x).tolist()
            found = _digits.rounded(_digits.of_floats(x, -low, high), -low, x)
            self.assertTrue(torch.equal(found, x), dtype)
            found = _digits.with_specials(found, _digits.specials(x))
            kind = torch.int64 if dtype == torch.float64 else torch.int32 if dtype == torch.float32 else torch.int16
            self.assertTrue(torch.equal(found.view(kind), x.view(kind)), "with the signs of zeros")


class OneWord(unittest.TestCase):
    """Words of several ranks, added up in this process."""

    def added(self, tensors):
        """The sums, in a tensor that began as the first one, and how many pieces do not fit."""
        form = _one_word.Words(tensors[0], len(tensors))
        exponents = torch.stack([form.exponents(each) for each in tensors]).amax(0)
        words = sum(form.of(each, exponents) for each in tensors)
        found = tensors[0].clone()
        form.round(words, exponents, found)
        return found, (words[found.numel():] != 0).sum().item()

    def test_rounded_once(self):
        rng = np.random.default_rng(2)
        for dtype, spread in ((torch.float16, 20), (torch.bfloat16, 30), (torch.float32, 20), (torch.float64, 0)):
            for ranks in (1, 2, 3, 64):
                for middle in (0, 5, -8) if dtype == torch.float16 else (0, 90, -125):  # among them subnormal numbers and overflows
                    exponents = middle + rng.integers(-spread // 2, spread // 2 + 1, (ranks, 300))
                    numbers = rng.integers(-64, 65, (ranks, 300)) / 64.0 * 2.0**exponents
                    numbers[:, :20] = np.where(rng.random((ranks, 20)) < 0.7, -0.0, 0.0)
                    tensors = [torch.from_numpy(row).to(dtype) for row in numbers]
                    found, misfits = self.added(tensors)
                    self.assertEqual(misfits, 0, (dtype, ranks, middle))
                    for i, column in enumerate(zip(*(each.double().tolist() for each in tensors))):
                        zero = all(v == 0 and np.signbit(v) for v in column)
                        right = -0.0 if zero else rounded(sum((Fraction(v) for v in column), Fraction(0)), dtype)
                        value = found[i].item()
                        self.assertEqual((value, np.signbit(value)), (right, np.signbit(right)), (dtype, ranks, middle, column))

    def test_ends_of_the_range(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            limits = torch.finfo(dtype)
            for values in ([limits.max, limits.max, -limits.max], [limits.max, limits.max, 0.0], [-limits.max, -limits.max, 1.0],
                           [limits.smallest_normal, -limits.smallest_normal / 2, -0.0], [limits.smallest_normal, 0.0, 0.0]):
                tensors = [torch.tensor([v, -0.0], dtype=torch.float64).to(dtype) for v in values]
                found, misfits = self.added(tensors)
                if misfits == 0:
                    self.assertEqual(found[0].item(), rounded(sum((Fraction(t[0].item()) for t in tensors), Fraction(0)), dtype), values)
                self.assertEqual(misfits, int(1.0 in values and dtype != torch.float16), values)

    def test_ties(self):
        for dtype, digits in ((torch.float16, 11), (torch.bfloat16, 8), (torch.float32, 24)):
            half = 2.0**-digits
            for beyond in (0.0, 2.0**-9 * half, -2.0**-9 * half):
                for start in (1.0, 1.0 + 2 * half, -1.0):
                    tensors = [torch.tensor([v], dtype=torch.float64).to(dtype) for v in (start, half, beyond)]
                    found, misfits = self.added(tensors)
                    self.assertEqual((misfits, found.item()), (0, rounded(sum(Fraction(t.item()) for t in tensors), dtype)))

    def test_what_does_not_fit_stays(self):
        for values in ([1.0, 2.0**-60], [1.0, float("nan")], [float("inf"), 0.0], [1e300, 1e-300], [2.0**1000, 5e-324]):
            mine = torch.cat([torch.tensor(values, dtype=torch.float64), torch.full((2000,), 0.5, dtype=torch.float64)])
            found, misfits = self.added([mine, torch.ones(2002, dtype=torch.float64)])
            self.assertEqual(misfits, 1, values)
            self.assertTrue(torch.equal(found[:1024].view(torch.int64), mine[:1024].view(torch.int64)))
            self.assertTrue(bool((found[1024:] == 1.5).all()))


class Arguments(unittest.TestCase):
    def test_what_is_refused(self):
        for wrong in (torch.ones(3).to_sparse(), torch.ones(3, dtype=torch.complex64), torch.ones(3, dtype=torch.bool)):
            with self.assertRaises(TypeError) as caught:
                samesum.distributed.all_reduce_exact(wrong)
            self.assertIn("takes", str(caught.exception))
        with self.assertRaises(samesum.SamesumError):
            samesum.distributed.all_reduce_exact(torch.ones(3), block=0)


if __name__ == "__main__":
    unittest.main()
