"""The tasks of `samesum.dask`: what is made of a chunk, how such parts merge, and what is shown at the end."""
from __future__ import annotations

from typing import Any

import numpy

from . import _core
from ._arrays import every, on_host
from ._core import NoAnswerError


def _copied(part: Any) -> Any:
    """Parts stay what they are: another task may merge them too."""
    kind: Any = type(part)
    copy = kind.__new__(kind)
    copy.__setstate__(part.__getstate__())
    return copy


def merged(parts: list[Any]) -> Any:
    result = _copied(parts[0])
    for part in parts[1:]:
        result.merge(part)
    return result


def collected(x: Any, what: str) -> Any:
    return _core.collect(x, what != "norm", what not in ("sum", "mean"))


def shown(whole: Any, what: str, ddof: int, nan: str, dtype: Any) -> Any:
    return _typed(_core.shown_of(whole, what, ddof, nan), dtype)


def _typed(value: Any, dtype: Any) -> Any:
    try:
        return numpy.array(value, dtype)
    except OverflowError:
        raise NoAnswerError(f"the sum is {value}, which does not fit into {dtype}") from None


def along(x: Any, axes: tuple[int, ...], what: str) -> tuple[tuple[int, ...], Any]:
    """The shape without `axes`, and a group for each position in it."""
    x = on_host(x)
    x = x if hasattr(x, "shape") else numpy.asarray(x)
    kept = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    count = int(numpy.prod(kept, dtype=int))
    places = numpy.arange(count).reshape(tuple(1 if i in axes else n for i, n in enumerate(x.shape)))
    return kept, _core.GroupSums.of(x, numpy.broadcast_to(places, x.shape), count, what)


def merged_along(parts: list[Any]) -> Any:
    result = _copied(parts[0][1])
    for _, part in parts[1:]:
        result.merge(part, None)
    return parts[0][0], result


def shown_along(part: Any, what: str, ddof: int, nan: str, dtype: Any) -> Any:
    shape, sums = part
    return sums.shown(what, ddof, nan).astype(dtype, copy=False).reshape(shape)


def products(a: Any, b: Any) -> Any:
    return _core.products(a, b)


def shown_product(whole: Any, nan: str, dtype: Any) -> Any:
    return _typed(whole.integer() if dtype.kind in "iu" else whole.round(nan), dtype)


def counts(whole: Any) -> Any:
    return whole.counts()


def keys(x: Any) -> Any:
    return numpy.unique(every(x))


def merged_keys(parts: list[Any]) -> Any:
    return numpy.unique(numpy.concatenate(parts))


def grouped(at: Any, x: Any, what: str) -> Any:
    found, ranks = numpy.unique(every(at), return_inverse=True)
    return found, what, _core.GroupSums.of(x, ranks.reshape(-1), len(found), what)


def merged_groups(parts: list[Any]) -> Any:
    found = merged_keys([each for each, _, _ in parts])
    what = parts[0][1]
    sums = _core.GroupSums.empty(len(found), what)
    for each, _, part in parts:
        sums.merge(part, numpy.searchsorted(found, each).tolist())
    return found, what, sums


def shown_groups(part: Any, what: str, ddof: int, nan: str, dtype: Any) -> Any:
    return part[2].shown(what, ddof, nan).astype(dtype, copy=False)
