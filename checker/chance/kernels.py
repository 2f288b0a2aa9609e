"""Native code of the analysis of probabilities: compiled once, the same for all processes."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from checker.chance import native_graph, native_sweeps
from checker.engines.native.codegen.emit import Fn
from checker.engines.native.codegen.jit import CompiledFunctions, compile_functions


class Kernels:
    """Functions by name; each takes numbers, and arrays for which it gets their addresses."""

    def __init__(self) -> None:
        code = [*native_graph.functions(), *native_sweeps.functions()]
        self._code: CompiledFunctions = compile_functions(code)
        self._functions = {fn.name: self._callable(fn) for fn in code}
        self.stop = self._code.stop

    def _callable(self, fn: Fn) -> Callable[..., int]:
        return self._code.function(fn.name, len(fn.params))

    def __call__(self, name: str, *args: array[Any] | int | None) -> int:
        """Calls the function ``name``; ``None``: no array."""
        return self._functions[name](*map(_word, args))


def _word(value: array[Any] | int | None) -> int:
    if isinstance(value, array):
        return value.buffer_info()[0]
    return value or 0


@lru_cache(maxsize=1)
def kernels() -> Kernels:
    """Returns the compiled functions."""
    return Kernels()


def numbers(count: int, value: int = 0) -> array[Any]:
    """Returns an array of ``count`` entries of 32 bits, all of them ``value``."""
    return array("I", [value]) * count


def words(count: int) -> array[Any]:
    """Returns an array of ``count`` zeros of 64 bits."""
    return array("Q", [0]) * count


def octets(count: int, value: int = 0) -> array[Any]:
    """Returns an array of ``count`` bytes, all of them ``value``."""
    return array("B", [value]) * count
