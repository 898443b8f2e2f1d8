"""samesum.torch: results against exact arithmetic, gradients, torch.compile, and the block in which torch's own sums are exact."""
import ctypes
import doctest
import math
import os
import random
import sys
import unittest
import warnings
from fractions import Fraction
from unittest import mock

if "SAMESUM_PYTHON_PACKAGE" not in os.environ:
    raise unittest.SkipTest("the Python module is not built: make python fetches nanobind and builds it")
sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
try:
    import numpy as np
    import samesum
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"samesum.torch is not tested: {error}")
import samesum.torch as exact

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
BITS = {torch.float16: (11, -24), torch.bfloat16: (8, -133), torch.float32: (24, -149), torch.float64: (53, -1074)}  # of a mantissa, of the least unit


def ugly(rng, shape, dtype):
    """Elements that cancel, of all sizes, of which the squares are finite; halves of a unit in the last place among them."""
    top = {torch.float16: 5, torch.bfloat16: 60, torch.float32: 60, torch.float64: 450}[dtype]
    half = 2.0 ** -BITS[min(dtype, torch.float32, key=lambda each: BITS[each][0])][0]
    x = torch.tensor([rng.choice([0.0, 1.0, half, rng.uniform(-1, 1) * 2.0 ** rng.randint(-top, top)]) for _ in range(int(np.prod(shape)))],
                     dtype=dtype)
    n = x.numel() // 3
    x[:n] = -x[n:2 * n].flip(0)
    return x.reshape(shape)


def total(values):
    return sum((Fraction(v) for v in values), Fraction(0))


def rounded(value, dtype):
    """The nearest number of the type, ties to even."""
    value, (bits, least) = Fraction(value), BITS[dtype]
    if value == 0:
        return 0.0
    exponent = 0
    while abs(value) >= Fraction(2) ** exponent:
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent - 1):
        exponent -= 1
    unit = Fraction(2) ** max(exponent - bits, least)
    nearest = round(value / unit) * unit  # Python's round: ties to even
    return float(nearest) if abs(nearest) <= torch.finfo(dtype).max else float("inf") if value > 0 else float("-inf")


