"""What each way of exploring says of a check, and where two of them contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import run_check

SECONDS = 30.0
"""Formulas that are not made and asked within these are left alone."""

DEPTH = 3
"""Steps of a run that formulas speak of."""

INTERNAL = "internal error"
"""In place of a diagnostic where the tool fails (exit code 70)."""

DECIDED = (Word.HOLDS, Word.VIOLATED, Word.VACUOUS, Word.ERROR)


@dataclass(frozen=True)
class Said:
    """What a mode says of the properties of a check, or the diagnostics that it gives instead.

    ``lengths``: of the counterexamples of those that are violated; ``up_to``: of those of which
    only short runs are known, how short; ``states``: the number of states, where all were seen;
    ``used``: the reductions.
    """

    words: Mapping[str, Word] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    up_to: Mapping[str, int] = field(default_factory=dict)
    states: int | None = None
    used: tuple[str, ...] = ()
    diagnostics: tuple[str, ...] = ()

    def word(self, name: str) -> Word:
        """The verdict on ``name``; run-time errors that are not there are none, or not known."""
        return self.words.get(name, Word.UNKNOWN if self.states is None else Word.HOLDS)

    @property
    def decided(self) -> bool:
        """Whether anything is known."""
        return bool(self.up_to) or any(word in DECIDED for word in self.words.values())


def said(path: Path, check: str, options: Options) -> Said:
    """What is said of ``check`` so."""
    try:
        report = run_check(str(path), check, options)
    except SpecError as error:
        return Said(diagnostics=tuple(f"{d.code} {d.message}" for d in error.diagnostics))
    except Exception as error:
        return Said(diagnostics=(f"{INTERNAL}: {type(error).__name__}: {error}",))
    verdicts = {v.property: v for v in report.verdicts}
    return Said(
        words={name: v.word for name, v in verdicts.items()},
        lengths={name: v.trace.length for name, v in verdicts.items() if v.trace is not None},
        up_to={name: v.up_to for name, v in verdicts.items() if v.up_to is not None},
        states=report.distinct_states if report.exhaustive else None,
        used=report.reduced.used,
    )


@dataclass
class Compared:
    """What came of comparing: what the plain search says, what contradicts it, and which modes
    were not asked or had no room (``skipped``)."""

    plain: Said
    contradictions: list[str] = field(default_factory=list)
    agreed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def note(self, mode: str, found: Said, wrong: Iterator[str]) -> None:
        contradictions = [f"{mode}: {what}" for what in wrong]
        self.contradictions += contradictions
        if not contradictions:
            (self.agreed if found.decided or found.diagnostics else self.skipped).append(mode)


def compared(path: Path, check: str, states: int, few: int) -> Compared:
    """All modes, with room for so many ``states``; those that are slow only where there are
    ``few``."""
    limits = Limits(max_states=states)
    plain = said(path, check, Options(reduce="none", limits=limits, threads=1))
    found = Compared(plain)
    found.contradictions += [d for d in plain.diagnostics if d.startswith(INTERNAL)]
    reduced = said(path, check, Options(limits=limits, threads=1))
    found.note("reduced", reduced, contradictions(plain, reduced))
    others = {"fine steps": Options(limits=limits, threads=1, fine_steps=True)}
    if reduced.diagnostics or len(reduced.used) > 1:
        others |= {
            one: Options(limits=limits, threads=1, reduce=one) for one in ("symmetry", "por")
        }
    for mode, options in others.items():
        answer = said(path, check, options)
        found.note(mode, answer, contradictions(plain, answer))
    if plain.states is None or plain.states > few:
        found.skipped += ["reference", "symbolic"]
        return found
    answer = said(path, check, Options(engine="reference", limits=limits))
    found.note("reference", answer, contradictions(plain, answer))
    bounded = Limits(max_depth=DEPTH, timeout=SECONDS)
    answer = said(path, check, Options(engine="symbolic", limits=bounded, query_timeout=20.0))
    if any(d.startswith("E007") for d in answer.diagnostics):  # no formulas for this
        found.skipped.append("symbolic")
    else:
        found.note("symbolic", answer, missed(plain, answer))
    return found


def contradictions(one: Said, other: Said) -> Iterator[str]:
    """What can't be both: another diagnostic, or another verdict where both decide.

    A run-time error ends a search, so whether a violation is found before it may differ; that
    there is one may not.  A search that is not over says nothing of errors that it has not met.
    """
    if one.diagnostics != other.diagnostics:
        yield f"{other.diagnostics or other.words} and not {one.diagnostics or one.words}"
        return
    for name in {**one.words, **other.words}:
        word, found = one.word(name), other.word(name)
        if {word, found} <= {*DECIDED} and word is not found:
            if {word, found} != {Word.ERROR, Word.VIOLATED}:
                yield f"{name} {found} and not {word}"


def missed(plain: Said, formulas: Said) -> Iterator[str]:
    """What formulas about short runs say against a search of all of them."""
    if plain.diagnostics != formulas.diagnostics:
        yield f"{formulas.diagnostics} and not {plain.diagnostics or plain.words}"
        return
    for name, word in formulas.words.items():
        shortest = plain.lengths.get(name)
        if word in (Word.VIOLATED, Word.ERROR):
            if shortest != formulas.lengths[name]:
                yield f"{name} {word} after {formulas.lengths[name]} and not {shortest}"
        elif shortest is not None and shortest <= formulas.up_to.get(name, -1):
            yield f"{name} holds up to {formulas.up_to[name]}, and fails after {shortest}"
