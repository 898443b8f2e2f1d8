"""Formulas and operators, compiled for the call: docs/formulas.md has their language."""
from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable

import numpy as _numpy

from . import _core
from ._arrays import text
from ._docs import documented
from ._reductions import _axes

if TYPE_CHECKING:
    from ._docs import Axis, DeviceLike


def plain(value: Any) -> Any:
    """numpy's numbers as Python's; of a tuple each."""
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    return value.item() if isinstance(value, _numpy.generic) else value


@lru_cache(64)  # reading a formula takes microseconds, as a small sum does
def _names(*formulas: str) -> frozenset[str]:
    """The names in formulas, which may be empty."""
    return frozenset().union(*(_core.names_of(each) for each in formulas if each))


def used(named: Iterable[str], *formulas: str) -> None:
    """Refuses names that no formula uses: they may be meant as arguments of another function."""
    known = _names(*formulas)
    for name in named:
        if name.removesuffix("[]") not in known:
            raise TypeError(f"samesum: no formula uses '{name}'")


def using(formula: Any, inputs: dict[str, Any]) -> str:
    """A formula that uses all its inputs. A single one may only give the shape, of a formula such as `i`."""
    formula = text(formula, "the formula")
    if len(inputs) > 1:
        used(inputs, formula)
    return str(formula)


def operands(x: Any, operator: str, formula: str | None, finish: str | None, named: dict[str, Any]) -> tuple[Any, ...]:
    """What `_core` takes for an operator: the formula whose values are reduced (empty: x itself), with its inputs; the operator with its
    numbers; and the formula of the result, which may be empty."""
    operator, last = text(operator, "the operator"), "" if finish is None else text(finish, "finish")
    mapped = "" if formula is None else text(formula, "map")
    x, named = _numpy.asarray(x) if isinstance(x, (int, float)) else x, {name: plain(value) for name, value in named.items()}
    of_map, of_operator = _names(mapped), _names(operator, last)
    used(named, mapped, operator, last)
    inputs = {name: value for name, value in named.items() if name.removesuffix("[]") in of_map}
    numbers = {name: value for name, value in named.items() if name in of_operator}
    return mapped, {"x": x, **inputs}, operator, numbers, last


@documented
def reduce(x: Any, operator: str, identity: int | float | tuple[int | float, ...] | None = None, device: DeviceLike = None, axis: Axis = None,
           keepdims: bool = False, map: str | None = None, finish: str | None = None, **named: Any) -> Any:
    """The elements reduced by an operator, over a fixed tree: the same bits everywhere.

    Parameters
    ----------
    {x}
    operator : str
        A formula of `a` and `b`: of tuples, `a[0]` and `b[1]`.
    identity : int, float or tuple, optional
        The result of no elements.
    {device axis keepdims}
    map : str, optional
        A formula of `x`, the index `i` and the arrays and numbers in `named`, whose values are reduced: it may give a tuple.
    finish : str, optional
        A formula of the result, `a`.
    **named : int, float or array_like
        What the formulas take by name; arrays only with `map`.

    Returns
    -------
    int, float, numpy.ndarray, or a tuple of these
        Along an axis an array, of the type that the operator gives; of tuples a tuple.

    Raises
    ------
    SamesumError
        Where the formula cannot be read, and for no elements without `identity`.

    Examples
    --------
    >>> samesum.reduce([12, 18, 30], 'gcd(a, b)', 0)
    6
    >>> samesum.reduce([3, 5, 7], 'mulmod(a, b, p)', 1, p=11)
    6
    >>> samesum.reduce(numpy.array([[12, 18], [30, 27]]), 'gcd(a, b)', axis=0)
    array([6, 9])
    >>> samesum.reduce([3.0, -7.0, 5.0], 'b[0] > a[0] ? b : a', map='(abs(x), i)')
    (7.0, 1)
    """
    mapped, inputs, operator, numbers, last = operands(x, operator, map, finish, named)
    if axis is not None or keepdims:
        found = _core.reduce_along(mapped, inputs, operator, plain(identity), numbers, last, _axes(axis), bool(keepdims), device)
        return found[0] if len(found) == 1 else tuple(found)
    return _core.reduce(mapped, inputs, operator, plain(identity), numbers, last, device)


def map(formula: str, **inputs: Any) -> Any:
    """The values of a formula at each position.

    Parameters
    ----------
    formula : str
        Of the names of `inputs`.
    **inputs : array_like, int or float
        Arrays of one shape, and numbers, by name.

    Returns
    -------
    numpy.ndarray or tuple of numpy.ndarray
        A formula that is a tuple gives an array for each of its components.

    Raises
    ------
    SamesumError
        Where the formula cannot be read, or a name has no input.
    TypeError
        Where the formula does not use one of several inputs.

    Examples
    --------
    >>> samesum.map('sqrt(x^2 + y^2)', x=[3.0], y=[4.0])
    array([5.])
    """
    results = _core.map(using(formula, inputs), inputs)
    return results[0] if len(results) == 1 else tuple(results)


@documented
def sum_map(formula: str, device: DeviceLike = None, nan: str = "propagate", axis: Axis = None, keepdims: bool = False, **inputs: Any) -> Any:
    """The exact sum of a formula's values, rounded once, without an array of them.

    Parameters
    ----------
    formula : str
        Of the names of `inputs`.
    {device nan axis keepdims}
    **inputs : array_like, int or float
        Arrays, which are broadcast, and numbers, by name.

    Returns
    -------
    int, float or numpy.ndarray
        Along an axis an array: of integers int64 or uint64.

    Raises
    ------
    SamesumError
        Where the formula cannot be read, or a name has no input.
    TypeError
        Where the formula does not use one of several inputs.

    Examples
    --------
    >>> samesum.sum_map('w*(x - m)^2', w=[1.0, 2.0], x=[3.0, 5.0], m=3.0)
    8.0
    >>> samesum.sum_map('x*y', axis=1, x=numpy.array([[1.0, 2.0], [3.0, 4.0]]), y=[0.5, 0.25])
    array([1. , 2.5])
    """
    if axis is not None or keepdims:
        return _core.sum_map_along(using(formula, inputs), inputs, _axes(axis), bool(keepdims), nan, device)
    return _core.sum_map(using(formula, inputs), inputs, nan, device)
