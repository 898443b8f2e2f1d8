"""Functions that are told how far long work is."""
from __future__ import annotations

from typing import Any, Callable, TypeVar

from . import _core

Result = TypeVar("Result")


def watched(function: Callable[..., Result], arguments: dict[str, Any]) -> Result:
    """`function` of the arguments by name; its work calls their `progress`."""
    progress = arguments.pop("progress")
    result: Result = _core.watch(progress, function, arguments)
    return result
