"""The statistical functions of the Python array API standard (2024.12), exact: each result is rounded once to its type.

    >>> import numpy, samesum.array_api
    >>> samesum.array_api.sum(numpy.array([1e16, 1.0, -1e16], numpy.float32))
    array(1., dtype=float32)

Names, arguments and types of results are the standard's; arrays are of numpy, torch, CuPy, JAX or another library that has
``__array_namespace__``, and results are arrays of the same library on the same device. Beside the statistical functions there are `argmax`,
`argmin`, `count_nonzero`, `all` and `any`, which are reductions too.

A sum or product of integers that does not fit into its type raises NoAnswerError, where the standard leaves the result open.
"""
from __future__ import annotations

import sys as _sys
from typing import TYPE_CHECKING, Any, Callable, Tuple, Union

import numpy as _numpy

import samesum as _samesum

from . import _narrow
from ._core import NoAnswerError as _NoAnswerError
from ._reductions import numbered as _numbered

if TYPE_CHECKING:
    Axis = Union[None, int, Tuple[int, ...]]

__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum",
           "var"]


def _type(dtype: Any) -> Any:
    """A type of any library as numpy's."""
    try:
        return _numpy.dtype(dtype)
    except TypeError:
        name = str(dtype).rpartition(".")[2]
        if name != "bfloat16":
            return _numpy.dtype(name)
        import ml_dtypes
        return _numpy.dtype(ml_dtypes.bfloat16)


def _is_float(kind: Any) -> bool:
    return bool(kind.kind == "f" or kind.name == "bfloat16")


def _cast(x: Any, dtype: Any) -> Any:
    """`x` with elements of another type of its own library."""
    if dtype is None or _type(dtype) == _type(x.dtype):
        return x
    if hasattr(x, "astype"):
        return x.astype(dtype)
    return x.to(dtype) if hasattr(x, "to") else x.__array_namespace__().astype(x, dtype)


def _summed_type(x: Any, dtype: Any) -> Any:
    """numpy's type of a sum or product: of integers the default one, of their sign."""
    kind = _type(x.dtype if dtype is None else dtype)
    if dtype is None and kind.kind in "iu":
        return _numpy.dtype(_numpy.int64 if kind.kind == "i" else _numpy.uint64)
    return kind


def _averaged_type(x: Any) -> Any:
    """numpy's type of a mean, variance or deviation: of integers float64, as numpy has it; the standard leaves it open."""
    kind = _type(x.dtype)
    return _numpy.dtype(_numpy.float64) if kind.kind in "iub" else kind


def _like(x: Any, found: Any) -> Any:
    """An array of numpy as one of the library of `x`, on its device."""
    if isinstance(x, (_numpy.ndarray, _numpy.generic)):
        return found
    torch: Any = _sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        if found.dtype.name == "bfloat16":
            return torch.as_tensor(found.astype(_numpy.float32), device=x.device).bfloat16()
        return torch.as_tensor(found, device=x.device)
    # CuPy's arrays do not name their namespace, which is the module itself.
    library: Any = x.__array_namespace__() if hasattr(x, "__array_namespace__") else _sys.modules[type(x).__module__.partition(".")[0]]
    try:
        return library.asarray(found, device=x.device)
    except TypeError:  # of a library whose asarray knows no devices
        return library.asarray(found)


def _count(x: Any, axes: list[int]) -> int:
    n = 1
    for i in axes:
        n *= x.shape[i]
    return n


def _shape(x: Any, axes: list[int], keepdims: bool) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)


def _by_parts(function: Callable[[Any, Any], Any], x: Any, kind: Any) -> Any:
    """Complex numbers whose parts are `function(x, dtype)` of the parts of `x`."""
    part = _numpy.empty(0, kind).real.dtype
    real, imag = function(x.real, part), function(x.imag, part)
    both = _numpy.empty(real.shape, kind)
    both.real, both.imag = real, imag
    return both


