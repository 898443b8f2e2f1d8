"""Arrays of any library as the C interface takes them, without a copy."""
import ctypes

import numpy

from . import _library
from ._library import Array, Options, TYPES, check, library

_HOST = {numpy.dtype(name): number for name, number in TYPES.items() if name != "bfloat16"}


class Device(_library.Handle):
    """Where to compute: "cpu", "opencl:0", "cuda:0", or a part of a device's name."""
    kind = "device"

    def __init__(self, selector):
        if isinstance(selector, str):
            pointer = ctypes.c_void_p()
            check(library.samesum_device_open(selector.encode(), ctypes.byref(pointer)))
            selector = pointer
        super().__init__(selector)

    @property
    def selector(self):
        return library.samesum_device_selector(self.pointer).decode()

    @property
    def name(self):
        return library.samesum_device_name(self.pointer).decode()

    def __repr__(self):
        return f"<samesum.Device {self.selector}: {self.name}>"

    def __reduce__(self):
        return Device, (self.selector,)


_streams = {}


def _on_stream(stream, ordinal):
    """The device of a framework's CUDA stream."""
    key = (stream, ordinal)
    if key not in _streams:
        pointer = ctypes.c_void_p()
        check(library.samesum_device_on_cuda_stream(ctypes.c_void_p(stream), ctypes.c_uint32(ordinal), ctypes.byref(pointer)))
        _streams[key] = Device(pointer)
    return _streams[key]


class View:
    """A samesum_array, and what it refers to."""

    def __init__(self, data, dtype, shape, strides, owner, device=None):
        self.dtype, self.shape, self.owner, self.device = dtype, tuple(shape), owner, device
        rank = len(self.shape)
        self.extents = (ctypes.c_uint64 * max(rank, 1))(*self.shape)
        self.distances = None if strides is None else (ctypes.c_int64 * max(rank, 1))(*strides)
        number = TYPES["bfloat16"] if dtype == "bfloat16" else _HOST[dtype]
        self.array = Array(data, number, rank, self.extents, self.distances, device.pointer if device is not None else None, 0)
        self.array.keep = (owner, self.extents, self.distances, device)  # as long as a reference to the struct
        if device is not None and strides is not None:  # the memory begins at its lowest element
            below = sum((n - 1) * s for n, s in zip(self.shape, strides) if s < 0 and n > 0)
            self.array.data, self.array.offset = data + below, -below

    @property
    def size(self):
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def reference(self):
        return ctypes.byref(self.array)


def _cuda(x):
    interface = x.__cuda_array_interface__
    stream = interface.get("stream")
    if stream is None:  # the framework's current stream, where it can be known
        stream = 0
        module = type(x).__module__.partition(".")[0]
        if module == "torch":
            import torch
            stream = torch.cuda.current_stream(x.device).cuda_stream
        elif module == "cupy":
            import cupy
            stream = cupy.cuda.get_current_stream().ptr
    ordinal = getattr(getattr(x, "device", None), "index", None) or getattr(getattr(x, "device", None), "id", None) or 0
    device = _on_stream(0 if stream in (1, None) else stream, ordinal)
    return View(interface["data"][0] or 0, numpy.dtype(interface["typestr"]), interface["shape"], interface.get("strides"), x, device)


def view(x):
    """The view of anything that is an array: numpy's, a buffer, torch's, CuPy's, a Series, a list of numbers."""
    if isinstance(x, View):
        return x
    if isinstance(x, numpy.ma.MaskedArray) and numpy.ma.is_masked(x):
        x = x.compressed()
    if not isinstance(x, numpy.ndarray):
        if hasattr(x, "__cuda_array_interface__"):
            return _cuda(x)
        if type(x).__module__.startswith("torch") and str(x.dtype) == "torch.bfloat16":
            import torch
            bits = x.detach().view(torch.uint16).numpy()
            return View(bits.ctypes.data, "bfloat16", bits.shape, bits.strides, bits)
        if hasattr(x, "detach"):
            x = x.detach()
        x = numpy.asarray(x)
    if x.dtype.name == "bfloat16":
        bits = x.view(numpy.uint16)
        return View(bits.ctypes.data, "bfloat16", bits.shape, bits.strides, bits)
    if x.dtype == bool:
        x = x.view(numpy.uint8)
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype not in _HOST:
        raise TypeError(f"samesum takes integers of 8 to 64 bits, floats of 16, 32 and 64 bits, bfloat16 and bool, not {x.dtype}")
    return View(x.ctypes.data, x.dtype, x.shape, None if x.flags.c_contiguous else x.strides, x)


def options(device=None, nan="propagate", threads=0):
    """The struct for these, or None where all are as by default."""
    if nan not in ("propagate", "skip"):
        raise ValueError("nan is 'propagate' or 'skip', not %r" % (nan,))
    if device is None and nan == "propagate" and threads == 0:
        return None
    if isinstance(device, str):
        device = Device(device)
    made = Options(ctypes.sizeof(Options), device.pointer if device is not None else None, nan == "skip", threads)
    made.keep = device
    return ctypes.byref(made)
