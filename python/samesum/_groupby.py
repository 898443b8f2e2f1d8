"""Groups of equal keys: reductions of each."""
from __future__ import annotations

import re as _re
import sys as _sys
from typing import Any

import numpy as _numpy

from . import _core
from ._arrays import every, present, text, validity, widened
from ._docs import documented
from ._formulas import operands, plain
from ._reductions import _correction
from ._times import by_key, times


def _near(keys: Any) -> tuple[Any, int] | None:
    """Many integers that lie near each other, as indices from 0 on, and the least of them: their sums need no ranks. None: they do not."""
    if keys.dtype.kind not in "iu" or keys.size < 4096:
        return None
    low, high = int(keys.min()), int(keys.max())
    if high - low >= keys.size // 4 or not -2**63 <= low <= high < 2**63:
        return None
    if 0 <= low < keys.size // 8:
        low = 0
    return _numpy.subtract(keys, low, dtype=_numpy.int64, casting="unsafe"), low


_OF_NONE = {"sum": 0, "count": 0, "norm": 0, "count_nonzero": 0, "prod": 1}  # results of groups without elements that are not missing


class GroupBy:
    """Elements with equal keys as groups, in ascending order of the keys: `groupby` makes it.

    Parameters
    ----------
    *keys : array_like
        One for each element, of any type that can be sorted. Of several arrays, of one shape, all of an element's keys count.

    Attributes
    ----------
    keys : numpy.ndarray or tuple of numpy.ndarray
        The key of each group, in the order of all results; of several arrays one for each.

    Examples
    --------
    >>> samesum.GroupBy([7, 3, 7]).keys
    array([3, 7])
    """

    keys: Any

    def __init__(self, *keys: Any) -> None:
        if not keys:
            raise TypeError("samesum: groups are of keys: pass an array of them")
        if len(keys) == 1:
            self._group(keys[0])
            self.keys = self._sorted
        else:
            keys = tuple(each if hasattr(each, "__len__") else every(each) for each in keys)  # generators are read once
            arrays = [every(each) for each in keys]
            self._group(_combined(keys, arrays))
            first = self._by.reduce(_numpy.arange(len(self._codes)), "min", 0, None)
            self.keys = tuple(each.reshape(-1)[first] for each in arrays)

    def _group(self, given: Any) -> None:
        """Groups by `_codes`, integers in the order of the keys, of which `_sorted_codes` are the groups'. The keys may change afterwards."""
        self._near = None
        integers, self._sorted, self._shape = _integers_of(given)
        near = None if self._sorted is not None else _near(integers)
        if near is not None:
            self._codes, low = near
            counts = _numpy.bincount(self._codes)
            self._near, self._sorted_codes = len(counts), _numpy.flatnonzero(counts)
            self._sorted = (self._sorted_codes + low).astype(integers.dtype)
            self._lazy: Any = None
        else:
            self._lazy = _core.By.keys_of(integers)
            self._codes = self._lazy.indices
            self._sorted_codes = _numpy.arange(self._lazy.groups)
            if self._sorted is None:
                self._sorted = self._lazy.keys.astype(integers.dtype, copy=False)

    @property
    def _by(self) -> Any:
        """The groups of the library."""
        if self._lazy is None:
            self._lazy = _core.By.keys_of(self._codes)
        return self._lazy

    def _like_keys(self, x: Any) -> Any:
        shape = getattr(x, "shape", None)
        if isinstance(x, (list, tuple)):
            shape = _numpy.shape(x) if len(self._shape) != 1 or (x and isinstance(x[0], (list, tuple))) else (len(x),)
        if shape is not None and tuple(shape) != self._shape:
            raise _core.SamesumError(f"elements of shape {tuple(shape)}, and keys of {self._shape}: each element needs one key")
        return x

    def _named(self, error: Exception, by_code: bool = False) -> Exception:
        """The error of a group by its number, or its code, as one by its key."""
        found = _re.search(r"group (\d+)", str(error))
        at = len(self) if found is None else int(_numpy.searchsorted(self._sorted_codes, int(found[1]))) if by_code else int(found[1])
        if found is None or at >= len(self):
            return error
        key = tuple(each[at : at + 1].tolist()[0] for each in self.keys) if isinstance(self.keys, tuple) else self.keys[at : at + 1].tolist()[0]
        return type(error)(f"{str(error)[: found.start()]}group {key!r}{str(error)[found.end() :]}")

    def _reduced(self, x: Any, what: str, ddof: int, nan: str | None) -> Any:
        self._like_keys(x)
        try:
            if what == "sum" and nan == "propagate" and self._near is not None:
                try:
                    return _core.sum_at(x, self._codes.reshape(self._shape), self._near, None)[self._sorted_codes]
                except _core.NoAnswerError:
                    pass  # the message below names the group
            return self._by.reduce(x, what, ddof, nan)
        except _core.NoAnswerError as error:
            raise self._named(error) from None
        except TypeError:
            dates = times(x)
            if dates is not None:
                return by_key(what, dates, self._by, nan or "propagate")
            there = validity(x)
            if there is None or there.shape != self._shape or there.all():
                raise
        return self._of_present(x, there, what, ddof, nan)

    def _of_present(self, x: Any, there: Any, what: str, ddof: int, nan: str | None) -> Any:
        """The reduction without the elements that are missing."""
        groups = GroupBy(self._codes[there.reshape(-1)])
        try:
            found = groups._reduced(widened(_numpy.asarray(present(x)[0])), what, ddof, nan)
        except _core.NoAnswerError as error:
            raise self._named(error, by_code=True) from None
        if what in ("argmin", "argmax"):
            found = _numpy.flatnonzero(there)[found]
        return self._spread(found, groups, what, _OF_NONE.get(what, _numpy.nan))

    def _spread(self, found: Any, groups: GroupBy, what: str, empty: float) -> Any:
        """Results of some of the groups, by their codes, beside `empty` for the others."""
        if len(groups) < len(self) and found.dtype.kind in "iu" and empty != empty:
            at = _numpy.searchsorted(self._sorted_codes, _numpy.setdiff1d(self._sorted_codes, groups._sorted)[0])
            raise self._named(_core.NoAnswerError(f"there is no {what} of group {at}: all its elements are missing"))
        fill = empty if found.dtype.kind == "f" or empty == empty else 0  # of integers, where all groups are there
        results = _numpy.full(found.shape[:-1] + (len(self),), fill, found.dtype)
        results[..., _numpy.searchsorted(self._sorted_codes, groups._sorted)] = found
        return results

    @documented
    def sum(self, x: Any, nan: str = "propagate") -> Any:
        """The exact sum of each group, rounded once.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            Of floats float64, of integers int64 or uint64.

        Examples
        --------
        >>> samesum.groupby(['b', 'a', 'b']).sum([1e16, 2.0, 1.0])
        array([2.e+00, 1.e+16])
        """
        return self._reduced(x, "sum", 0, nan)

    @documented
    def mean(self, x: Any, nan: str = "propagate") -> Any:
        """The mean of each group, rounded once.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).mean([1.0, 2.0, 4.0])
        array([2. , 2.5])
        """
        return self._reduced(x, "mean", 0, nan)

    @documented
    def var(self, x: Any, ddof: int = 0, nan: str = "propagate") -> Any:
        """The variance of each group, rounded once; NaN for one of no more than `ddof` elements.

        Parameters
        ----------
        {x ddof nan}

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).var([1.0, 2.0, 4.0])
        array([0.  , 2.25])
        """
        return self._reduced(x, "var", _correction(ddof), nan)

    @documented
    def std(self, x: Any, ddof: int = 0, nan: str = "propagate") -> Any:
        """The root of the exact variance of each group, rounded once; NaN for one of no more than `ddof` elements.

        Parameters
        ----------
        {x ddof nan}

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).std([1.0, 2.0, 4.0])
        array([0. , 1.5])
        """
        return self._reduced(x, "std", _correction(ddof), nan)

    @documented
    def min(self, x: Any, nan: str = "propagate") -> Any:
        """The least element of each group.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            Of floats float64, of integers int64 or uint64.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).min([1, 2, 4])
        array([2, 1])
        """
        return self._reduced(x, "min", 0, nan)

    @documented
    def max(self, x: Any, nan: str = "propagate") -> Any:
        """The greatest element of each group.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            Of floats float64, of integers int64 or uint64.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).max([1, 2, 4])
        array([2, 4])
        """
        return self._reduced(x, "max", 0, nan)

    @documented
    def argmin(self, x: Any, nan: str = "propagate") -> Any:
        """The index in `x` of the least element of each group, of equal ones the first.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            int64: an index of the flattened `x`.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).argmin([4, 2, 1])
        array([1, 2])
        """
        return self._reduced(x, "argmin", 0, nan)

    @documented
    def argmax(self, x: Any, nan: str = "propagate") -> Any:
        """The index in `x` of the greatest element of each group, of equal ones the first.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            int64: an index of the flattened `x`.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).argmax([4, 2, 1])
        array([1, 0])
        """
        return self._reduced(x, "argmax", 0, nan)

    @documented
    def norm(self, x: Any, nan: str = "propagate") -> Any:
        """The Euclidean norm of each group, rounded once.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).norm([3.0, 2.0, 4.0])
        array([2., 5.])
        """
        return self._reduced(x, "norm", 0, nan)

    @documented
    def prod(self, x: Any, nan: str = "propagate") -> Any:
        """The product of each group: of integers exact, of floats by a fixed tree over its elements in their order.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            Of float64 float64, of other floats float32, of integers int64 or uint64.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).prod([3, 2, 4])
        array([ 2, 12])
        """
        return self._reduced(x, "prod", 0, nan)

    @documented
    def count_nonzero(self, x: Any, nan: str = "propagate") -> Any:
        """How many elements of each group are not zero.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            int64.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).count_nonzero([3, 0, 4])
        array([0, 2])
        """
        return self._reduced(x, "count_nonzero", 0, nan)

    @documented
    def reduce(self, x: Any, operator: str, identity: int | float | tuple[int | float, ...] | None = None, map: str | None = None,
               finish: str | None = None, **named: Any) -> Any:
        """The elements of each group reduced by an operator, in their order, over a fixed tree: as `samesum.reduce` of these alone.

        Parameters
        ----------
        {x}
        operator : str
            A formula of `a` and `b`: of tuples, `a[0]` and `b[1]`.
        identity : int, float or tuple, optional
            As in `samesum.reduce`.
        map : str, optional
            A formula of `x`, the index `i` and the arrays and numbers in `named`, whose values are reduced: it may give a tuple.
        finish : str, optional
            A formula of the result of a group, `a`.
        **named : int, float or array_like
            What the formulas take by name; arrays only with `map`.

        Returns
        -------
        numpy.ndarray or tuple of numpy.ndarray
            Of the type that the operator gives; of tuples a tuple.

        Examples
        --------
        >>> samesum.groupby(['b', 'a', 'b']).reduce([12, 7, 18], 'gcd(a, b)')
        array([7, 6])
        >>> samesum.groupby(['b', 'a', 'b']).reduce([3.0, 1.0, 5.0], 'a + b', map='w*x', w=[0.5, 2.0, 0.25])
        array([2.  , 2.75])
        """
        mapped, inputs, operator, numbers, last = operands(x, operator, map, finish, named)
        self._like_keys(x)
        try:
            found = self._by.operate(mapped, inputs, operator, plain(identity), numbers, last)
        except _core.NoAnswerError as error:
            raise self._named(error) from None
        return found[0] if len(found) == 1 else tuple(found)

    @documented
    def quantile(self, x: Any, q: Any, method: str = "linear", nan: str = "propagate") -> Any:
        """Exact quantiles of each group; NaN of a group without elements.

        Parameters
        ----------
        {x}
        q : float or array_like of float
            In [0, 1]. Of several, the results lie along the first axis, those of the groups along the second.
        method : {'linear', 'lower', 'higher', 'nearest', 'midpoint'}
            What is between two elements, as numpy's.
        {nan}

        Returns
        -------
        numpy.ndarray
            float64; where `method` takes an element, of the type of the elements.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7, 7]).quantile([1, 2, 4, 8], [0.0, 0.75])
        array([[2., 1.],
               [2., 6.]])
        """
        text(method, "method")
        wanted = [float(each) for each in _numpy.atleast_1d(q)]
        self._like_keys(x)
        try:
            found = self._by.quantiles(x, wanted, method, nan)
        except _core.NoAnswerError as error:
            raise self._named(error) from None
        except TypeError:
            there = validity(x)
            if there is None or there.shape != self._shape or there.all():
                raise
            groups = GroupBy(self._codes[there.reshape(-1)])
            present_ones = groups.quantile(widened(_numpy.asarray(present(x)[0])), wanted, method, nan)
            found = self._spread(present_ones, groups, "quantile", _numpy.nan)
        return found if _numpy.ndim(q) else found[0]

    @documented
    def median(self, x: Any, nan: str = "propagate") -> Any:
        """The exact median of each group; NaN of a group without elements.

        Parameters
        ----------
        {x nan}

        Returns
        -------
        numpy.ndarray
            float64.

        Examples
        --------
        >>> samesum.groupby([7, 3, 7, 7]).median([1, 2, 4, 8])
        array([2., 4.])
        """
        return self.quantile(x, 0.5, "linear", nan)

    @documented
    def count(self, x: Any) -> Any:
        """The elements of each group, NaNs included.

        Parameters
        ----------
        {x}

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> samesum.groupby([7, 3, 7]).count([1.0, 2.0, 4.0])
        array([1, 2])
        """
        return self._reduced(x, "count", 0, None)

    def __len__(self) -> int:
        return len(self._sorted)

    def __repr__(self) -> str:
        return f"<samesum.GroupBy of {len(self)} groups>"


