"""The scope of code being emitted: the state, the names in scope, and where errors go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from checker.engines.native.codegen import value_codes as c
from checker.engines.native.codegen.convert import convert
from checker.engines.native.codegen.emit import Fn, Label, Val, Var
from checker.engines.native.codegen.layout import Layout
from checker.model.types import Type


class Bound(Struct, frozen=True):
    """A name that never changes: a parameter, or a name bound by an expression."""

    type: Type
    value: Val


class Slot(Struct, frozen=True):
    """A name that statements assign to."""

    type: Type
    var: Var


class Frame:
    """``state`` points to the words that are read (and, in bodies, written).

    ``fault`` is where a runtime error goes; ``names`` maps names to their values.
    """

    def __init__(self, fn: Fn, layout: Layout, state: Val, fault: Label) -> None:
        self.fn = fn
        self.layout = layout
        self.state = state
        self.fault = fault
        self.names: dict[str, Bound | Slot] = {}

    @contextmanager
    def bound(self, name: str, type_: Type, value: Val) -> Iterator[None]:
        """Binds ``name`` for the duration of the block."""
        before = self.names.get(name)
        self.names[name] = Bound(type_, value)
        yield
        if before is None:
            del self.names[name]
        else:
            self.names[name] = before

    @contextmanager
    def faulting(self, fault: Label) -> Iterator[None]:
        """Sends errors to ``fault`` for the duration of the block."""
        before, self.fault = self.fault, fault
        yield
        self.fault = before

    def get(self, name: str, want: Type) -> Val:
        """The current value of ``name``."""
        found = self.names[name]
        value = found.value if isinstance(found, Bound) else found.var.get()
        return self.adapt(value, found.type, want)

    def assign(self, name: str, type_: Type, value: Val) -> None:
        """Assigns to a statement's name; its slot is made where there is none."""
        found = self.names.get(name)
        if not isinstance(found, Slot) or not c.same_shape(found.type, type_):
            found = Slot(type_, Var(self.fn, c.bits_of(type_)))
            self.names[name] = found
        found.var.set(value)

    def fault_if(self, condition: Val) -> None:
        """Raises a runtime error where ``condition`` holds."""
        self.fn.leave_if(condition, self.fault)

    def adapt(self, value: Val, have: Type, want: Type) -> Val:
        """``value`` as one of ``want``; a value that does not fit is a runtime error."""
        result, fits = convert(self.fn, value, have, want)
        if fits.const != 1:
            self.fault_if(self.fn.not_(fits))
        return result
