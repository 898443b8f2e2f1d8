"""Exact sums of torch's tensors: differentiable functions whose results are tensors, and a block in which torch's own sums are exact.

    >>> import torch, samesum.torch
    >>> samesum.torch.sum(torch.tensor([1e16, 1.0, -1e16]).double())
    tensor(1., dtype=torch.float64)

Each result is rounded once to the type of the tensor (float16, bfloat16, float32 or float64); sums of integers are exact int64, or NoAnswerError. The functions are
custom operators (`torch.ops.samesum`), which torch.compile takes without a break of the graph. ``import samesum`` alone does not import it.
"""
from __future__ import annotations

from typing import Any, Sequence, Union

import torch as _torch

from . import _torch_ops as _ops
from ._torch_mode import Deterministic as _Deterministic

__all__ = ["cumsum", "deterministic", "dot", "index_sum", "mean", "norm", "std", "sum", "var"]

Dim = Union[None, int, Sequence[int]]


def _dims(dim: Dim) -> list[int] | None:
    return None if dim is None else [dim] if isinstance(dim, int) else list(dim)


def sum(x: Any, dim: Dim = None, keepdim: bool = False) -> Any:
    """The exact sum over all elements or along dimensions.

    Parameters
    ----------
    x : torch.Tensor
        Floats or integers, in host memory or on a GPU of CUDA. Sums of float32 and float64 over all elements on a GPU are enqueued on the
        current stream without waiting, so that a CUDA graph can capture them after a first call on that stream.
    dim : None, int or sequence of int, optional
        The dimensions to reduce; None: all.
    keepdim : bool, optional
        The result keeps them, with extent 1.

    Returns
    -------
    torch.Tensor
        On the device of `x`.

    Examples
    --------
    >>> samesum.torch.sum(torch.tensor([[2, 3], [5, 7]]), 0)
    tensor([ 7, 10])
    """
    if dim is None and not keepdim and type(x) is _torch.Tensor and x.is_cuda and not x.requires_grad and not _torch.compiler.is_compiling():
        found = _ops.enqueued_sum(x)  # in fewer microseconds than an operator's way takes
        if found is not None:
            return found
    return _ops.sum(x, _dims(dim), keepdim, 0)


def mean(x: Any, dim: Dim = None, keepdim: bool = False) -> Any:
    """The exact mean, rounded once.

    Parameters
    ----------
    x : torch.Tensor
        Floats.
    dim : None, int or sequence of int, optional
        The dimensions to reduce; None: all.
    keepdim : bool, optional
        The result keeps them, with extent 1.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.mean(torch.tensor([1e30, 3.0, -1e30, 6.0]))
    tensor(2.2500)
    """
    return _ops.mean(x, _dims(dim), keepdim, 0)


def var(x: Any, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Any:
    """The variance in exact arithmetic, rounded once. Along dimensions with a `correction` one position after the other.

    Parameters
    ----------
    x : torch.Tensor
        Floats.
    dim : None, int or sequence of int, optional
        The dimensions to reduce; None: all.
    correction : int, optional
        The sum of squares is divided by n - `correction`.
    keepdim : bool, optional
        The result keeps them, with extent 1.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.var(torch.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """
    return _ops.var(x, _dims(dim), keepdim, correction)


def std(x: Any, dim: Dim = None, correction: int = 1, keepdim: bool = False) -> Any:
    """The root of the exact variance, rounded once.

    Parameters
    ----------
    x : torch.Tensor
        Floats.
    dim : None, int or sequence of int, optional
        The dimensions to reduce; None: all.
    correction : int, optional
        The sum of squares is divided by n - `correction`.
    keepdim : bool, optional
        The result keeps them, with extent 1.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.std(torch.tensor([1.0, 3.0]), correction=0)
    tensor(1.)
    """
    return _ops.std(x, _dims(dim), keepdim, correction)


def norm(x: Any, dim: Dim = None, keepdim: bool = False) -> Any:
    """The Euclidean norm, rounded once; nothing overflows on the way.

    Parameters
    ----------
    x : torch.Tensor
        Floats.
    dim : None, int or sequence of int, optional
        The dimensions to reduce; None: all.
    keepdim : bool, optional
        The result keeps them, with extent 1.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.norm(torch.tensor([3e30, 4e30]))
    tensor(5.0000e+30)
    """
    return _ops.norm(x, _dims(dim), keepdim, 0)


def dot(a: Any, b: Any) -> Any:
    """The exact sum of the products of two vectors, rounded once.

    Parameters
    ----------
    a, b : torch.Tensor
        Of one dimension, one size and one type: floats or integers.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.dot(torch.tensor([1e20, 1.0, -1e20]), torch.tensor([1e20, 2.0, 1e20]))
    tensor(2.)
    """
    return _ops.dot(a, b)


def index_sum(x: Any, index: Any, size: int) -> Any:
    """Sums by key: ``result[k]`` is the exact sum of all ``x[i]`` with ``index[i] == k``, rounded once.

    Parameters
    ----------
    x : torch.Tensor
        Floats or integers. Its further dimensions are those of the result.
    index : torch.Tensor
        Integers from 0 to `size` - 1, one for each position along the first dimension of `x`.
    size : int
        The extent of the result's first dimension.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.index_sum(torch.tensor([1e16, 2.0, 1.0, -1e16]), torch.tensor([1, 0, 1, 1]), 3)
    tensor([2., 1., 0.])
    """
    if index.dim() != 1 or x.dim() == 0 or x.shape[0] != index.shape[0]:
        raise ValueError(f"samesum.torch: index has the shape {tuple(index.shape)}; x, of the shape {tuple(x.shape)}, needs one for each of its rows")
    start = _torch.zeros((size, *x.shape[1:]), dtype=_ops.result_type("index_sum", x), device=x.device)
    return _ops.add_along(start, 0, index, x.to(start.dtype))


def cumsum(x: Any, dim: int = 0) -> Any:
    """The exact sums of all prefixes along a dimension, each rounded once.

    Parameters
    ----------
    x : torch.Tensor
        Floats or integers.
    dim : int, optional
        Along which.

    Returns
    -------
    torch.Tensor

    Examples
    --------
    >>> samesum.torch.cumsum(torch.tensor([1e16, 1.0, -1e16]).double())
    tensor([1.0000e+16, 1.0000e+16, 1.0000e+00], dtype=torch.float64)
    """
    return _ops.cumsum(x, dim)


def deterministic(strict: bool = False) -> Any:
    """A block in which calls of torch's sum, cumsum, index_add, scatter_add and bincount with weights give exact results, rounded once.

    The functions, the methods of tensors, and what writes in place (``index_add_``). What falls through to torch: complex numbers,
    calls with ``out=``, names of dimensions, tensors that are not dense, devices other than the CPU and CUDA; and what torch calls itself:
    operators such as matmul, mean and losses, gradients of torch's own functions (that of indexing is an addition by index), compiled code.

    Parameters
    ----------
    strict : bool, optional
        A call that would fall through raises TypeError instead.

    Returns
    -------
    context manager

    Examples
    --------
    >>> x = torch.tensor([1e16, 1.0, -1e16]).double()
    >>> with samesum.torch.deterministic():
    ...     x.sum().item()
    1.0
    """
    return _Deterministic(strict)
