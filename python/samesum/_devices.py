"""Where to compute."""
from __future__ import annotations

import json as _json
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from ._docs import DeviceLike


def devices() -> list[dict[str, Any]]:
    """The devices of this machine that samesum can use.

    Returns
    -------
    list of dict
        With ``selector``, ``name``, ``platform``, ``driver`` and ``memory_bytes``.

    Examples
    --------
    >>> samesum.devices()[0]['selector']
    'cpu'
    """
    return _core.devices()


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
    found: dict[str, Any] = _json.loads(_core.selftest(device))
    return found
