"""Derives verdicts from findings: violated, holds, pending, unknown because of a gap, vacuous."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field

from checker.audit.engine import Engine
from checker.audit.processes import ProcessState
from checker.audit.questions import Question
from checker.audit.relations import Relation
from checker.audit.tables import PENDING, UNKNOWN, VIOLATED, Tables
from checker.audit.wording import SAID, Words, told
from checker.diagnostics.english import count
from checker.results.verdict import Word


class Finding(Struct):
    """A kind of findings about a property: how many of them violate it, are pending or unknown,
    and the first ones as rows."""

    kind: str
    counts: dict[int, int]
    rows: pa.Table

    def first(self, verdict: int) -> dict[str, Any] | None:
        """Returns the first that has this verdict."""
        if not self.counts.get(verdict):
            return None
        at = sum(self.counts.get(before, 0) for before in range(verdict))
        return self.rows.slice(at, 1).to_pylist()[0] if at < self.rows.num_rows else {}

    def shown(self, verdict: int) -> list[dict[str, Any]]:
        """Returns the rows of the first that has this verdict."""
        if "circle" not in self.rows.column_names:
            return [self.first(verdict) or {}]
        rows: list[dict[str, Any]] = self.rows.filter(pc.field("circle") == 0).to_pylist()
        return rows


class Answer(Struct):
    """What a log says of a property: the verdict, why, and what was found."""

    question: Question
    word: Word
    reason: str
    findings: list[Finding] = field(default_factory=list)
    within: str = ""

    @property
    def violating(self) -> list[Finding]:
        """The findings of kinds that violate it."""
        return [finding for finding in self.findings if finding.counts.get(VIOLATED)]


def answer(
    question: Question,
    tables: Tables,
    states: list[ProcessState],
    words: Words,
    within: str,
    most: int,
) -> Answer:
    """Returns what the log says of ``question``.

    ``within``: to what part of the log it was restricted, in words; ``most``: how many findings of
    a kind are kept.
    """
    if within and question.rule.whole:
        why = f"it is about all events, and this audit is about {within}"
        return Answer(question, Word.UNKNOWN, why)
    words = words.about(question.roles)
    findings = [
        Finding(kind, *_look(tables.engine, found, most))
        for kind, found in question.rule.plan(tables)
    ]
    findings = [finding for finding in findings if finding.counts]
    word, reason = _decide(question, findings, states, words, tables)
    gaps = [gap for state in states for gap in state.gaps]
    of_part = within or ("what is logged" if gaps else "")
    if word is Word.HOLDS and of_part:
        return Answer(question, Word.WITHIN, gaps[0] if gaps else "", findings, of_part)
    return Answer(question, word, reason, findings)


def _look(engine: Engine, found: Relation | pa.Table, most: int) -> tuple[dict[int, int], pa.Table]:
    if isinstance(found, Relation):
        return engine.findings(found, most)
    verdict = found["verdict"][0].as_py() if found.num_rows else VIOLATED
    if "circle" in found.column_names:
        return {verdict: pc.count_distinct(found["circle"]).as_py()}, found
    return {verdict: found.num_rows}, found.slice(0, most)


def _decide(
    question: Question,
    findings: list[Finding],
    states: list[ProcessState],
    words: Words,
    tables: Tables,
) -> tuple[Word, str]:
    """Returns the verdict, and why."""
    for verdict, word in ((VIOLATED, Word.VIOLATED), (UNKNOWN, Word.UNKNOWN)):
        found = [f for f in findings if f.counts.get(verdict)]
        if found:
            said = _sentence(found, verdict, words)
            is_explained = verdict == VIOLATED or SAID in found[0].rows.column_names
            because = "" if is_explained else f"; {_gap(found[0], states)}"
            return word, said + because
    gaps = [gap for state in states for gap in state.gaps]
    if question.rule.complete and gaps:
        return Word.UNKNOWN, f"{gaps[0]}{_more(len(gaps) - 1, 'gap')}"
    unsure = [state for state in states if not state.sure]
    if question.rule.correct and unsure:
        return Word.UNKNOWN, unsure[0].gaps[-1]
    pending = [f for f in findings if f.counts.get(PENDING)]
    if pending:
        said = _sentence(pending, PENDING, words)
        return Word.PENDING, f"{said}; the log ends within the grace window"
    if not tables.engine.has_rows(question.rule.premise(tables)):
        return Word.VACUOUS, "nothing in the log is about it"
    return Word.HOLDS, ""


def _sentence(findings: list[Finding], verdict: int, words: Words) -> str:
    """Returns the first finding in words, and how many more there are."""
    more = sum(finding.counts[verdict] for finding in findings) - 1
    return told(findings[0].kind, findings[0].shown(verdict), words) + _more(more, "more")


def _more(number: int, noun: str) -> str:
    if number <= 0:
        return ""
    return f"; and {number:,} more" if noun == "more" else f"; and {count(number, f'more {noun}')}"


def _gap(finding: Finding, states: list[ProcessState]) -> str:
    """Returns which gap may explain a finding: one of its process's, if there is one."""
    row = finding.first(UNKNOWN) or {}
    of = [s for s in states if s.gaps and s.value in (row.get("process"), row.get("process2"))]
    others = [s for s in states if s.gaps]
    return next((s.gaps[0] for s in [*of, *others]), "it may have happened in a gap")
