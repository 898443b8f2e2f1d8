"""Sums of products of two arrays."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as _numpy

from . import _core
from ._arrays import every
from ._docs import documented
from ._progress import watched
from ._reductions import into, numbers

if TYPE_CHECKING:
    from ._docs import DeviceLike, Progress


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays in host memory in numpy's common type of both, which has to hold all elements; others, and those of one type, as they are."""
    if getattr(a, "dtype", None) == getattr(b, "dtype", None) or hasattr(a, "__cuda_array_interface__") or hasattr(b, "__cuda_array_interface__"):
        return a, b
    a, b = every(a), every(b)
    if a.dtype == b.dtype or a.dtype.kind not in "biufc" or b.dtype.kind not in "biufc":
        return a, b
    common = _numpy.result_type(a.dtype, b.dtype)
    if common.kind == "f" and a.dtype.kind in "iu" and b.dtype.kind in "iu":  # int64 and uint64
        if all(x.size == 0 or x.max() < 2**63 for x in (a, b)):
            common = _numpy.dtype(_numpy.int64)
        elif all(x.size == 0 or x.min() >= 0 for x in (a, b)):
            common = _numpy.dtype(_numpy.uint64)
    for x in (a, b):
        if common.kind in "fc" and x.dtype.kind in "iu" and x.dtype.itemsize == 8 and x.size and not -2**53 <= x.min() <= x.max() <= 2**53:
            raise ValueError(f"a is {a.dtype} and b {b.dtype}: their common type, {common}, does not hold integers beyond 2^53: convert one of them")
    return a.astype(common, copy=False), b.astype(common, copy=False)


def _parts(a: Any, b: Any) -> tuple[Any, Any, Any, Any] | None:
    """The real and the imaginary parts of two arrays, if one of them is complex."""
    if "c" not in (getattr(getattr(a, "dtype", None), "kind", ""), getattr(getattr(b, "dtype", None), "kind", "")):
        return None
    a, b = every(a), every(b)
    if a.dtype != b.dtype:
        raise ValueError(f"a and b are of different types, {a.dtype} and {b.dtype}: convert one of them")
    return a.real, a.imag, b.real, b.imag


def _joined(*products: tuple[Any, Any]) -> list[Any]:
    """Two arrays, the sum of whose products is that of all these: both parts of a complex result are rounded once."""
    return [_numpy.concatenate([_numpy.ravel(product[i]) for product in products]) for i in (0, 1)]


def _one(a: Any, b: Any, conjugate: bool, device: DeviceLike, nan: str) -> Any:
    """The sum of a[i]*b[i] over all elements, with the conjugates of `a` or without."""
    parts = _parts(a, b)
    if parts is None:
        return _core.dot(a, b, nan, device)
    ar, ai, br, bi = parts
    if ar.shape != br.shape:
        raise ValueError(f"a has the shape {ar.shape} and b {br.shape}")
    if nan == "skip":  # both products of two numbers of which one has a NaN
        kept = ~(_numpy.isnan(ar) | _numpy.isnan(ai) | _numpy.isnan(br) | _numpy.isnan(bi))
        ar, ai, br, bi = ar[kept], ai[kept], br[kept], bi[kept]
    ai = -ai if conjugate else ai
    return complex(_core.dot(*_joined((ar, br), (-ai, bi)), nan, device), _core.dot(*_joined((ar, bi), (ai, br)), nan, device))


def _along(a: Any, b: Any, out: Any, device: DeviceLike, nan: str, conjugate: bool = False) -> Any:
    """The sums of products along the last axis of both, which are broadcast."""
    parts = _parts(a, b)
    try:
        if parts is None:
            if out is not None and (not isinstance(out, _numpy.ndarray) or out.dtype in (_numpy.float64, _numpy.int64, _numpy.uint64)):
                return _core.dot_along(a, b, -1, nan, device, out)  # in its own memory
            return into(out, _core.dot_along(a, b, -1, nan, device, None))
        if nan != "skip":
            ar, ai, br, bi = parts
            ai = -ai if conjugate else ai
            real, imaginary = (_core.dot_along(*(_numpy.concatenate(sides, -1) for sides in pair), -1, nan, device, None)
                               for pair in (((ar, -ai), (br, bi)), ((ar, ai), (bi, br))))
            results = _numpy.empty(real.shape, _numpy.complex128)
            results.real, results.imag = real, imaginary
            return into(out, results)
    except _core.NoAnswerError:
        if not isinstance(a, _numpy.ndarray) or a.dtype.kind not in "biu":
            raise
    # Integers beyond 64 bits; complex numbers without those of which a part is NaN.
    a, b = _numpy.broadcast_arrays(a, b)
    products = [_one(a[i], b[i], conjugate, device, nan) for i in _numpy.ndindex(a.shape[:-1])]
    return into(out, numbers(products).reshape(a.shape[:-1]))


def _array(x: Any) -> Any:
    return x if hasattr(x, "ndim") else every(x)


def _there(x: Any) -> Any:
    """An array on a GPU as it is, others as arrays of numpy."""
    return x if hasattr(x, "__cuda_array_interface__") else every(x)


