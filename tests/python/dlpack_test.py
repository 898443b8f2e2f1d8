"""Tensors of DLPack's protocol, of frameworks that have nothing else; bfloat16 of torch, ml_dtypes and DLPack."""
import ctypes
import gc
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

POINTER = ctypes.c_void_p


class Managed(ctypes.Structure):
    pass


class Versioned(ctypes.Structure):
    pass


TENSOR = [("data", POINTER), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
          ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
          ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]
DELETE = ctypes.CFUNCTYPE(None, POINTER)
Managed._fields_ = [*TENSOR, ("context", POINTER), ("deleter", DELETE)]
Versioned._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", POINTER), ("deleter", DELETE),
                      ("flags", ctypes.c_uint64), *TENSOR]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [POINTER, ctypes.c_char_p, POINTER]

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Producer:
    """A tensor as a producer lends it; counts what was lent and given back."""

    def __init__(self, x, code=None, lanes=1, device=1, versioned=True, major=1, in_order=False):
        self.x, self.code, self.lanes, self.device, self.versioned, self.major = x, code, lanes, device, versioned, major
        self.in_order = in_order
        self.lent, self.returned, self.asked = {}, 0, []

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **named):
        self.asked.append(named)
        if "max_version" in named and not self.versioned:
            raise TypeError("an older protocol")
        managed = (Versioned if self.versioned else Managed)()
        shape = (ctypes.c_int64 * self.x.ndim)(*self.x.shape)
        strides = (ctypes.c_int64 * self.x.ndim)(*(each // self.x.itemsize for each in self.x.strides))
        key = ctypes.addressof(managed)

        def give_back(address):
            self.returned += 1
            del self.lent[address]

        managed.data, managed.byte_offset = self.x.ctypes.data - 24, 24
        managed.device_type, managed.device_id, managed.rank, managed.lanes = self.device, 0, self.x.ndim, self.lanes
        managed.code, managed.bits = CODES[self.x.dtype.kind] if self.code is None else self.code, 8 * self.x.itemsize
        managed.shape = shape
        managed.strides = None if self.in_order else strides
        managed.deleter = DELETE(give_back)
        if self.versioned:
            managed.major, managed.minor = self.major, 0
        self.lent[key] = managed, shape, strides
        return new_capsule(key, b"dltensor_versioned" if self.versioned else b"dltensor", None)


def values(rng, dtype, n):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([rng.randint(info.min, info.max) for _ in range(n)], dtype)
    if dtype.kind == "b":
        return np.array([rng.random() < 0.3 for _ in range(n)])
    top = {2: 14, 4: 60, 8: 400}[dtype.itemsize]
    x = np.array([rng.uniform(-1, 1) * 2.0 ** rng.randint(-top, top) for _ in range(n)], dtype)
    x[:n // 3] = -x[n // 3:2 * (n // 3)]
    return x


def total(x):
    return sum((Fraction(v) for v in np.ravel(x).tolist()), Fraction(0))


class Protocol(unittest.TestCase):
    def test_tensors_of_all_types(self):
        rng, expected = random.Random(1), []
        for dtype in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
            for versioned in (True, False):
                x = values(rng, dtype, 210).reshape(7, 5, 6)
                for view in (x, x[::2, ::-1], x.transpose(2, 0, 1), x[3, 2, 1:2], x[3, 2, 1:2].reshape(())):
                    tensor = Producer(view, versioned=versioned)
                    wanted = total(view)
                    expected.append(wanted)
                    self.assertEqual(samesum.sum(tensor), float(wanted) if dtype.startswith("f") else int(wanted))
                    self.assertEqual((tensor.lent, tensor.returned), ({}, 1))
                    if view.ndim == 3:
                        np.testing.assert_array_equal(samesum.max(tensor, axis=1), view.max(axis=1))
                        self.assertEqual(samesum.stats(tensor), samesum.stats(view))
                        self.assertEqual(samesum.median(tensor, axis=(0, 1)).tolist(), samesum.median(view, axis=(0, 1)).tolist())
                        self.assertEqual(samesum.sum(tensor, where=view != 0), samesum.sum(view, where=view != 0))
        informative(expected)

    def test_other_arguments(self):
        x, k = values(random.Random(2), "float64", 100), np.arange(100) % 7
        self.assertEqual(samesum.dot(Producer(x), Producer(x)), samesum.dot(x, x))
        self.assertEqual(samesum.groupby(Producer(k)).sum(Producer(x)).tolist(), samesum.groupby(k).sum(x).tolist())
        self.assertEqual(samesum.bincount(Producer(k), Producer(x)).tolist(), samesum.bincount(k, x).tolist())
        self.assertEqual(samesum.histogram(Producer(x), "sqrt", (-1, 1)), samesum.histogram(x, "sqrt", (-1, 1)))
        self.assertEqual(samesum.cumsum(Producer(x)).tolist(), samesum.cumsum(x).tolist())
        self.assertEqual(samesum.Accumulator(Producer(x)), samesum.Accumulator(x))
        self.assertEqual(samesum.map("2*x", x=Producer(x)).tolist(), samesum.map("2*x", x=x).tolist())
        z = x[:50] + 1j * x[50:]
        self.assertEqual(samesum.sum(Producer(z)), samesum.sum(z))
        self.assertEqual(samesum.sum(Producer(x.reshape(10, 10), in_order=True), axis=0).tolist(), samesum.sum(x.reshape(10, 10), axis=0).tolist())
        self.assertEqual(samesum.sum(Producer(np.zeros((0, 3)))), 0.0)

    def test_nothing_is_copied_or_lost(self):
        x = np.ones(1 << 16)
        tensor = Producer(x)
        found, bfloat16 = samesum._core.read_dlpack(tensor)
        self.assertEqual((found.ctypes.data, bfloat16, found.flags.writeable, tensor.returned), (x.ctypes.data, False, False, 0))
        part = found[5:]
        del found
        self.assertEqual(tensor.returned, 0)
        del part
        gc.collect()
        self.assertEqual((tensor.returned, tensor.lent), (1, {}))

    def test_what_is_refused(self):
        x = np.ones(4, np.float32)
        for tensor, error, said in ((Producer(x, lanes=4), TypeError, "4 lanes"), (Producer(x, code=3), TypeError, "code 3"),
                                    (Producer(x, device=4), ValueError, "device of type 4"), (Producer(x, major=2), TypeError, "version"),
                                    (Producer(np.ones(2, "f4").view("u4"), code=4), TypeError, "32 bits")):
            with self.assertRaisesRegex(error, said):
                samesum.sum(tensor)
            self.assertEqual(tensor.returned, 0, "the capsule still has it")

        class Failing(Producer):
            def __dlpack__(self, **named):
                raise BufferError("not now")

        with self.assertRaisesRegex(BufferError, "not now"):
            samesum.sum(Failing(x))

    def test_streams_of_cuda(self):
        """Without elements, so that no GPU is needed: the stream is asked for, the tensor is given back."""
        for device in (2, 13):
            tensor = Producer(np.zeros((0, 3), np.float32), device=device)
            self.assertEqual(samesum.sum(tensor), 0.0)
            self.assertEqual(tensor.asked, [{"max_version": (1, 0), "stream": 1}])
            self.assertEqual((tensor.returned, tensor.lent), (1, {}))
            tensor = Producer(np.zeros((3, 0), np.float32), device=device, versioned=False)
            self.assertEqual(samesum.sum(tensor, axis=1).tolist(), [0.0] * 3)
            self.assertEqual([named["stream"] for named in tensor.asked], [1, 1])
            self.assertEqual(samesum.prod(tensor, axis=1).tolist(), [1.0] * 3)
            with self.assertRaisesRegex(samesum.NoAnswerError, r"quantile at \(0\): there are no elements"):
                samesum.median(tensor, axis=1)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")

        class Only:
            def __init__(self, x):
                self.__dlpack__, self.__dlpack_device__ = x.__dlpack__, x.__dlpack_device__

        x = values(random.Random(3), "float32", 60).reshape(6, 10)
        for dtype in (torch.bfloat16, torch.float32, torch.float64, torch.bool):
            tensor = torch.from_numpy(x).to(dtype)
            for each in (tensor, tensor.T[::2]):
                wanted = total(each.double().numpy())
                self.assertEqual(samesum.sum(Only(each)), float(wanted))
                self.assertEqual(samesum.sum(each), float(wanted))
        self.assertEqual(samesum.sum(torch.from_numpy(x).requires_grad_()), samesum.sum(x))
        self.assertEqual(samesum.sum(torch.tensor([1 + 2j]).conj()), 1 - 2j)


class Bfloat16(unittest.TestCase):
    """Against the same numbers as float32."""

    def check(self, x, wide, keys=True):
        for name in ("sum", "mean", "var", "std", "norm", "min", "max", "argmin", "argmax", "count_nonzero", "median", "prod"):
            self.assertEqual(getattr(samesum, name)(x), getattr(samesum, name)(wide), name)
        self.assertEqual((samesum.stats(x).sum, samesum.stats(x).argmin), (samesum.stats(wide).sum, samesum.stats(wide).argmin))
        self.assertEqual(samesum.scan(x, "max").tolist(), samesum.scan(wide, "max").tolist())
        for name in ("sum", "mean", "norm", "var", "min", "max", "argmax", "count_nonzero", "prod", "median"):
            self.assertEqual(getattr(samesum, name)(x, axis=0).tolist(), getattr(samesum, name)(wide, axis=0).tolist(), name)
        self.assertEqual(samesum.sum(x), informative(float(total(wide))))
        self.assertEqual(samesum.Accumulator(x).fraction(), total(wide))
        self.assertEqual(samesum.sum(x, where=wide > 0), samesum.sum(wide, where=wide > 0))
        self.assertEqual(samesum.histogram(x, 10, (-2, 2)), samesum.histogram(wide, 10, (-2, 2)))
        self.assertEqual(samesum.cumsum(x).tolist(), samesum.cumsum(wide).tolist())
        rows = np.arange(len(wide)) % 3
        self.assertEqual(samesum.groupby(rows).sum(x[:, 0]).tolist(), samesum.groupby(rows).sum(wide[:, 0]).tolist())
        self.assertEqual(samesum.groupby(x[:, 0]).keys.tolist(), sorted(set(wide[:, 0].tolist())))
        self.assertEqual(samesum.vdot(x, x), samesum.vdot(wide, wide))

    def wide(self):
        x = (values(random.Random(4), "float64", 600) % 2 - 1).astype(np.float32).reshape(100, 6)
        return ((x.view(np.uint32) >> 16) << 16).view(np.float32)

    def test_dlpack(self):
        wide = self.wide()

        class Sliced(Producer):
            def __getitem__(self, key):
                return Sliced(self.x[key], 4)

        self.check(Sliced((wide.view(np.uint32) >> 16).astype(np.uint16), 4), wide)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.check(torch.from_numpy(self.wide()).bfloat16(), self.wide())

    def test_ml_dtypes(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        self.check(self.wide().astype(ml_dtypes.bfloat16), self.wide())
        with self.assertRaises(TypeError):
            samesum.sum(np.ones(3, ml_dtypes.float8_e4m3fn))

    def test_of_a_gpu(self):
        class There:
            __cuda_array_interface__ = {"typestr": "<V2", "shape": (3, 0), "data": (0, True), "version": 3, "strides": None}

        self.assertEqual(samesum.sum(There(), axis=1).tolist(), [0.0] * 3)


if __name__ == "__main__":
    unittest.main()
