"""Published probabilities and expected values again: `python benchmarks/chance.py`."""

from __future__ import annotations

import json
import platform
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.comparing import WrongAnswer  # noqa: E402
from benchmarks.tables import Table, number  # noqa: E402
from checker.chance.digits import decimal  # noqa: E402
from checker.chance.exact import exact_expectation, exact_probability  # noqa: E402
from checker.chance.expectation import Infinite, expectation  # noqa: E402
from checker.chance.graph import ProcessGraph  # noqa: E402
from checker.chance.intervals import Interval  # noqa: E402
from checker.chance.objective import Kind, Objective  # noqa: E402
from checker.chance.probability import probability  # noqa: E402
from tests.chance import models  # noqa: E402
from tests.chance.models import FINISHED, Model  # noqa: E402

WIDTH = Fraction(1, 10**6)
EXACTLY = 100_000
"""Up to so many states the exact value is asked for, too."""


@dataclass(frozen=True, slots=True)
class Case:
    """A process, how many states and transitions it has (``None``: nobody has published it), and
    what is asked of it: the published value, where there is one, and how it is computed."""

    name: str
    build: Callable[[], Model]
    size: tuple[int, int] | None
    questions: tuple[tuple[str, Fraction | None, Callable[[Model, ProcessGraph], Any]], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question took, in seconds, and of processors (``cpu``)."""

    process: str
    states: int
    transitions: int
    question: str
    lower: str
    upper: str
    exact: str
    seconds: float
    cpu: float
    exact_seconds: float


def _finished(state: Any) -> bool:
    return all(does // 2 == FINISHED for does in state[1:])


def _coin(sides: set[int], largest: bool) -> Callable[[Model, ProcessGraph], Any]:
    """How probable it is that all finish with these coins."""

    def ask(model: Model, graph: ProcessGraph) -> Any:
        goal = model.where(lambda s: _finished(s) and {does % 2 for does in s[1:]} == sides)
        objective = Objective(Kind.EVENTUALLY, goal)
        found = probability(graph, objective, largest=largest, width=WIDTH)
        return found.interval, lambda: exact_probability(found, objective).value

    return ask


def _steps(holds: Callable[[Any], bool], largest: bool) -> Callable[[Model, ProcessGraph], Any]:
    """How many steps are expected until something holds."""

    def ask(model: Model, graph: ProcessGraph) -> Any:
        one = array("q", [1]) * model.process.choices
        found = expectation(graph, model.where(holds), one, largest=largest, width=WIDTH)
        if isinstance(found, Infinite):
            raise WrongAnswer("the number of steps is infinite")
        return found.interval, lambda: exact_expectation(found).value

    return ask


def _coins(n: int, k: int, size: tuple[int, int], values: Sequence[str | None]) -> Case:
    known = [None if value is None else Fraction(value) for value in values]
    questions = (
        ("least chance of all heads", known[0], _coin({1}, False)),
        ("largest chance of disagreement", known[1], _coin({0, 1}, True)),
        ("most expected steps", known[2], _steps(_finished, True)),
        ("fewest expected steps", known[3], _steps(_finished, False)),
    )
    return Case(f"shared coin, {n}, {k}", lambda: models.shared_coin(n, k), size, questions)


def _ring(n: int, steps: str) -> Case:
    asked = _steps(lambda s: models.tokens(s) == 1, True)
    size = (2**n, 3**n + 1)
    question = ("most expected steps", Fraction(steps), asked)
    return Case(f"Herman's ring, {n}", lambda: models.herman(n), size, (question,))


def _election(n: int, k: int, rounds: str) -> Case:
    """Rounds of Itai and Rodeh's election, as many as draws."""

    def ask(model: Model, graph: ProcessGraph) -> Any:
        draws = model.where(lambda s: s[0] == "draw")
        counted = array("q", (int(state in draws) for state in graph.owner))
        over = model.where(lambda s: s[0] == "over")
        found = expectation(graph, over, counted, largest=True, width=WIDTH)
        if isinstance(found, Infinite):
            raise WrongAnswer("the number of rounds is infinite")
        return found.interval, lambda: exact_expectation(found).value

    questions = (("expected rounds", Fraction(rounds), ask),)
    return Case(f"election, {n}, {k}", lambda: models.leader_election(n, k), None, questions)


def _chance(holds: Callable[[Any], bool]) -> Callable[[Model, ProcessGraph], Any]:
    """How probable it is that something comes."""

    def ask(model: Model, graph: ProcessGraph) -> Any:
        objective = Objective(Kind.EVENTUALLY, model.where(holds))
        found = probability(graph, objective, largest=True, width=WIDTH)
        return found.interval, lambda: exact_probability(found, objective).value

    return ask


LOST = 1 - Fraction(49, 50) * Fraction(99, 100)
"""The probability that a frame of the bounded retransmission, or its acknowledgement, is lost."""

CASES = (
    _coins(2, 2, (272, 492), ("49/128", "13/120", "75", "48")),
    _coins(2, 4, (528, 972), ("1793/4096", "251/4080", "243", "192")),
    _coins(4, 2, (22_656, 75_232), ("325/1024", "170112531/577765376", "363", "192")),
    _coins(6, 2, (1_258_240, 6_236_736), (None, None, None, None)),
    _ring(3, "4/3"),
    _ring(5, "16/5"),
    _ring(7, "48/7"),
    _ring(9, "12"),
    _election(3, 2, "4/3"),
    _election(3, 4, "16/15"),
    _election(4, 2, "2"),
    Case(
        "bounded retransmission, 16, 2",
        lambda: models.retransmission(16, 2),
        (677, 867),
        (("chance of failure", 1 - (1 - LOST**3) ** 16, _chance(lambda s: s[0] == 5)),),
    ),
    Case(
        "Haddad and Monmege, 20",
        lambda: models.trap(20),
        (41, 80),
        (("chance of one end", Fraction(7, 10), _chance(lambda s: s == 40)),),
    ),
)


def answers(case: Case) -> Iterator[Answer]:
    """Asks all questions of a process.

    Raises :class:`WrongAnswer` where the size is another one, an interval is too wide, or a
    published value is not the exact one, or not in the interval.
    """
    model = case.build()
    size = model.process.states, model.process.branches
    if case.size is not None and size != case.size:
        raise WrongAnswer(f"{case.name}: {size} states and transitions, not {case.size}")
    for name, value, ask in case.questions:
        began, used = time.perf_counter(), time.process_time()
        interval, exactly = ask(model, ProcessGraph(model.process))
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
        _require_near(f"{case.name}: {name}", interval, value)
        exact, began = "", time.process_time()
        if size[0] <= EXACTLY:
            found = exactly()
            _require_near(f"{case.name}: {name}, exactly", Interval(found, found), value)
            exact = str(found)
        ends = decimal(interval.lower), decimal(interval.upper, up=True)
        took = seconds, cpu, time.process_time() - began if exact else 0.0
        yield Answer(case.name, *size, name, *ends, exact, *took)


def _require_near(name: str, interval: Interval, value: Fraction | None) -> None:
    if interval.width > WIDTH:
        raise WrongAnswer(f"{name}: the interval is {float(interval.width)} wide")
    if value is not None and not interval.lower <= value <= interval.upper:
        raise WrongAnswer(f"{name}: {value} is not in the interval")


def table(done: Sequence[Answer]) -> Table:
    """All of it in columns."""
    rows = [
        [
            *(f"{one.process}: {one.question}", f"{one.states:,}", f"{one.transitions:,}"),
            *(one.lower, one.upper, one.exact, number(one.seconds), number(one.cpu)),
            number(one.exact_seconds) if one.exact else "",
        ]
        for one in done
    ]
    names = ["question", "states", "transitions", "at least", "at most", "exactly"]
    return Table("Chance", [*names, "s", "processor s", "exactly: processor s"], rows)


@click.command()
@click.option("--only", default="", help="Processes whose name has this in it.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write all of it here.")
def main(only: str, target: Path | None) -> None:
    """Compute published probabilities and expected values, in intervals narrower than 1e-6."""
    done: list[Answer] = []
    for case in CASES:
        if only in case.name:
            click.echo(case.name, err=True)
            try:
                done += answers(case)
            except WrongAnswer as error:
                raise click.ClickException(str(error)) from error
    click.echo(table(done).text())
    if target is not None:
        machine = {"kind": platform.machine(), "python": platform.python_version()}
        found = {"machine": machine, "answers": [asdict(one) for one in done]}
        target.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
