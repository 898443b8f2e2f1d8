"""The text of parameters that many functions share. A line `{x axis}` of a docstring stands for the parameters x and axis."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar, Union

if TYPE_CHECKING:
    from ._core import Device
    DeviceLike = Union[None, str, Device]
    Axis = Union[None, int, Sequence[int]]
    Progress = Union[None, Callable[[int, int], Any]]

Function = TypeVar("Function", bound=Callable[..., Any])

_PARAMETERS = {
    "x": ("array_like", "Numbers: an array of numpy, a tensor, a Series, anything with the buffer protocol, ``__array_interface__``, Arrow's\n"
          "PyCapsule interface, DLPack or ``__cuda_array_interface__`` (an array on a GPU), or a list. Elements that are missing (null) or masked are\n"
          "left out; where their positions matter they are refused."),
    "axis": ("None, int or tuple of int, optional", "The axes to reduce; None: all elements."),
    "dtype": ("dtype, optional", "``numpy.float32`` rounds the exact result once to float32, ``float`` that of integers to float64. Not for complex results."),
    "out": ("array, optional", "Where to write: of the result's shape, and of its type or one that holds all results; on the GPU of `x` of its type."),
    "keepdims": ("bool, optional", "The result keeps the reduced axes, with extent 1."),
    "where": ("array of bool, optional", "Which elements to take, of bool or of integers 0 and 1; it broadcasts to the shape of `x`."),
    "ddof": ("int, optional", "The variance is divided by n - `ddof`."),
    "density": ("bool, optional", "The cells divided by their sum and by their sizes, in floating point."),
    "weights": ("array_like, optional", "One for each sample."),
    "squares": ("bool, optional", "Keep the sums of the squared weights too: the result then has variances()."),
    "device": ("Device or str, optional", "Where to compute: ``'cpu'``, ``'opencl:0'``, ``'cuda:0'``; None: where the elements lie,\nor by their size."),
    "progress": ("callable, optional", "Called between two parts of long work with what is done and the whole, in bytes (of `pairs` in pairs); 0: the whole\n"
                 "is not known. An exception that it raises ends the work."),
    "nan": ("{'propagate', 'skip'}, optional", "Whether a NaN makes the result NaN, or is left out; of complex numbers one in either part."),
}


def documented(function: Function) -> Function:
    """Puts the text of shared parameters into the docstring of `function`."""
    def text(line: "re.Match[str]") -> str:
        indent, names = line.groups()
        lines = []
        for name in names.split():
            kind, meaning = _PARAMETERS[name]
            lines += [f"{name} : {kind}"] + ["    " + each for each in meaning.split("\n")]
        return "\n".join(indent + each for each in lines)

    function.__doc__ = re.sub(r"^( *)\{([a-z ]+)\}$", text, function.__doc__ or "", flags=re.M)
    return function
