"""Where to compute."""
from __future__ import annotations

import os as _os
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as _numpy

from . import _core
from ._drawing import table

if TYPE_CHECKING:
    from ._docs import DeviceLike


class Devices(list):  # type: ignore[type-arg]
    """What is known of several devices: a list of dicts, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        return table(self[0], (each.values() for each in self))


def devices() -> Devices:
    """The devices of this machine that samesum can use.

    Returns
    -------
    list of dict
        With ``selector``, ``name``, ``platform``, ``driver`` and ``memory_bytes``. Notebooks show it as a table.

    Examples
    --------
    >>> samesum.devices()[0]['selector']
    'cpu'
    """
    return Devices(_core.devices())


def selftest(device: DeviceLike = "cpu") -> dict[str, Any]:
    """Whether a device gives the right bits. Takes seconds.

    Parameters
    ----------
    device : Device or str, optional
        Which one: ``'cpu'``, ``'opencl:0'``, ``'cuda:0'``.

    Returns
    -------
    dict
        With ``passed``, and what was tried.

    Examples
    --------
    >>> samesum.selftest()['passed']  # doctest: +SKIP
    True
    """
    import json
    found: dict[str, Any] = json.loads(_core.selftest(device))
    return found


def tune(device: DeviceLike = None, operations: Sequence[str] = (), dtypes: Sequence[Any] = (), bytes: Sequence[int] = (), seconds: float = 60,
         path: str | _os.PathLike[str] | None = None, write: bool = True, progress: Callable[[str], Any] | None = None) -> dict[str, Any]:
    """Find the fastest shapes of kernels for a device, and keep them in a file of the user.

    It affects the speed of answers, never their bits: docs/tuning.md.

    Parameters
    ----------
    device : Device or str, optional
        Which one; it has to run kernels: ``'opencl:0'``, ``'cuda:0'``.
    operations : sequence of str, optional
        Of 'sum', 'dot' and 'extrema'; by default all.
    dtypes : sequence of dtype, optional
        By default float32 and float64.
    bytes : sequence of int, optional
        Sizes of arrays; by default powers of 4 from 4 KiB to 64 MiB.
    seconds : float, optional
        At most, for all of it.
    path : str, optional
        The file to write, instead of the user's own.
    write : bool, optional
        Whether to write it.
    progress : callable, optional
        Called with what is measured next; where it returns False the search ends and keeps what was found.

    Returns
    -------
    dict
        With ``device``, ``path``, ``complete``, ``seconds`` and ``rows``: what was found for each operation, type and size.

    Raises
    ------
    SamesumError
        For an unknown operation, a device without kernels, and a file that cannot be written.

    Examples
    --------
    >>> samesum.tune('cuda:0', operations=['sum'], seconds=10)['complete']  # doctest: +SKIP
    True
    """
    types = [_numpy.dtype(each).name for each in dtypes]
    found: dict[str, Any] = _core.tune(device, list(operations), types, list(bytes), seconds, "" if path is None else _os.fspath(path), write,
                                       progress)
    return found