def _integers(found: Any, kind: Any, what: str) -> Any:
    """Exact integers as elements of a type, if they fit."""
    found = _numpy.asarray(found)
    limits = _numpy.iinfo(kind)
    if found.size and not (limits.min <= int(found.min()) and int(found.max()) <= limits.max):
        raise _NoAnswerError(f"an exact {what} does not fit into {kind}: pass a wider dtype, or floats")
    return found.astype(kind)


def _converted(products: Any, kind: Any) -> Any:
    """Products as elements of a type, beyond which they are infinite."""
    with _numpy.errstate(over="ignore"):
        return _numpy.asarray(products).astype(kind)


def _exact(what: str, x: Any, axis: Axis, keepdims: bool, kind: Any, correction: float = 0) -> Any:
    """A sum, mean, variance or deviation as an array of numpy, each element rounded once to `kind`."""
    axes = _numbered(axis, x.ndim)
    n, shape = _count(x, axes), _shape(x, axes, keepdims)
    if _type(x.dtype).kind == "c":
        return _by_parts(lambda each, to: _exact(what, each, axis, keepdims, to, correction), x, kind)
    if not _is_float(kind):
        return _integers(_samesum.sum(x, axis=tuple(axes)), kind, what).reshape(shape)
    if what != "sum" and n <= correction:
        return _numpy.full(shape, _numpy.nan, kind)
    if int(correction) != correction:
        return _with_fraction(what, x, axes, n, correction, kind).reshape(shape)
    options = {"ddof": int(correction)} if what in ("var", "std") else {}
    wide = getattr(_samesum, what)(x, axis=None if len(axes) == x.ndim else tuple(axes), **options)
    return _narrow.rounded(wide, kind, lambda place: _narrow.power(what, _narrow.part(x, axes, place), n, int(correction))).reshape(shape)


def _with_fraction(what: str, x: Any, axes: list[int], n: int, correction: float, kind: Any) -> Any:
    """Variances and deviations for a correction that is no integer, one position after the other."""
    wide, powers = _numpy.empty(_shape(x, axes, False)), {}
    for place in _numpy.ndindex(wide.shape):
        try:
            powers[place] = _narrow.power(what, _narrow.part(x, axes, place), n, correction)
            wide[place] = _narrow.root(powers[place][0]) if what == "std" else float(powers[place][0])
        except _NoAnswerError:  # of NaNs and infinities, which are no fractions
            wide[place] = _numpy.nan
        except OverflowError:
            wide[place] = _numpy.inf
    return _narrow.rounded(wide, kind, lambda place: powers[place])


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The exact sum of the elements of `x`, which are converted to `dtype` first, rounded once to its type.

    Parameters
    ----------
    x : array
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    dtype : dtype, optional
        Of the result; by default that of `x`, but of integers int64 or uint64.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of the library of `x`, on its device.

    Raises
    ------
    NoAnswerError
        Where a sum of integers does not fit into its type.

    Examples
    --------
    >>> samesum.array_api.sum(numpy.array([[2, 3], [5, 7]], numpy.int8), axis=0)
    array([ 7, 10])
    """
    kind = _summed_type(x, dtype)
    return _like(x, _exact("sum", _cast(x, dtype), axis, keepdims, kind))


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The exact mean, rounded once to the type of `x`, of integers to float64; NaN of no elements.

    Parameters
    ----------
    x : array
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Examples
    --------
    >>> samesum.array_api.mean(numpy.array([6e4, 6e4, 3e4], numpy.float16)).item()
    49984.0
    """
    return _like(x, _exact("mean", x, axis, keepdims, _averaged_type(x)))


def var(x: Any, /, *, axis: Axis = None, correction: Union[int, float] = 0.0, keepdims: bool = False) -> Any:
    """The variance in exact arithmetic, rounded once to the type of `x`, of integers to float64; NaN of no more than `correction` elements.

    Parameters
    ----------
    x : array
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    correction : int or float, optional
        The sum of squares is divided by n - `correction`.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Examples
    --------
    >>> samesum.array_api.var(numpy.array([1.0, 2.0, 3.0]), correction=0.5)
    array(0.8)
    """
    return _like(x, _exact("var", x, axis, keepdims, _averaged_type(x), correction))


