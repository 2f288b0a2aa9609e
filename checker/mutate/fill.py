"""Finds the fillings of the holes of a spec with which its checks come out as they expect.

All candidates of all holes are tried together.  Fillings whose expressions have the same values in
the sizes of a check are one, and what one check refutes no other is asked about.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.engines.options import Options
from checker.instantiate.protocol.sizes import compute, evaluate_size
from checker.language.load import Spec
from checker.language.mutants import is_mutant
from checker.language.mutation.holes import Hole, HoledSpec
from checker.mutate.fill_tasks import FillOutcome, FillTask
from checker.records import replace
from checker.results.fillings import Filling, FillingFate, Fillings, HoleFound, Same
from checker.session.load import is_parametric, load_check, no_such_check

SECONDS = 60.0
"""The time limit of a check, where the user gives none."""

Values = tuple[str, ...]
"""A candidate for each hole."""
Run = Callable[[Sequence[FillTask]], Iterator[FillOutcome]]
"""Runs tasks and yields their outcomes; raises ``KeyboardInterrupt``."""


class _Asked(Struct, frozen=True):
    """A check that judges; ``sizes``: the values of its parameters, ``None`` where it is for all
    sizes."""

    name: str
    sizes: dict[str, int] | None


class _Known(Struct):
    """What is known of a filling so far; ``key``: what it is, in each check that was run."""

    key: tuple[Any, ...] = ()
    outcome: FillOutcome | None = None
    unknown: str = ""
    states: int = 0

    @property
    def is_open(self) -> bool:
        return self.outcome is None

    def told(self, key: Any, outcome: FillOutcome) -> None:
        """Adds what a check says."""
        self.key = (*self.key, key)
        self.states += outcome.states
        if outcome.kills or outcome.invalid:
            self.outcome = outcome
        self.unknown = self.unknown or outcome.unknown


class FillSearch:
    """The search: :meth:`run`, and what is known at any time, :meth:`report`."""

    def __init__(self, holed: HoledSpec, path: str, wanted: str | None, options: Options) -> None:
        """``wanted``: the check that judges; ``None``: all of them, without the mutants in checks.
        Raises :class:`SpecError` where no filling is a valid spec, or there is no such check."""
        self._holed, self._path = holed, path
        limits = replace(options.limits, timeout=options.limits.timeout or SECONDS)
        self._options = replace(options, limits=limits, strips=False)
        self._session, self._started = os.urandom(8).hex(), time.monotonic()
        self._known = {v: _Known() for v in itertools.product(*(h.candidates for h in holed.holes))}
        spec = self._first_valid()
        names = [each for each in spec.names if not is_mutant(each)]
        if not names or (wanted is not None and wanted not in names):
            raise no_such_check(path, wanted, names)
        self._asked = [self._ask(spec, n) for n in names if wanted is None or n == wanted]
        self._runs = self._replays = 0

    @staticmethod
    def require_few(holes: Sequence[Hole], most: int, seconds: float | None) -> None:
        """Raises :class:`SpecError` (E156) where there are more than ``most`` fillings."""
        number = math.prod(len(hole.candidates) for hole in holes)
        if number > most:
            each = " × ".join(str(len(hole.candidates)) for hole in holes)
            hours = number * (seconds or SECONDS) / 3600
            message = (
                f"there are {number:,} fillings ({each}), of {seconds or SECONDS:g} s a check at"
                f" most: up to {hours:.1f} h on one core; the limit is {count(most, 'filling')}"
            )
            hint = f"list fewer candidates, as `??(f + 1, n - f)`, or allow it with --points {number}"
            raise SpecError((Diagnostic("E156", message, hint=hint),))

    def _first_valid(self) -> Spec:
        refused: SpecError | None = None
        for values in self._known:
            try:
                return Spec(self._holed.filled(values), self._path)
            except SpecError as problem:
                refused = refused or problem
        assert refused is not None
        raise refused

    def _ask(self, spec: Spec, name: str) -> _Asked:
        settings = self._options.settings
        if is_parametric(spec, name, settings):
            return _Asked(name, None)
        return _Asked(name, dict(compute(load_check(spec, name, settings), settings).values))

    @property
    def number(self) -> int:
        """How many fillings there are."""
        return len(self._known)

    # ---- the search ---------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        """Asks one check after the other about all fillings that are still open."""
        for asked in self._asked:
            groups: dict[tuple[Any, ...], list[Values]] = {}
            for values, known in self._known.items():
                if known.is_open:
                    groups.setdefault(self._key(asked, values), []).append(values)
            tasks = [self._task(n, asked, group[0]) for n, group in enumerate(groups.values(), 1)]
            for outcome in run(tasks):
                self._runs += not outcome.replayed
                self._replays += outcome.replayed
                key, group = list(groups.items())[outcome.number - 1]
                for values in group:
                    self._known[values].told((asked.name, key), outcome)

    def _key(self, asked: _Asked, values: Values) -> tuple[Any, ...]:
        """Returns what a filling is in a check: numbers, where they follow from its sizes."""
        return tuple(
            self._value(asked, hole, value)
            for hole, value in zip(self._holed.holes, values, strict=True)
        )

    @staticmethod
    def _value(asked: _Asked, hole: Hole, value: str) -> int | str:
        size = hole.sizes.get(value)
        if size is None or asked.sizes is None:
            return value
        try:
            return evaluate_size(size, asked.sizes)
        except SpecError:
            return value

    def _task(self, number: int, asked: _Asked, values: Values) -> FillTask:
        return FillTask(
            self._session, number, self._path, self._holed.filled(values), asked.name,
            self._options, ", ".join(values),
        )  # fmt: skip

    # ---- what is reported ---------------------------------------------------------------------

    def report(self, stopped: str | None = None) -> Fillings:
        """Returns the report; ``stopped``: why the search did not end, if so."""
        groups: dict[tuple[Any, ...], list[Values]] = {}
        for values, known in self._known.items():
            whole = len(known.key) == len(self._asked) or not known.is_open
            groups.setdefault(known.key if whole else (values,), []).append(values)
        return Fillings(
            self._path,
            tuple(asked.name for asked in self._asked),
            tuple(map(self._found, self._holed.holes)),
            len(self._known),
            tuple(self._filling(group) for group in groups.values()),
            self._runs,
            self._replays,
            stopped,
            time.monotonic() - self._started,
        )

    def _found(self, hole: Hole) -> HoleFound:
        return HoleFound(
            hole.number, hole.span.line, hole.span.column, hole.of, self._holed.shown(hole),
            hole.type, len(hole.candidates),
        )  # fmt: skip

    def _filling(self, group: Sequence[Values]) -> Filling:
        first, *same = group
        known = self._known[first]
        found, reason = known.outcome, known.unknown
        if found is not None and found.invalid:
            return Filling(first, FillingFate.INVALID, _same(same), reason=found.invalid)
        if found is not None:
            empty = all(kill.verdict == "vacuous" for kill in found.kills)
            fate = FillingFate.VACUOUS if empty else FillingFate.REFUTED
            return Filling(
                first, fate, _same(same), found.kills, states=known.states,
                replayed=found.replayed, trace=found.trace,
            )  # fmt: skip
        if len(known.key) < len(self._asked):
            reason = reason or "it was not run"
        fate = FillingFate.UNKNOWN if reason else FillingFate.HOLDS
        return Filling(first, fate, _same(same), reason=reason, states=known.states)


def _same(others: Sequence[Values]) -> tuple[Same, ...]:
    return tuple(map(Same, others))
