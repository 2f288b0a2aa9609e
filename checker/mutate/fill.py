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

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.english import count
from checker.engines.options import Options
from checker.instantiate.protocol.sizes import compute, evaluate_size
from checker.language.load import Spec
from checker.language.mutants import is_mutant
from checker.language.mutation.holes import Hole, HoledSpec
from checker.mutate.fill_tasks import FillOutcome, FillTask
from checker.records import replace
from checker.results.fillings import Candidate, Filling, FillingFate, Fillings, HoleFound
from checker.session.load import is_parametric, load_check, no_such_check

SECONDS = 60.0
"""The time limit of a check, where the user gives none."""
TRIES = 1_000
"""How many fillings are tried until one is a valid spec."""

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
    """The knowledge about a filling so far. ``checks``: how many have judged it; ``outcome``: of
    the one that refutes it."""

    checks: int = 0
    outcome: FillOutcome | None = None
    unknown: str = ""
    states: int = 0
    messages: list[int | None] = field(default_factory=list)

    def told(self, outcome: FillOutcome) -> None:
        """Adds what a check says."""
        self.checks += 1
        self.states += outcome.states
        if outcome.kills or outcome.invalid:
            self.outcome = outcome
        self.unknown = self.unknown or outcome.unknown
        self.messages.append(outcome.messages)


class FillSearch:
    """The search: :meth:`run`, and what is known at any time, :meth:`report`."""

    def __init__(
        self, holed: HoledSpec, path: str, wanted: str | None, options: Options, most: int
    ) -> None:
        """``wanted``: the check that judges; ``None``: all of them, without the mutants in checks.

        Raises :class:`SpecError`: where no filling is a valid spec, there is no such check, or
        there are more than ``most`` fillings (E156).
        """
        self._holed, self._path = holed, path
        limits = replace(options.limits, timeout=options.limits.timeout or SECONDS)
        self._options = replace(options, limits=limits, strips=False)
        self._session, self._started = os.urandom(8).hex(), time.monotonic()
        spec = self._first_valid()
        names = [each for each in spec.names if not is_mutant(each)]
        if not names or (wanted is not None and wanted not in names):
            raise no_such_check(path, wanted, names)
        self._asked = [self._ask(spec, n) for n in names if wanted is None or n == wanted]
        self._candidates = [tuple(self._grouped(hole)) for hole in holed.holes]
        self._require_few(most)
        texts = ((each.text for each in found) for found in self._candidates)
        self._known = {values: _Known() for values in itertools.product(*texts)}
        self._runs = self._replays = 0

    def _first_valid(self) -> Spec:
        refused: SpecError | None = None
        for values in itertools.islice(self._raw(), TRIES):
            try:
                return Spec(self._holed.filled(values), self._path)
            except SpecError as problem:
                refused = refused or problem
        assert refused is not None
        raise refused

    def _raw(self) -> Iterator[Values]:
        return itertools.product(*(hole.candidates for hole in self._holed.holes))

    def _ask(self, spec: Spec, name: str) -> _Asked:
        settings = self._options.settings
        if is_parametric(spec, name, settings):
            return _Asked(name, None)
        return _Asked(name, dict(compute(load_check(spec, name, settings), settings).values))

    def _grouped(self, hole: Hole) -> Iterator[Candidate]:
        """Yields the candidates of a hole, those that have the same values in all checks as one."""
        groups: dict[tuple[int | str, ...], list[str]] = {}
        for text in hole.candidates:
            key = tuple(_value(asked, hole, text) for asked in self._asked)
            groups.setdefault(key, []).append(text)
        yield from (Candidate(first, tuple(same)) for first, *same in groups.values())

    def _require_few(self, most: int) -> None:
        sizes = [len(found) for found in self._candidates]
        number, limit = math.prod(sizes), self._options.limits.timeout or SECONDS
        if number > most:
            each = " × ".join(map(str, sizes))
            hours = number * len(self._asked) * limit / 3600
            message = (
                f"there are {number:,} fillings ({each}), of {limit:g} s a check at most: up to"
                f" {hours:.1f} h on one core; the limit is {count(most, 'filling')}"
            )
            hint = f"list what may fill a hole, as `??(f + 1, n - f)`, or allow --points {number}"
            raise SpecError((Diagnostic("E156", message, hint=hint),))

    # ---- the search ---------------------------------------------------------------------------

    def run(self, run: Run) -> None:
        """Asks one check after the other about all fillings that none has refuted."""
        for asked in self._asked:
            still = {n: v for n, v in enumerate(self._known, 1) if self._known[v].outcome is None}
            tasks = [
                FillTask(
                    self._session, number, self._path, self._holed.filled(values), asked.name,
                    self._options, ", ".join(values),
                )
                for number, values in still.items()
            ]  # fmt: skip
            for outcome in run(tasks):
                self._runs += not outcome.replayed
                self._replays += outcome.replayed
                self._known[still[outcome.number]].told(outcome)

    def reached(self) -> str:
        """Returns how far the search has come, in words."""
        decided = sum(
            each.outcome is not None or each.checks == len(self._asked)
            for each in self._known.values()
        )
        return f"{decided} of {count(len(self._known), 'filling')} judged"

    # ---- what is reported ---------------------------------------------------------------------

    def report(self, stopped: str | None = None) -> Fillings:
        """Returns the report; ``stopped``: why the search did not end, if so."""
        return Fillings(
            self._path,
            tuple(asked.name for asked in self._asked),
            tuple(map(self._found, self._holed.holes, self._candidates)),
            tuple(sorted(map(self._filling, self._known, self._known.values()), key=_cost)),
            self._runs,
            self._replays,
            stopped,
            time.monotonic() - self._started,
        )

    def _found(self, hole: Hole, candidates: tuple[Candidate, ...]) -> HoleFound:
        return HoleFound(
            hole.number, hole.span.line, hole.span.column, hole.of, self._holed.shown(hole),
            hole.type, candidates,
        )  # fmt: skip

    def _filling(self, values: Values, known: _Known) -> Filling:
        found, reason = known.outcome, known.unknown
        if found is not None and found.invalid:
            return Filling(values, FillingFate.INVALID, reason=found.invalid)
        if found is not None:
            empty = all(kill.verdict == "vacuous" for kill in found.kills)
            fate = FillingFate.VACUOUS if empty else FillingFate.REFUTED
            return Filling(
                values, fate, found.kills, states=known.states, replayed=found.replayed,
                trace=found.trace,
            )  # fmt: skip
        if known.checks < len(self._asked):
            reason = reason or "not all checks were run"
        fate = FillingFate.UNKNOWN if reason else FillingFate.HOLDS
        counted = [number for number in known.messages if number is not None]
        messages = max(counted) if len(counted) == len(self._asked) else None
        return Filling(values, fate, reason=reason, states=known.states, messages=messages)


def _cost(filling: Filling) -> tuple[bool, int]:
    """Returns the key by which fillings are ordered: the fewest messages first."""
    return filling.messages is None, filling.messages or 0


def _value(asked: _Asked, hole: Hole, text: str) -> int | str:
    """Returns what a candidate is in a check: a number, where it follows from its sizes."""
    size = hole.sizes.get(text)
    if size is None or asked.sizes is None:
        return text
    try:
        return evaluate_size(size, asked.sizes)
    except SpecError:
        return text
