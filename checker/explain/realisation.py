"""Surface realisation: facts as clauses of one English sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.model import ir
from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.ir import Expr
from checker.model.reading import AtomKind, Phrase
from checker.model.types import Value
from checker.records import fields, is_record, replace
from checker.results.events import Crashed, Forged, Indicated, Requested
from checker.results.show_values import show, show_parts
from checker.results.trace import Trace
from checker.results.truth import Fact, LassoWord

SHORT = {"never": "never does", "now": "has not"}
"""What replaces a clause that denies of one subject what the previous one stated of another."""

DONE: tuple[AtomKind, ...] = ("history", "order", "twice")
"""Kinds of atoms that state what a process did."""

FAULTY = {
    "byzantine": "is Byzantine",
    "omitting": "omits messages",
    "foreseen": "is foreseen to crash",
}
"""The predicate for a faulty process that is up."""

PLURAL = {
    "is": "are",
    "is not": "are not",
    "is never": "are never",
    "has crashed": "have crashed",
    "has not crashed": "have not crashed",
    "never crashes": "never crash",
}
"""The verbs for how processes stand, of one and of several."""

FROM = " from "
"""The word between a message and its sender."""

SHORTEST = 8
"""Two clauses of no more words are joined by `and`."""

ACRONYMS = frozenset({"fifo", "nbac"})


class Clause(Struct, frozen=True):
    """``subject`` and its predicate: a verb and its ``objects``, of ``fact``; ``nobody``: the
    subject is no process at all."""

    subject: str
    verb: str
    objects: str
    fact: Fact
    nobody: bool = False

    @property
    def predicate(self) -> str:
        """The clause without its subject."""
        return f"{self.verb} {self.objects}".strip()


def title(name: str) -> str:
    """Returns a property's name as words: ``uniform_agreement`` gives ``Uniform agreement``."""
    words = name.replace("_", " ").split()
    said = " ".join(w.upper() if w in ACRONYMS else w for w in words)
    return said[:1].upper() + said[1:]


def mentions(expr: object, names: Iterable[str]) -> str | None:
    """Returns one of ``names`` that occurs in ``expr``, if any does."""
    wanted = set(names)
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Local) and node.name in wanted:
            return node.name
        if isinstance(node, tuple):
            waiting.extend(node)
        elif is_record(node):
            waiting.extend(getattr(node, field.name) for field in fields(node))
    return None


