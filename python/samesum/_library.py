"""libsamesum.so by its C interface (samesum.h): types, functions, and statuses as exceptions."""
import ctypes
import os
import pathlib


class SamesumError(ValueError):
    """An argument that cannot be used, or an input without an answer (the mean of no elements). The message says what to do."""


class DeviceError(RuntimeError):
    """A device, its driver or its compiler failed."""


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("rank", ctypes.c_uint32), ("shape", ctypes.POINTER(ctypes.c_uint64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("device", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_void_p), ("skip_nan", ctypes.c_int), ("threads", ctypes.c_uint32),
                ("progress", PROGRESS), ("context", ctypes.c_void_p)]


class _Number(ctypes.Union):
    _fields_ = [("real", ctypes.c_double), ("integer", ctypes.c_int64), ("natural", ctypes.c_uint64)]


class Value(ctypes.Structure):
    _anonymous_ = ("number",)
    _fields_ = [("type", ctypes.c_int), ("number", _Number)]

    def get(self):
        return self.integer if self.type == TYPES["int64"] else self.natural if self.type == TYPES["uint64"] else self.real


class Extremum(ctypes.Structure):
    _fields_ = [("value", Value), ("index", ctypes.c_uint64)]


class Input(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("array", Array)]


TYPES = {name: i for i, name in enumerate(("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
                                           "float32", "float64"))}
REDUCTIONS = {name: i for i, name in enumerate(("sum", "mean", "var", "std", "norm", "squared_norm", "min", "max", "argmin", "argmax",
                                                "count_nonzero"))}


def _find():
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("SAMESUM_LIBRARY")
    candidates = [named] if named else [str(path) for path in sorted((here / "lib").glob("libsamesum.so*"))] + ["libsamesum.so.0"]
    problem = None
    for candidate in candidates:
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            problem = error
    raise ImportError(f"libsamesum.so was not found ({problem}): install the library, or set SAMESUM_LIBRARY to its path")


library = _find()
library.samesum_message.restype = ctypes.c_char_p
library.samesum_version.restype = ctypes.c_char_p
library.samesum_device_selector.restype = ctypes.c_char_p
library.samesum_device_name.restype = ctypes.c_char_p
library.samesum_accumulator_count.restype = ctypes.c_uint64
library.samesum_statistics_count.restype = ctypes.c_uint64
library.samesum_bins_count.restype = ctypes.c_uint64
library.samesum_bins_edges.restype = ctypes.POINTER(ctypes.c_double)
library.samesum_histogram_counts.restype = ctypes.POINTER(ctypes.c_uint64)


def check(status):
    """Raises the exception that a status stands for."""
    if status == 0:
        return
    message = library.samesum_message().decode("utf-8", "replace")
    if status in (1, 2):
        raise SamesumError(message)
    if status == 4:
        raise MemoryError(message)
    if status == 5:
        raise KeyboardInterrupt(message)
    raise DeviceError(message)


class Handle:
    """An object of the library, freed with this one. `kind`: as in samesum_<kind>_free."""
    kind = ""

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        free = getattr(library, f"samesum_{self.kind}_free", None)
        if free is not None and getattr(self, "pointer", None):
            free(self.pointer)
            self.pointer = None

    @classmethod
    def make(cls, function, *arguments):
        pointer = ctypes.c_void_p()
        check(function(*arguments, ctypes.byref(pointer)))
        return cls(pointer)

    def serialize(self):
        """The canonical serialized form: equal values have equal bytes, on every machine."""
        function, size = getattr(library, f"samesum_{self.kind}_serialize"), ctypes.c_size_t()
        check(function(self.pointer, None, ctypes.byref(size)))
        data = ctypes.create_string_buffer(size.value)
        check(function(self.pointer, data, ctypes.byref(size)))
        return data.raw

    @classmethod
    def deserialize(cls, data):
        """The value of serialize(); damaged bytes are an error."""
        return cls.make(getattr(library, f"samesum_{cls.kind}_deserialize"), ctypes.c_char_p(bytes(data)), ctypes.c_size_t(len(data)))

    def __reduce__(self):
        return type(self).deserialize, (self.serialize(),)