def std(x: Any, /, *, axis: Axis = None, correction: Union[int, float] = 0.0, keepdims: bool = False) -> Any:
    """The root of the exact variance, rounded once to the type of `x`, of integers to float64; NaN of no more than `correction` elements.

    Parameters
    ----------
    x : array
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    correction : int or float, optional
        The sum of squares is divided by n - `correction`.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Examples
    --------
    >>> samesum.array_api.std(numpy.array([[1.0, 3.0], [2.0, 8.0]]), axis=1)
    array([1., 3.])
    """
    return _like(x, _exact("std", x, axis, keepdims, _averaged_type(x), correction))


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product of the elements of `x`, which are converted to `dtype` first.

    Of integers it is exact; of floats it goes by the balanced binary tree over the index, with the same bits everywhere.

    Parameters
    ----------
    x : array
        Numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    dtype : dtype, optional
        Of the result; by default that of `x`, but of integers int64 or uint64.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Raises
    ------
    NoAnswerError
        Where a product of integers does not fit into its type.

    Examples
    --------
    >>> samesum.array_api.prod(numpy.array([[2, 3], [5, 7]]), axis=1)
    array([ 6, 35])
    """
    kind = _summed_type(x, dtype)
    x = _cast(x, dtype)
    found = _samesum.prod(_on_host(x), axis=tuple(_numbered(axis, x.ndim)), keepdims=keepdims)
    return _like(x, _integers(found, kind, "product") if kind.kind in "iu" else _converted(found, kind))


def _on_host(x: Any) -> Any:
    """`x` in host memory, for functions that work there alone."""
    if hasattr(x, "__cuda_array_interface__"):
        return x.cpu() if hasattr(x, "cpu") else x.get() if hasattr(x, "get") else _numpy.asarray(x)
    return x


def _cumulative(what: str, x: Any, axis: Union[None, int], dtype: Any, include_initial: bool) -> Any:
    if axis is None and x.ndim != 1:
        raise _samesum.SamesumError(f"an array of {x.ndim} axes needs axis=")
    kind = _summed_type(x, dtype)
    x = _cast(x, dtype)
    at, = _numbered(0 if axis is None else axis, x.ndim)

    def prefixes(each: Any, to: Any) -> Any:
        found = _samesum.scan(each, what, at)
        if what == "product" or not _is_float(to):
            return _integers(found, to, what) if to.kind in "iu" else _converted(found, to)

        return _narrow.rounded(found, to, _narrow.prefixes(each, at))

    host = _on_host(x)
    if kind.kind == "c":
        if what == "product":
            raise TypeError("samesum: cumulative_prod has no complex numbers")
        found = _by_parts(prefixes, host, kind)
    else:
        found = prefixes(host, kind)
    if include_initial:
        shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
        found = _numpy.concatenate([_numpy.full(shape, int(what == "product"), kind), found], axis=at)
    return _like(x, found)


def cumulative_sum(x: Any, /, *, axis: Union[None, int] = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The exact sums of all prefixes of elements, which are converted to `dtype` first, each rounded once to its type.

    Parameters
    ----------
    x : array
        Numbers.
    axis : int, optional
        Along which; an array of one axis needs none.
    dtype : dtype, optional
        Of the result; by default that of `x`, but of integers int64 or uint64.
    include_initial : bool, optional
        The results begin with 0.

    Returns
    -------
    array

    Raises
    ------
    NoAnswerError
        Where a sum of integers does not fit into its type.

    Examples
    --------
    >>> samesum.array_api.cumulative_sum(numpy.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative("sum", x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: Union[None, int] = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The products of all prefixes, each by the balanced binary tree over the index; of integers exact. Not of complex numbers.

    Parameters
    ----------
    x : array
        Real numbers.
    axis : int, optional
        Along which; an array of one axis needs none.
    dtype : dtype, optional
        Of the result; by default that of `x`, but of integers int64 or uint64.
    include_initial : bool, optional
        The results begin with 1.

    Returns
    -------
    array

    Raises
    ------
    NoAnswerError
        Where a product of integers does not fit into its type.

    Examples
    --------
    >>> samesum.array_api.cumulative_prod(numpy.array([2, 3, 5]))
    array([ 2,  6, 30])
    """
    return _cumulative("product", x, axis, dtype, include_initial)


