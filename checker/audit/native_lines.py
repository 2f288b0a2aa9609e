"""Native code that goes along several logs at once, as far as they are one execution.

A. B. Kahn: Topological Sorting of Large Networks, CACM 1962, along lines in place of single nodes:
an event is passed when all before it in its line are, and a wait when what it waits for was
offered by some line.  The greatest part that can be passed does not depend on the order of the
work, because what is offered stays so.  Every event is passed once: the time is that of one pass
over the logs, however often they wait for one another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from checker.engines.native.codegen.arrays import entry, put
from checker.engines.native.codegen.emit import Fn, Val, Var, const
from checker.engines.native.codegen.jit import compile_functions

NONE = 0xFFFFFFFF
"""Stands for no line."""
WAITS, OFFERS, EARLY = 0, 1, 2
"""What an event is: it needs that its key was offered; it offers it; it comes before the only line
that offers its key does, which is its own, and nothing waits for it."""


def _pass() -> Fn:
    """``pass(start, key, kind, offered, owner, waiting, next, at, stack, lines)``.

    ``start`` (64 bits): where each line begins, and where the last one ends; ``key``, ``kind`` (32
    and 8 bits): of each event; ``offered`` (8), ``owner``, ``waiting`` (32): of each key, whether
    it was offered, the only line that offers it, and the first line that waits for it; ``next``,
    ``at``, ``stack`` (32, 64, 32): of each line, which waits for the same as it, the first event
    that is not passed, and ``lines`` lines that can go on.
    """
    pointers = "start key kind offered owner waiting next at stack".split()
    fn = Fn("pass", [*((name, 0) for name in pointers), ("lines", 64)], 64)
    code = _Pass(fn)
    with fn.forever() as done:
        fn.leave_if(fn.eq(code.top.get(), const(0)), done)
        code.top.set(fn.sub(code.top.get(), const(1)))
        line = code.get("stack", code.top.get(), 32)
        code.along(line)
    fn.ret(const(0))
    return fn


class _Pass:
    """Code of the function ``pass``; ``top``: the height of the stack."""

    def __init__(self, fn: Fn) -> None:
        self.fn = fn
        self.array = {name: arg for (name, _), arg in zip(fn.params, fn.args, strict=True)}
        self.top = fn.var(self.array["lines"])

    def get(self, name: str, index: Val, bits: int) -> Val:
        """Returns an entry of an array, as 64 bits."""
        return entry(self.fn, self.array[name], index, bits)

    def put(self, name: str, index: Val, value: Val, bits: int) -> None:
        """Changes an entry of an array."""
        put(self.fn, self.array[name], index, value, bits)

    def along(self, line: Val) -> None:
        """Passes events of a line until one waits."""
        fn = self.fn
        event = fn.var(self.get("at", line, 64))
        end = self.get("start", fn.add(line, const(1)), 64)
        with fn.forever() as stopped:
            fn.leave_if(fn.eq(event.get(), end), stopped)
            now = event.get()
            kind, key = self.get("kind", now, 8), self.get("key", now, 32)
            new = fn.eq(self.get("offered", key, 8), const(0))
            with fn.if_(fn.and_(new, fn.eq(kind, const(OFFERS)))):
                self.put("offered", key, const(1), 8)
                self._wake(key)
            with fn.if_(fn.and_(new, fn.eq(kind, const(WAITS)))):
                own = fn.label()
                fn.leave_if(fn.eq(self.get("owner", key, 32), line), own)
                self.put("next", line, self.get("waiting", key, 32), 32)
                self.put("waiting", key, line, 32)
                fn.jump(stopped)
                fn.place_fresh(own)
                self.put("kind", now, const(EARLY), 8)
            event.set(fn.add(event.get(), const(1)))
        self.put("at", line, event.get(), 64)

    def _wake(self, key: Val) -> None:
        """Puts the lines that wait for a key on the stack."""
        fn = self.fn
        line: Var = fn.var(self.get("waiting", key, 32))
        with fn.forever() as none:
            fn.leave_if(fn.eq(line.get(), const(NONE)), none)
            self.put("stack", self.top.get(), line.get(), 32)
            self.top.set(fn.add(self.top.get(), const(1)))
            line.set(self.get("next", line.get(), 32))
        self.put("waiting", key, const(NONE), 32)


@lru_cache(maxsize=1)
def pass_along() -> Callable[..., int]:
    """Returns the compiled function, which takes the addresses of its arrays."""
    return compile_functions([_pass()]).function("pass", 10)