def _integers_of(keys: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """Integers in the order of the keys, one for each, along one axis. Where they are not the keys themselves, those that there are, in
    their order, else None. And the shape of the keys."""
    if hasattr(keys, "columns") and hasattr(keys, "iloc"):
        raise TypeError("samesum: a table: pass its columns, groupby(table['a'], table['b'])")
    if type(keys).__module__.partition(".")[0] == "pandas" and getattr(getattr(keys, "dtype", None), "kind", "f") not in "iufbmM":  # words, which pandas hashes
        codes, ordered = _sys.modules["pandas"].factorize(keys, sort=True)
        if len(codes) and codes.min() < 0:
            raise TypeError("samesum: keys are missing, so their elements have no group: fill or drop them first")
        return codes.astype(_numpy.int64, copy=False), _numpy.asarray(ordered), (len(codes),)
    keys = every(keys)
    flat, kind = keys.reshape(-1), keys.dtype.kind
    if kind in "iub":
        return flat, None, keys.shape
    if kind in "mM":
        numbers = flat.astype(keys.dtype.newbyteorder("="), copy=False).view(_numpy.int64)
        if not (numbers == _numpy.iinfo(_numpy.int64).min).any():  # NaT is last for numpy, which sorts such
            division = _core.By.keys_of(numbers)
            return division.indices, division.keys.view(keys.dtype.newbyteorder("=")), keys.shape
    if kind == "f" and keys.dtype.itemsize <= 8:
        numbers = (flat.astype(_numpy.float64) + 0.0).view(_numpy.int64)  # -0.0 is 0.0
        if not _numpy.isnan(flat).any():
            division = _core.By.keys_of(numbers ^ (numbers >> 63 & _numpy.iinfo(_numpy.int64).max))
            bits = division.keys
            ordered = (bits ^ (bits >> 63 & _numpy.iinfo(_numpy.int64).max)).view(_numpy.float64).astype(keys.dtype)
            return division.indices, ordered, keys.shape
    if kind == "O" and any(key is None or key != key for key in flat):  # NaNs are not equal to each other
        raise TypeError("samesum: keys are missing, so their elements have no group: fill or drop them first")
    ordered, ranks = _numpy.unique(flat, return_inverse=True)
    return ranks.reshape(-1), ordered, keys.shape


def _combined(keys: tuple[Any, ...], arrays: list[Any]) -> Any:
    """An integer for each element, in the order of its keys, the first of which counts most."""
    if any(each.shape != arrays[0].shape for each in arrays):
        raise TypeError(f"samesum: keys of shapes {', '.join(str(each.shape) for each in arrays)}: each element needs one of each")
    numbers, count = _numpy.zeros(arrays[0].size, _numpy.int64), 1
    for each in keys:
        ranks, ordered, _ = _integers_of(each)
        if ordered is None:
            division = _core.By.keys_of(ranks)
            ranks, distinct = division.indices, division.groups
        else:
            distinct = len(ordered)
        if count * distinct >= 2**63:  # only as many numbers as there are groups so far
            division = _core.By.keys_of(numbers)
            numbers, count = division.indices, division.groups
        numbers, count = numbers * distinct + ranks, count * distinct
    return numbers.reshape(arrays[0].shape)


def groupby(*keys: Any) -> GroupBy:
    """The groups of equal keys.

    Parameters
    ----------
    *keys : array_like
        One for each element, of any type that can be sorted. Of several arrays, of one shape, all of an element's keys count.

    Returns
    -------
    GroupBy

    Examples
    --------
    >>> groups = samesum.groupby([7, 3, 7])
    >>> groups.keys, groups.sum([1e16, 2.0, 1.0])
    (array([3, 7]), array([2.e+00, 1.e+16]))
    >>> groups = samesum.groupby([7, 3, 7], ['b', 'a', 'a'])
    >>> [key.tolist() for key in groups.keys], groups.sum([1, 2, 4]).tolist()
    ([[3, 7, 7], ['a', 'a', 'b']], [2, 4, 1])
    """
    return GroupBy(*keys)