class Voice(Struct, frozen=True):
    """Puts the facts of an execution, in the states of ``word``, into words; ``determiner``: that
    of what is unknown, ``any`` or ``some``."""

    word: LassoWord
    trace: Trace
    determiner: str = "any"

    # ---- values -------------------------------------------------------------------------------

    def value_text(self, expr: Expr, fact: Fact) -> str:
        """Returns the value of ``expr``, or ``any process`` where it is not one."""
        unknown = mentions(expr, fact.unknown)
        if unknown is not None:
            noun = fact.unknown[unknown]
            only = (
                f"{fact.only} "
                if fact.only and self.determiner == "some" and noun == "process"
                else ""
            )
            return f"{self.determiner} {only}{noun}"
        return show(expr.type, self.of(expr, fact))

    def of(self, expr: Expr, fact: Fact) -> Value:
        """Returns the value itself; raises ``RunFault`` or ``KeyError`` where there is none."""
        found: Value = evaluate(expr, Scope(self.word.states[fact.at], dict(fact.names)))
        return found

    def fill(self, phrase: Phrase, fact: Fact, *, brief: bool = False) -> str:
        """Returns ``phrase`` with values substituted; ``brief``: without senders that are clear, as
        no other process has a request with that payload."""
        clear = only_requested(self.trace) if brief else {}
        parts: list[str] = []
        for piece in phrase:
            try:
                parts.append(piece if isinstance(piece, str) else self.value_text(piece, fact))
            except (RunFault, KeyError):
                parts.append("…")
            if len(parts) > 2 and parts[-2] == FROM and clear.get(parts[-3]) == parts[-1]:
                del parts[-2:]
        return "".join(parts)

    def about(self, fact: Fact) -> list[str]:
        """Returns the values of the entries that ``fact`` is about, one by one; none where it may
        be any entry."""
        try:
            parts = [show_parts(each.type, self.of(each, fact)) for each in fact.atom.about]
        except (RunFault, KeyError):
            return []
        return [text for texts in parts for text in texts]

    # ---- clauses ------------------------------------------------------------------------------

    def clause(self, fact: Fact) -> Clause:
        """Returns one fact as a clause."""
        atom = fact.atom
        somebody = mentions(atom.subject, fact.unknown)
        objects = self.objects(fact, brief=True)
        if somebody is not None and atom.kind in ("history", "opinion", "twice", "standing"):
            kind = f"{fact.only} " if fact.only else ""
            verb = atom.from_now_on("ever") if fact.mode == "never" else atom.yes
            nobody = f"no {kind}{fact.unknown[somebody]}"
            return Clause(nobody, verb, objects + _ever(fact), fact, nobody=True)
        subject = self.fill(atom.subject, fact)
        if fact.true:
            return Clause(subject, atom.yes, objects + _ever(fact), fact)
        if fact.mode == "never":
            return Clause(subject, self._never(fact), objects, fact)
        for condition, predicate in atom.otherwise:
            if not fact.unknown and self.word.value(condition, fact.at, fact.names):
                said = self.fill(predicate, fact, brief=True)
                return Clause(subject, said + _ever(fact), "", fact)
        return Clause(subject, atom.no, objects + _ever(fact), fact)

    def _never(self, fact: Fact) -> str:
        """Returns ``never``, or ``never again`` where it was true once."""
        atom = fact.atom
        if atom.kind in ("state", "opinion") and any(self.word.atom(atom, fact.names)):
            return atom.from_now_on("never again")
        return atom.from_now_on("never")

    def objects(self, fact: Fact, *, brief: bool = False) -> str:
        """Returns what follows the verb; ``anything`` where nothing of it is known."""
        phrase = fact.atom.objects
        values = [piece for piece in phrase if not isinstance(piece, str)]
        if fact.unknown and values and all(mentions(v, fact.unknown) for v in values):
            after = " twice" if fact.atom.kind == "twice" else ""
            return ("" if fact.atom.op == "decide" else f"{self.determiner}thing") + after
        return self.fill(phrase, fact, brief=brief)

    # ---- the sentence -------------------------------------------------------------------------

    def sentence(self, facts: tuple[Fact, ...]) -> str:
        """Returns all of ``facts`` in one sentence, without a full stop; empty where there are
        none."""
        facts = self.without_what_goes_without_saying(facts)
        standing, told = self._standings(facts)
        clauses = _merge_clauses([self.clause(fact) for fact in told])
        parts: list[str] = []
        previous: Clause | None = None
        seen: set[str] = set()
        for clause in clauses:
            text = clause.predicate
            if previous is not None and previous.subject == clause.subject:
                if clause.objects and clause.objects == previous.objects:
                    text = f"{clause.verb} it"
                parts[-1] += f" or {text}" if clause.nobody else f" and {text}"
            else:
                if _denies(previous, clause):
                    text = SHORT[clause.fact.mode]
                who = clause.subject
                relative = "" if who in seen else self.relative(clause, standing)
                parts.append(f"{who}, which {relative}, {text}" if relative else f"{who} {text}")
                seen.add(who)
            previous = clause
        parts = self._with_others(standing, seen, parts)
        commas = any("," in part for part in parts)
        short = all(len(part.split()) <= SHORTEST for part in parts)
        if len(parts) == 2 and short and not commas and " and " not in parts[-1]:
            return " and ".join(parts)
        return "; ".join(parts)

    def without_what_goes_without_saying(self, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Returns ``facts`` without comparisons of values that others name, and without implied
        ones."""
        implied = set(self._implied_keys(facts))
        kept: list[Fact] = []
        for fact in facts:
            atom = fact.atom
            if atom.kind == "values" or atom.expr == ir.TRUE:
                continue
            if atom.kind == "history" and fact.true and atom.owner is not None:
                key = (atom.op, self.of(atom.owner, fact), self.of(atom.about[0], fact))
                if key in implied:
                    continue
            if atom.kind == "act" and (atom.op, self.fill(atom.subject, fact)) in implied:
                continue
            if atom.kind == "guard" and fact.role == "premise" and len(facts) > 1:
                continue
            kept.append(fact)
        return tuple(kept) or facts

    def _implied_keys(self, facts: tuple[Fact, ...]) -> Iterator[tuple[object, ...]]:
        """Yields the keys of facts that ``facts`` imply."""
        for fact in facts:
            atom = fact.atom
            if atom.kind == "twice" and atom.owner is None:
                yield atom.op, self.fill(atom.subject, fact)
            elif atom.kind in ("order", "twice") and atom.owner is not None:
                for item in atom.about:
                    yield atom.op, self.of(atom.owner, fact), self.of(item, fact)
            elif atom.kind == "cause":
                for pair in atom.about:
                    yield atom.op, *cast(tuple[Value, ...], self.of(pair, fact))

    def _standings(self, facts: tuple[Fact, ...]) -> tuple[dict[str, Clause], list[Fact]]:
        """Returns which processes are correct and the like; and the other facts."""
        standing: dict[str, Clause] = {}
        told: list[Fact] = []
        for fact in facts:
            if fact.atom.kind != "standing" or fact.unknown:
                told.append(fact)
                continue
            who = self.fill(fact.atom.subject, fact)
            standing.setdefault(who, self._standing(fact, who))
        return standing, told

    def _standing(self, fact: Fact, who: str) -> Clause:
        if fact.atom.op == "correct" and not fact.true:
            fate = next((f for f in self.trace.fates if f.process == who), None)
            crashed = fate is not None and fate.crashed
            return Clause(who, *(("crashed", "") if crashed else ("is", "faulty")), fact)
        if fact.atom.op == "correct" and any(fate.recovered for fate in self.trace.fates):
            return Clause(who, "is", "up from some time on", fact)
        return self.clause(fact)

    def relative(self, clause: Clause, standing: dict[str, Clause]) -> str:
        """Returns the predicate of a subject's relative clause: that it is correct, or how it is
        faulty."""
        who = clause.subject
        if who in standing:
            return standing[who].predicate
        fate = next((f for f in self.trace.fates if f.process == who), None)
        if fate is None:
            return ""
        if fate.faulty:
            return FAULTY[fate.faulty]
        if fate.crashed and clause.fact.true and clause.fact.atom.kind in DONE:
            return "crashed later" if self._crashes_later(clause) else "then crashed"
        return "crashed" if fate.crashed else ""

    def _crashes_later(self, clause: Clause) -> bool:
        """Returns whether the process of a clause crashes after all its requests and
        indications."""
        crash = [s.number for s in self.trace.steps for e in s.events
                 if isinstance(e, Crashed) and e.process == clause.subject]  # fmt: skip
        told = [s.number for s in self.trace.steps for e in s.events
                if isinstance(e, Indicated | Requested)
                and e.process == clause.subject]  # fmt: skip
        return bool(crash) and all(number < crash[-1] for number in told)

    def _with_others(
        self, standing: dict[str, Clause], seen: set[str], parts: list[str]
    ) -> list[str]:
        """Returns ``parts`` with the relative clauses of processes that are no clause's subject."""
        rest: dict[tuple[str, str], list[str]] = {}
        for who, clause in standing.items():
            if who in seen:
                continue
            if len(parts) == 1 and parts[0].endswith(f" {who}"):
                parts = [f"{parts[0]}, which {clause.predicate}"]
            else:
                rest.setdefault((clause.verb, clause.objects), []).append(who)
        first = [
            f"{listing(who)} {PLURAL.get(verb, verb) if len(who) > 1 else verb} {objects}".rstrip()
            for (verb, objects), who in rest.items()
        ]
        return [*first, *parts]


def only_requested(trace: Trace) -> Mapping[str, str]:
    """Returns the payloads that occur in requests of just one process, each with that process; none
    where a message is forged."""
    found: dict[str, set[str]] = defaultdict(set)
    for step in trace.steps:
        for event in step.events:
            if isinstance(event, Requested):
                for _, value in event.call.named:
                    found[value].add(event.process)
            elif isinstance(event, Forged):
                return {}
    return {value: next(iter(who)) for value, who in found.items() if len(who) == 1}


def _denies(previous: Clause | None, clause: Clause) -> bool:
    """Returns whether ``clause`` denies of its subject just what ``previous`` states of its own."""
    if previous is None or clause.fact.true or not previous.fact.true or clause.fact.unknown:
        return False
    same = (previous.fact.atom.kind, previous.fact.atom.op, previous.objects)
    return (
        clause.fact.atom.kind == "history"
        and clause.fact.mode in SHORT
        and same == ("history", clause.fact.atom.op, clause.objects)
    )


def _merge_clauses(clauses: list[Clause]) -> list[Clause]:
    """Merges clauses that differ in their objects only, and drops repeated ones."""
    result: list[Clause] = []
    for clause in clauses:
        if any((c.subject, c.predicate) == (clause.subject, clause.predicate) for c in result):
            continue
        last = result[-1] if result else None
        if last is not None and (last.subject, last.verb) == (clause.subject, clause.verb):
            if last.fact.atom.kind == clause.fact.atom.kind == "history" and clause.fact.true:
                result[-1] = replace(last, objects=f"{last.objects} and {clause.objects}")
                continue
        result.append(clause)
    return _together(result)


def _together(clauses: list[Clause]) -> list[Clause]:
    """Groups clauses with the same subject, in the order of their first ones."""
    order = {subject: i for i, subject in reversed(list(enumerate(c.subject for c in clauses)))}
    return sorted(clauses, key=lambda clause: order[clause.subject])


def _ever(fact: Fact) -> str:
    """Returns how long something is true, where that is more than a moment."""
    if fact.mode == "again":
        return " again and again"
    lasting = fact.atom.kind in ("opinion", "state")
    return " forever" if fact.mode in ("always", "lasting") and lasting else ""
