"""gpu.py: the package on arrays in a GPU's memory, of CuPy and of torch, whichever is installed. For a machine with an NVIDIA GPU:

    SAMESUM_PYTHON_PACKAGE=build/release/python python3 tests/python/gpu.py
"""
import os
import sys
import unittest
from fractions import Fraction

if "SAMESUM_PYTHON_PACKAGE" in os.environ:
    sys.path.insert(0, os.environ["SAMESUM_PYTHON_PACKAGE"])
import numpy as np
import samesum

TYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64"]


class Gpu:
    def arrays(self):
        rng = np.random.default_rng(1)
        for dtype in TYPES:
            for shape in ((1,), (1000,), (65537,), (30, 50), (7, 5, 3)):
                host = (rng.standard_normal(shape) * 100).astype(dtype)
                steps = tuple(slice(None, None, int(rng.integers(1, 3))) for _ in shape)
                yield host[steps], self.put(host)[steps]

    def test_reductions_are_those_of_the_host(self):
        for host, there in self.arrays():
            with self.subTest(dtype=host.dtype, shape=host.shape, strides=host.strides):
                wanted = sum((Fraction(v) for v in host.ravel().tolist()), Fraction(0))
                self.assertEqual(samesum.sum(there), float(wanted) if host.dtype.kind == "f" else int(wanted))
                for name in ("mean", "var", "std", "norm", "min", "max", "argmin", "argmax", "count_nonzero", "stats", "median"):
                    function = getattr(samesum, name)
                    self.assertEqual(function(there), function(host), name)
                self.assertEqual(samesum.vdot(there, there), samesum.vdot(host, host))
                for axis in range(host.ndim):
                    np.testing.assert_array_equal(samesum.sum(there, axis=axis), samesum.sum(host, axis=axis))
                self.assertEqual(samesum.histogram(there, 10, (-50, 50)), samesum.histogram(host, 10, (-50, 50)))


class Cupy(Gpu, unittest.TestCase):
    def setUp(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("cupy is not installed")
        self.put = cupy.asarray
        self.cupy = cupy

    def test_streams(self):
        with self.cupy.cuda.Stream(non_blocking=True):
            for _ in range(50):
                x = self.cupy.ones(1 << 22, "f4")
                x *= 3
                self.assertEqual(samesum.sum(x), 3.0 * (1 << 22))


class Torch(Gpu, unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.put = lambda host: torch.from_numpy(host).cuda()

    def test_what_torch_alone_has(self):
        import torch
        x = torch.randn(1000, device="cuda").bfloat16()
        self.assertEqual(samesum.sum(x), samesum.sum(x.float()))
        self.assertEqual(samesum.sum(x.float().requires_grad_()), samesum.sum(x.float()))


class Only:
    """A tensor of which only DLPack's protocol is left."""

    def __init__(self, x):
        self.x, self.__dlpack__, self.__dlpack_device__ = x, x.__dlpack__, x.__dlpack_device__

    def __getitem__(self, steps):
        return Only(self.x[steps])


class Dlpack(Gpu, unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.put = lambda host: Only(torch.from_numpy(host).cuda())


if __name__ == "__main__":
    unittest.main()