def _chosen(function: Callable[..., Any], x: Any, axis: Axis, keepdims: bool, kind: Any) -> Any:
    axes = _numbered(axis, x.ndim)
    found = function(x, axis=None if len(axes) == x.ndim else tuple(axes))
    return _like(x, _numpy.asarray(found).astype(kind).reshape(_shape(x, axes, keepdims)))


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The greatest element; 0.0 is greater than -0.0, and a NaN makes the result NaN.

    Parameters
    ----------
    x : array
        Real numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.array_api.max(numpy.array([[1, 5], [7, 3]]), axis=1)
    array([5, 7])
    """
    return _chosen(_samesum.max, x, axis, keepdims, _type(x.dtype))


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """The least element; -0.0 is less than 0.0, and a NaN makes the result NaN.

    Parameters
    ----------
    x : array
        Real numbers.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array

    Raises
    ------
    NoAnswerError
        Where there are no elements.

    Examples
    --------
    >>> samesum.array_api.min(numpy.array([2.0, 0.0, -0.0]))
    array(-0.)
    """
    return _chosen(_samesum.min, x, axis, keepdims, _type(x.dtype))


def argmax(x: Any, /, *, axis: Union[None, int] = None, keepdims: bool = False) -> Any:
    """The lowest index of the greatest element; of the first NaN where there is one.

    Parameters
    ----------
    x : array
        Real numbers.
    axis : int, optional
        Along which; None: in all elements in C order.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of int64.

    Examples
    --------
    >>> samesum.array_api.argmax(numpy.array([4, 9, 9]))
    array(1)
    """
    return _chosen(_samesum.argmax, x, axis, keepdims, _numpy.dtype(_numpy.int64))


def argmin(x: Any, /, *, axis: Union[None, int] = None, keepdims: bool = False) -> Any:
    """The lowest index of the least element; of the first NaN where there is one.

    Parameters
    ----------
    x : array
        Real numbers.
    axis : int, optional
        Along which; None: in all elements in C order.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of int64.

    Examples
    --------
    >>> samesum.array_api.argmin(numpy.array([4, 1, 1]))
    array(1)
    """
    return _chosen(_samesum.argmin, x, axis, keepdims, _numpy.dtype(_numpy.int64))


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """How many elements are not zero; a NaN is not.

    Parameters
    ----------
    x : array
        Of any type.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of int64.

    Examples
    --------
    >>> samesum.array_api.count_nonzero(numpy.array([0.0, -0.0, 5e-324]))
    array(1)
    """
    return _chosen(_samesum.count_nonzero, x, axis, keepdims, _numpy.dtype(_numpy.int64))


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether any element is not zero; a NaN is not zero.

    Parameters
    ----------
    x : array
        Of any type.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of bool.

    Examples
    --------
    >>> samesum.array_api.any(numpy.array([[0, 0], [0, 3]]), axis=1)
    array([False,  True])
    """
    return _chosen(_samesum.any, x, axis, keepdims, _numpy.dtype(bool))


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether no element is zero; a NaN is not zero.

    Parameters
    ----------
    x : array
        Of any type.
    axis : None, int or tuple of int, optional
        The axes to reduce; None: all.
    keepdims : bool, optional
        The result keeps the reduced axes, with extent 1.

    Returns
    -------
    array
        Of bool.

    Examples
    --------
    >>> samesum.array_api.all(numpy.array([1.0, float('nan')]))
    array(True)
    """
    return _chosen(_samesum.all, x, axis, keepdims, _numpy.dtype(bool))