def root(square, dtype):
    """The square root, rounded once: from more digits than decide."""
    square = Fraction(square)
    shift = 2400
    whole = math.isqrt((square.numerator << 2 * shift) // square.denominator)
    return rounded(Fraction(2 * whole + (Fraction(whole, 1 << shift) ** 2 != square), 2 << shift), dtype)


def slices(x, dim):
    """The elements that each result is made of."""
    return x.movedim(dim, -1).reshape(-1, x.shape[dim]).tolist()


class Results(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(1)

    def inputs(self):
        for dtype in FLOATS:
            for shape in ((1,), (7,), (300,), (30, 9), (4, 5, 6)):
                x = ugly(self.rng, shape, dtype)
                yield x
                yield x.transpose(0, -1)
                yield x.flip(0)[::2]
                yield x.expand(3, *x.shape)

    def same(self, found, wanted, dtype):
        self.assertEqual(found.dtype, dtype)
        self.assertEqual(found.reshape(-1).tolist(), [rounded(each, dtype) for each in wanted])

    def test_sums_means_and_variances(self):
        checked = 0
        for x in self.inputs():
            for dim in (None, *range(x.dim())):
                rows = [x.reshape(-1).tolist()] if dim is None else slices(x, dim)
                n = len(rows[0])
                self.same(exact.sum(x, dim), [total(row) for row in rows], x.dtype)
                self.same(exact.mean(x, dim), [total(row) / n for row in rows], x.dtype)
                for correction in (0, 1):
                    if n > correction:
                        wanted = [(total(Fraction(v)**2 for v in row) - total(row)**2 / n) / (n - correction) for row in rows]
                        self.same(exact.var(x, dim, correction), wanted, x.dtype)
                        self.assertEqual(exact.std(x, dim, correction).reshape(-1).tolist(), [root(each, x.dtype) for each in wanted])
                        checked += 1
                norms = [root(total(Fraction(v)**2 for v in row), x.dtype) for row in rows]
                self.assertEqual(exact.norm(x, dim).reshape(-1).tolist(), norms)
                self.assertEqual(exact.sum(x, dim, keepdim=True).shape, torch.sum(x, [] if dim is None else dim, keepdim=True).shape)
        self.assertGreater(checked, 100)

    def test_float32_is_rounded_once(self):
        """1 + 2^-24 + 2^-60 lies next to the middle of two float32s, and is the middle as a float64."""
        for tail, wanted in ((2.0**-60, 1 + 2.0**-23), (-(2.0**-60), 1.0), (0.0, 1.0)):
            x = torch.tensor([1.0, 2.0**-24, tail])
            self.assertEqual(exact.sum(x).item(), wanted)
            self.assertEqual(exact.sum(x.expand(2, 3), 1).tolist(), [wanted] * 2)
            self.assertEqual(exact.mean(torch.cat([x, x]).reshape(2, 3) * 3, 1).tolist(), [wanted] * 2)
            self.assertEqual(exact.dot(x, torch.ones(3)).item(), wanted)
            self.assertEqual(exact.cumsum(x)[-1].item(), wanted)
            self.assertEqual(exact.index_sum(x, torch.zeros(3, dtype=torch.int64), 1).item(), wanted)
        top = torch.finfo(torch.float32).max
        self.assertEqual(exact.sum(torch.tensor([[top, 2.0**103, -1.0], [top, 2.0**103, 0.0]]), 1).tolist(), [top, float("inf")])

    def test_products_prefixes_and_keys(self):
        for dtype in FLOATS:
            a, b = (ugly(self.rng, (200,), dtype) for _ in "ab")
            self.same(exact.dot(a, b), [total(Fraction(p) * Fraction(q) for p, q in zip(a.tolist(), b.tolist()))], dtype)
            self.same(exact.cumsum(a), [total(a[:i + 1].tolist()) for i in range(200)], dtype)
            index = torch.tensor([self.rng.randrange(5) for _ in range(200)])
            self.same(exact.index_sum(a, index, 6), [total(a[index == k].tolist()) for k in range(6)], dtype)
            rows = ugly(self.rng, (40, 3), dtype)
            wanted = [total(rows[index[:40] == k][:, j].tolist()) for k in range(6) for j in range(3)]
            self.same(exact.index_sum(rows, index[:40], 6), wanted, dtype)
            self.assertTrue(torch.equal(exact.cumsum(rows, 1), torch.stack([exact.cumsum(row) for row in rows])))

    def test_halves_are_rounded_once(self):
        """1 and half a unit and next to nothing, which a float32 does not hold."""
        for dtype in (torch.float16, torch.bfloat16):
            unit = torch.finfo(dtype).eps
            for tail, wanted in ((2.0**-24, 1 + unit), (-(2.0**-24), 1.0), (0.0, 1.0)):
                x = torch.tensor([1.0, unit / 2, tail, 0.0], dtype=dtype)
                self.assertEqual(exact.sum(x).item(), wanted)
                self.assertEqual(exact.sum(x.expand(2, 4), 1).tolist(), [wanted] * 2)
                self.assertEqual(exact.cumsum(x)[-1].item(), wanted)
                self.assertEqual(exact.dot(x, torch.ones_like(x)).item(), wanted)
                self.assertEqual(exact.index_sum(x, torch.zeros(4, dtype=torch.int64), 1).item(), wanted)
                with exact.deterministic(strict=True):
                    self.assertEqual(torch.zeros(1, dtype=dtype).index_add(0, torch.zeros(4, dtype=torch.int64), x).item(), wanted)
        self.assertEqual(exact.sum(torch.full((3,), 60000.0, dtype=torch.float16)).item(), float("inf"))
        self.assertEqual(exact.mean(torch.full((3,), 60000.0, dtype=torch.float16)).item(), 60000.0)

    def test_integers(self):
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
            x = torch.tensor([[1, 0, 1], [1, 1, 1]]).to(dtype)
            self.assertTrue(torch.equal(exact.sum(x), torch.tensor(5)), dtype)
            self.assertTrue(torch.equal(exact.sum(x, 0), torch.tensor([2, 1, 2])), dtype)
            self.assertTrue(torch.equal(exact.index_sum(x.reshape(-1), torch.tensor([0, 0, 1, 1, 1, 1]), 2), torch.tensor([1, 4])), dtype)
        with self.assertRaises(samesum.NoAnswerError):
            exact.sum(torch.tensor([2**62, 2**62]))
        with self.assertRaises(TypeError):
            exact.mean(torch.tensor([1, 2]))

    def test_errors(self):
        x = torch.ones(3)
        for error, wrong in ((TypeError, lambda: exact.sum(x.to(torch.complex64))),
                             (TypeError, lambda: exact.sum(x.to_sparse())), (IndexError, lambda: exact.sum(x, 1)),
                             (IndexError, lambda: exact.sum(x.expand(2, 3), (1, -1))), (ValueError, lambda: exact.dot(x, x.double())),
                             (ValueError, lambda: exact.index_sum(x, torch.tensor([0]), 3)),
                             (samesum.SamesumError, lambda: exact.index_sum(x, torch.tensor([0, 3, 0]), 3)),
                             (IndexError, lambda: exact.index_sum(x.expand(2, 3), torch.tensor([0, -1]), 3))):
            with self.assertRaises(error) as caught:
                wrong()
            self.assertGreater(len(str(caught.exception)), 20)

    def test_examples_run(self):
        finder = doctest.DocTestFinder(exclude_empty=False)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        said = []
        for name in (None, *exact.__all__):
            value = exact if name is None else getattr(exact, name)
            for case in finder.find(value, name or "samesum.torch", globs={"samesum": samesum, "torch": torch}, module=False):
                runner.run(case, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 9)


def functions():
    """Name, a function and its tensors."""
    x = torch.tensor([[0.5, -1.25, 3.0], [2.0, 0.75, -0.5]], dtype=torch.float64)
    index = torch.tensor([2, 0])
    for dim in (None, 0, 1, (0, 1)):
        for keepdim in (False, True):
            yield "sum", lambda x, d=dim, k=keepdim: exact.sum(x, d, k), (x,)
            yield "mean", lambda x, d=dim, k=keepdim: exact.mean(x, d, k), (x,)
            yield "norm", lambda x, d=dim, k=keepdim: exact.norm(x, d, k), (x,)
            for correction in (0, 1):
                yield "var", lambda x, d=dim, k=keepdim, c=correction: exact.var(x, d, c, k), (x,)
                yield "std", lambda x, d=dim, k=keepdim, c=correction: exact.std(x, d, c, k), (x,)
    yield "dot", exact.dot, (x[0], x[1])
    yield "cumsum", lambda x: exact.cumsum(x, 1), (x,)
    yield "index_sum", lambda x: exact.index_sum(x, index, 4), (x,)
    yield "index_sum of a vector", lambda x: exact.index_sum(x, torch.tensor([1, 1, 0]), 2), (x[0],)


class OnGpus(unittest.TestCase):
    """What is done around the library's calls for tensors on a GPU, by tensors of the host; tests/python/gpu.py needs a GPU."""

    @staticmethod
    def enqueue(address, size, name, device, stream, owner, record):
        """Writes a SumRecord of host memory."""
        element = {"float32": ctypes.c_float, "float64": ctypes.c_double}[name]
        value = math.fsum((element * size).from_address(address))
        ctypes.c_double.from_address(record).value = value
        ctypes.c_float.from_address(record + 16).value = value

    def test_the_tensor_is_an_element_of_the_record(self):
        ops = sys.modules["samesum._torch_ops"]
        for at in {ops._at, ops._element}:
            with mock.patch.object(ops, "_stream", lambda device: 0), mock.patch.object(ops, "_at", at), \
                 mock.patch.object(ops._core, "enqueue_sum", self.enqueue):
                for dtype in (torch.float32, torch.float64):
                    x = torch.tensor([[1e30, 1.0, 2.0], [-1e30, 0.5, 4.0]], dtype=dtype)
                    for each in (x, x.t(), x[:, 1:], x[:, ::2].contiguous(), torch.view_as_complex(torch.stack([x, x], -1)).conj().imag):
                        found, other = ops.enqueued_sum(each), ops.enqueued_sum(each)
                        self.assertEqual((found.dtype, found.shape, found.is_contiguous()), (dtype, torch.Size([]), True))
                        wanted = math.fsum(each.reshape(-1).tolist())
                        self.assertEqual(found.item(), wanted)
                        weight = torch.tensor(2.0, dtype=dtype, requires_grad=True)
                        product = found * weight
                        other += 1  # another sum's tensor, of which no gradient knows
                        product.backward()
                        self.assertEqual((weight.grad.item(), other.item()), (wanted, wanted + 1))
                        found += 1
                        self.assertEqual(found.item(), wanted + 1)
                self.assertIsNone(ops.enqueued_sum(torch.ones(0)))
                self.assertIsNone(ops.enqueued_sum(torch.ones(3, dtype=torch.int32)))

    def test_what_a_tensor_says_of_its_memory(self):
        memory = sys.modules["samesum._arrays"].torch_memory
        z = torch.zeros(3, dtype=torch.complex64)
        with mock.patch.object(torch._C, "_cuda_getCurrentRawStream", lambda device: 7, create=True):
            for x in (torch.zeros(4, 6, dtype=torch.bfloat16)[1:, ::2], torch.zeros((), dtype=torch.bool), z, torch.ones(2, requires_grad=True)):
                self.assertEqual(memory(x), (x.data_ptr(), str(x.dtype).partition(".")[2], x.shape, x.stride(), (7, -1, torch)))
            for x in (z.conj(), z.conj().imag, z.to_sparse()):
                self.assertIsNone(memory(x))


class Gradients(unittest.TestCase):
    def test_gradients(self):
        for name, function, tensors in functions():
            with self.subTest(name):
                tensors = tuple(x.clone().requires_grad_() for x in tensors)
                self.assertTrue(torch.autograd.gradcheck(function, tensors))
                self.assertTrue(torch.autograd.gradgradcheck(function, tensors))

    def test_gradients_are_torchs(self):
        x = torch.randn(5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
        for ours, theirs in ((exact.var, torch.var), (exact.std, torch.std), (exact.norm, torch.linalg.vector_norm), (exact.sum, torch.sum)):
            mine, = torch.autograd.grad(ours(x, dim=1).square().sum(), x)
            wanted, = torch.autograd.grad(theirs(x, dim=1).square().sum(), x)
            torch.testing.assert_close(mine, wanted)
        zero = torch.zeros(3, requires_grad=True)
        self.assertEqual(torch.autograd.grad(exact.norm(zero), zero)[0].tolist(), [0.0] * 3)

    def test_operators(self):
        """torch's own check: schema, shapes without elements, gradients."""
        x = torch.tensor([[0.5, -1.25, 3.0], [2.0, 0.75, -0.5]], dtype=torch.float64, requires_grad=True)
        index = torch.tensor([1, 0, 1])
        cases = [(name, (x, [1], True, 0)) for name in ("sum", "mean", "var", "std", "norm")]
        cases += [("dot", (x[0], x[1])), ("index_add", (torch.zeros(4, dtype=torch.float64), x[0], index)), ("cumsum", (x, 1)), ("in_range", (index, 3))]
        for name, arguments in cases:
            with self.subTest(name):
                found = torch.library.opcheck(getattr(torch.ops.samesum, name).default, arguments)
                self.assertEqual(set(found.values()), {"SUCCESS"})


class Compiled(unittest.TestCase):
    def test_without_a_break_of_the_graph(self):
        for name, function, tensors in functions():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch._dynamo.reset()
                compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
                mine, wanted = (tuple(x.clone().requires_grad_() for x in tensors) for _ in "ab")
                found, eager = compiled(*mine), function(*wanted)
                self.assertTrue(torch.equal(found, eager))
                found.square().sum().backward()
                eager.square().sum().backward()
                for a, b in zip(mine, wanted):
                    self.assertTrue(torch.equal(a.grad, b.grad))


class Block(unittest.TestCase):
    def setUp(self):
        self.x = torch.tensor([1e16, 1.0, -1e16, 1.0], dtype=torch.float64)

    def test_functions_and_methods(self):
        x, index = self.x, torch.tensor([0, 0, 0, 1])
        zero = torch.zeros(2, dtype=torch.float64)
        with exact.deterministic(strict=True):
            for found in (torch.sum(x), x.sum(), x.sum(0), x.sum((0,)), x.reshape(2, 2).sum((0, 1)), torch.sum(x, dim=0), x.sum(axis=0),
                          torch.sum(x, [0], True)[0], x.float().sum(dtype=torch.float64)):
                self.assertEqual((found.item(), found.dim()), (2.0, 0))
            self.assertEqual(torch.sum(x.reshape(2, 2), 1, True).shape, (2, 1))
            self.assertEqual(torch.ones(3).sum(dtype=torch.int32).dtype, torch.int32)
            for found in (torch.cumsum(x, 0), x.cumsum(dim=0), x.clone().cumsum_(0), x.cumsum(-1, dtype=torch.float64)):
                self.assertEqual(found.tolist(), [1e16, 1e16, 1.0, 2.0])
            for found in (torch.index_add(zero, 0, index, x), zero.index_add(0, index, x), zero.clone().index_add_(0, index, x),
                          torch.scatter_add(zero, 0, index, x), zero.scatter_add(0, index, x), zero.clone().scatter_add_(0, index, x),
                          torch.bincount(index, x), index.bincount(weights=x, minlength=1), zero.index_add(0, index, x / 2, alpha=2)):
                self.assertEqual(found.tolist(), [1.0, 1.0])
            self.assertEqual(torch.bincount(index).tolist(), [3, 1])
        with exact.deterministic():
            inside = torch.cumsum(x, 0)
        self.assertFalse(torch.equal(torch.tensor([1e16, 1.0, -1e16]).double().sum(), inside[2]), "torch's own sum, behind the block")

    def test_shapes_are_torchs(self):
        """Of small integers, whose sums torch gives exactly."""
        rng = torch.Generator().manual_seed(2)
        start = torch.randint(-9, 9, (4, 5, 3), generator=rng).double()
        for dim in (0, 1, 2, -1):
            index = torch.randint(0, start.shape[dim], (6,), generator=rng)
            shape = list(start.shape)
            shape[dim] = 6
            source = torch.randint(-9, 9, shape, generator=rng).double()
            at = torch.randint(0, start.shape[dim], (3, 2, 2), generator=rng)
            cases = (lambda: start.index_add(dim, index, source), lambda: start.index_add(dim, index.int(), source, alpha=2.0),
                     lambda: start.scatter_add(dim, at, start), lambda: start.cumsum(dim), lambda: start.sum(dim), lambda: start.sum((0, dim % 2 + 1)))
            for case in cases:
                wanted = case()
                with exact.deterministic(strict=True):
                    found = case()
                self.assertEqual(found.dtype, wanted.dtype)
                self.assertTrue(torch.equal(found, wanted))
        counts = torch.arange(6, dtype=torch.int32)
        with exact.deterministic(strict=True):
            self.assertTrue(torch.equal(counts.index_add(0, torch.tensor([1, 1]), torch.tensor([5, 6], dtype=torch.int32)).sum(), torch.tensor(26)))
            self.assertEqual(torch.tensor(3.0).sum().item() + torch.tensor(3.0).cumsum(0).item(), 6.0)
            self.assertEqual(torch.zeros(0).sum().item(), 0.0)
            self.assertEqual(torch.zeros(2).index_add(0, torch.zeros(0, dtype=torch.int64), torch.zeros(0)).tolist(), [0.0, 0.0])

    def test_gradients_go_through(self):
        index = torch.tensor([[0, 2, 0], [1, 1, 0]])
        x = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True)
        start = torch.ones(3, 3, dtype=torch.float64, requires_grad=True)

        def function(start, x):
            with exact.deterministic(strict=True):
                return start.scatter_add(0, index, x).cumsum(1) + torch.zeros(3, 3, dtype=torch.float64).index_add_(0, index[0, :2], x)
        self.assertTrue(torch.autograd.gradcheck(function, (start, x)))

    def test_what_falls_through(self):
        out = torch.empty(())
        cases = (lambda: torch.ones(3).to(torch.complex64).sum(), lambda: torch.sum(torch.ones(3), 0, out=out),
                 lambda: torch.ones(3).to_sparse().sum())
        for case in cases:
            wanted = case()
            with exact.deterministic():
                self.assertEqual(case().to_dense().tolist() if wanted.is_sparse else case().tolist(), wanted.tolist())
            with exact.deterministic(strict=True), self.assertRaises(TypeError):
                case()


if __name__ == "__main__":
    unittest.main()
