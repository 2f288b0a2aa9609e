"""What code being emitted can see: the state, the names in scope, and where errors go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from checker.kernels import value_codes as c
from checker.kernels.convert import convert
from checker.kernels.emit import Fn, Label, Val, Var
from checker.kernels.layout import Layout
from checker.system.types import Type


@dataclass(frozen=True, slots=True)
class Bound:
    """A name that never changes: a parameter, or a name bound by an expression."""

    type: Type
    value: Val


@dataclass(frozen=True, slots=True)
class Slot:
    """A name that statements give values to."""

    type: Type
    var: Var


class Frame:
    """``state`` points to the words that are read (and, in bodies, written).

    ``fault`` is where an error of the run goes; ``names`` maps names to what they stand for.
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
        """The value that ``name`` stands for now."""
        found = self.names[name]
        value = found.value if isinstance(found, Bound) else found.var.get()
        return self.adapt(value, found.type, want)

    def assign(self, name: str, type_: Type, value: Val) -> None:
        """Gives a statement's name a value; its slot is made where there is none."""
        found = self.names.get(name)
        if not isinstance(found, Slot) or not c.same_shape(found.type, type_):
            found = Slot(type_, Var(self.fn, c.bits_of(type_)))
            self.names[name] = found
        found.var.set(value)

    def fault_if(self, condition: Val) -> None:
        """An error of the run where ``condition`` holds."""
        self.fn.leave_if(condition, self.fault)

    def adapt(self, value: Val, have: Type, want: Type) -> Val:
        """``value`` as one of ``want``; a value that does not fit is an error of the run."""
        result, fits = convert(self.fn, value, have, want)
        if fits.const != 1:
            self.fault_if(self.fn.not_(fits))
        return result
