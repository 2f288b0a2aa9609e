"""What the tool says of a spec, beside what the definition says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.load import load_check
from checker.session.pipeline import run_loaded
from tests.selection import by_turns
from tests.world.asking import telling
from tests.world.judge import Graph, Verdict, explore, judge
from tests.world.protocol import Spec

DECIDED = {Word.HOLDS: False, Word.WITHIN: False, Word.VACUOUS: False, Word.VIOLATED: True}


@dataclass(frozen=True)
class Disagreement:
    """``defined`` and ``said``: whether the property is violated, or the length of its trace."""

    question: str
    mode: str
    defined: object
    said: object


def options(mode: str) -> Options:
    """How the tool is asked: ``engine``, then what is unlike the default."""
    engine, *more = mode.split()
    return Options(
        engine=engine,
        reduce="none" if "plain" in more else "auto",
        fine_steps="fine" in more,
        limits=Limits(timeout=20.0),
        threads=1,
    )


Answer = dict[str, tuple[Word, int | None]]
"""The word for each property, and the steps of its trace."""


def said(file: Path, mode: str) -> Answer:
    """What the tool says of a file."""
    return answers(file, (mode,))[mode]


def answers(file: Path, modes: Iterable[str]) -> dict[str, Answer]:
    """What the tool says in each of ``modes`` of a file, which is read once."""
    check = load_check(str(file), "c", {})
    reports = {mode: run_loaded(str(file), check, options(mode)) for mode in modes}
    return {
        mode: {
            v.property: (v.word, None if v.trace is None else v.trace.length)
            for v in report.verdicts
        }
        for mode, report in reports.items()
    }


def compared(spec: Spec, file: Path, modes: tuple[str, ...], most: int) -> list[Disagreement]:
    """Where the tool, asked in each of ``modes``, and the definition differ.

    Raises :class:`tests.world.judge.TooMany`, and :class:`checker.diagnostics.SpecError` for what
    is no spec.
    """
    graph, verdicts = telling(explore(spec, most))
    file.write_text(graph.model.spec.text(), encoding="utf-8")
    return differences(graph, verdicts, answers(file, modes))


def agreed(spec: Spec, file: Path, modes: tuple[str, ...], most: int = 20_000) -> dict[str, bool]:
    """Whether each property is violated, where the definition and the tool say the same of it; the
    tool is asked in one of ``modes``, by turns (in both of two)."""
    graph = explore(spec, most)
    verdicts, text = judge(graph), graph.model.spec.text()
    file.write_text(text, encoding="utf-8")
    asked = answers(file, by_turns(modes, text))
    assert differences(graph, verdicts, asked) == [], text
    return {name: verdict.violated for name, verdict in verdicts.items()}


def differences(
    graph: Graph,
    defined: dict[str, Verdict],
    given: dict[str, Answer],
) -> list[Disagreement]:
    """Where what was ``defined`` and the answers ``given`` in each mode differ.

    Lengths are compared where the page says what a step is: messages that are only counted may take
    none, reductions may leave out shortest runs, and an oracle that speaks as soon as it is asked
    takes none of its own.  A crash that falls inside a handler, and could as well fall before or
    behind it, is a step of its own to the tool; so is what an oracle says at the end of a handler,
    which then is not seen where the handler leads beyond a bound.  Where a full queue of a
    fair-loss link has no room for a message, the tool receives it in one step with the loss of the
    queue, so that a run may take fewer steps, but not less than half of them.
    """
    found, model = [], graph.model
    others = model.links.others
    alike = (
        not model.links.counted and not model.oracles and model.world.timing in ("", "asynchronous")
    )
    merges = others.fifo and others.strong and others.bound is not None
    stops = model.world.crash + model.world.power + model.world.wipe
    spare = 0 if model.world.between_handlers else stops
    for mode, answer in given.items():
        shortest = "fine" not in mode and ("plain" in mode or "reference" in mode)
        for name, verdict in defined.items():
            word, length = answer[name]
            if word is Word.UNKNOWN or (model.oracles and verdict.witness in graph.beyond):
                continue
            if DECIDED.get(word) is not verdict.violated:
                found.append(Disagreement(name, mode, verdict, word.value))
            elif word in (Word.HOLDS, Word.WITHIN) and (word is Word.WITHIN) != bool(graph.beyond):
                found.append(Disagreement(name, mode, f"{len(graph.beyond)} beyond", word.value))
            elif (
                shortest
                and alike
                and verdict.length is not None
                and not _fits(length, verdict.length, spare, merges=merges)
            ):
                found.append(Disagreement(name, mode, verdict.length, length))
    return found


def _fits(length: int | None, defined: int, spare: int, *, merges: bool) -> bool:
    """Whether a run of ``length`` steps of the tool may be as short as one of ``defined`` steps."""
    least = -(-defined // 2) if merges else defined
    return length is not None and least <= length <= defined + spare