@documented
def dot(a: Any, b: Any, out: Any = None, device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The dot product, the product of matrices: each element an exact sum of products, of floats rounded once.

    Parameters
    ----------
    a, b : array_like
        Of numpy's common type, which has to hold all elements. The last axis of `a` is summed with the last but one of `b`, or its only one.
    out : array, optional
        Where to write: of the result's shape; on a GPU, for arrays there, float64, int64 or uint64.
    {device nan progress}

    Returns
    -------
    int, float, complex or numpy.ndarray
        Of arrays of one axis a number.

    See also matmul and vecdot.

    Examples
    --------
    >>> samesum.dot([1e200, 1.0, -1e200], [1e200, 2.0, 1e200])
    2.0
    >>> samesum.dot([[1, 2], [3, 4]], [5, 6])
    array([17, 39])
    """
    if progress is not None:
        return watched(dot, locals())
    a, b = _alike(_array(a), _array(b))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("dot takes arrays of one axis or more: multiply by a number with *")
    if a.ndim == 1 and b.ndim == 1:
        return into(out, _one(a, b, False, device, nan))
    a, b = _there(a), _there(b)
    columns = b.swapaxes(-2, -1) if b.ndim > 1 else b
    if a.shape[-1] != columns.shape[-1]:
        raise ValueError(f"the last axis of a has {a.shape[-1]} elements, and that of b which is summed with it {columns.shape[-1]}")
    return _along(a[(..., *[None] * (columns.ndim - 1), slice(None))], columns, out, device, nan)


@documented
def matmul(a: Any, b: Any, out: Any = None, device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The product of matrices, or of stacks of them: each element an exact sum of products, of floats rounded once.

    Parameters
    ----------
    a, b : array_like
        Of numpy's common type, which has to hold all elements. The last two axes are those of the matrices; axes before them are
        broadcast. An array of one axis is a row on the left and a column on the right.
    out : array, optional
        Where to write: of the result's shape; on a GPU, for arrays there, float64, int64 or uint64.
    {device nan progress}

    Returns
    -------
    int, float, complex or numpy.ndarray
        Of two arrays of one axis a number. Of floats float64, of integers int64 or uint64, or Python's where one does not fit.

    Examples
    --------
    >>> samesum.matmul([[1e200, 1.0], [2.0, 3.0]], [[1.0, 2.0], [-1e200, 0.5]])
    array([[ 0.0e+000,  2.0e+200],
           [-3.0e+200,  5.5e+000]])
    """
    if progress is not None:
        return watched(matmul, locals())
    a, b = _alike(_array(a), _array(b))
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul takes arrays of one axis or more: multiply by a number with *")
    if a.ndim == 1 and b.ndim == 1:
        return into(out, _one(a, b, False, device, nan))
    a, b = _there(a), _there(b)
    rows, columns = a, b if b.ndim == 1 else b.swapaxes(-2, -1)
    if rows.shape[-1] != columns.shape[-1]:
        raise ValueError(f"the rows of a have {rows.shape[-1]} elements, and the columns of b {columns.shape[-1]}")
    if a.ndim > 1 and b.ndim > 1:
        rows, columns = rows[..., :, None, :], columns[..., None, :, :]
    return _along(rows, columns, out, device, nan)


@documented
def vecdot(a: Any, b: Any, axis: int = -1, out: Any = None, device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The dot product of vectors along an axis, for each position along the others: exact, of floats rounded once.

    Parameters
    ----------
    a, b : array_like
        Of numpy's common type, which has to hold all elements; broadcast to one shape. Complex numbers of `a` are conjugated.
    axis : int
        Along which the vectors lie, of the shape to which both are broadcast.
    out : array, optional
        Where to write: of the result's shape; on a GPU, for arrays there, float64, int64 or uint64.
    {device nan progress}

    Returns
    -------
    int, float, complex or numpy.ndarray
        Of arrays of one axis a number.

    Examples
    --------
    >>> samesum.vecdot([[1e200, 1.0, -1e200], [1.0, 2.0, 3.0]], [1e200, 2.0, 1e200])
    array([2.e+000, 4.e+200])
    """
    if progress is not None:
        return watched(vecdot, locals())
    a, b = (_there(x) for x in _alike(_array(a), _array(b)))
    if max(a.ndim, b.ndim) > 1 and not (isinstance(a, _numpy.ndarray) and isinstance(b, _numpy.ndarray)):
        return _core.dot_along(a, b, axis, nan, device, out)
    a, b = _numpy.broadcast_arrays(a, b) if a.ndim != 1 or b.ndim != 1 else (a, b)
    if not -a.ndim <= axis < a.ndim:
        raise ValueError(f"there is no axis {axis}: the arrays have {a.ndim}")
    if a.ndim == 1:
        return into(out, _one(a, b, True, device, nan))
    return _along(_numpy.moveaxis(a, axis, -1), _numpy.moveaxis(b, axis, -1), out, device, nan, conjugate=True)


@documented
def vdot(a: Any, b: Any, device: DeviceLike = None, nan: str = "propagate", progress: Progress = None) -> Any:
    """The exact sum of the products of all elements, those of `a` conjugated, rounded once.

    Parameters
    ----------
    a, b : array_like
        Of one shape, with any number of axes, and of numpy's common type, which has to hold all elements.
    {device nan progress}

    Returns
    -------
    int, float or complex

    Examples
    --------
    >>> samesum.vdot(numpy.array([1 + 2j, 3j]), numpy.array([1 - 1j, 2]))
    (-1-9j)
    """
    if progress is not None:
        return watched(vdot, locals())
    # Tensors that offer DLPack alone are read where they lie; their number of axes is not needed here.
    a, b = _alike(*(x if hasattr(x, "__dlpack__") else _array(x) for x in (a, b)))
    return _one(a, b, True, device, nan)
