"""Missing indications and acts: those that a property demands and that never occur."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from checker.model.evaluate import RunFault, Scope, evaluate
from checker.model.ir import Expr, Property, PropertyKind, TransitionSystem
from checker.model.reading import Join, Node, Range
from checker.model.types import Value
from checker.results.rerun import Run
from checker.results.show_values import show, show_parts
from checker.results.trace import Lack
from checker.results.truth import Fact, LassoWord, Names, word_of

MOST = 300
"""The largest number of assignments to a property's variables that are examined."""


def lacking(system: TransitionSystem, prop: Property, run: Run) -> tuple[Lack, ...]:
    """Returns the indications and acts whose absence violates ``prop`` in ``run``, for all values
    of its variables (:data:`MOST` assignments at most); empty for a safety property, and for one
    without a reading."""
    if prop.reading is None or prop.kind is not PropertyKind.LIVENESS or run.loop is None:
        return ()
    word = word_of(system, prop, run)
    violated = islice(_violated(word, prop.reading.root, {}), MOST)
    facts = (fact for node, names in violated for fact in word.why(node, names, False, 0, "now"))
    found = (_lack(system, word, fact) for fact in facts if _is_absence(fact))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _violated(word: LassoWord, node: Node, names: Names) -> Iterator[tuple[Node, Names]]:
    """Yields the parts of ``node`` that are false at the start, with values for the variables of
    the universal quantifiers around them."""
    if word.truth(node, names)[0]:
        return
    match node:
        case Range("forall", body=body):
            for value in word.values(node, names):
                if word.inside(node, value, names)[0]:
                    yield from _violated(word, body, {**names, node.name: value})
        case Join("and", parts):
            for part in parts:
                yield from _violated(word, part, names)
        case _:
            yield node, names


def _is_absence(fact: Fact) -> bool:
    return fact.atom.kind in ("history", "act") and not fact.true and fact.mode == "never"


def _lack(system: TransitionSystem, word: LassoWord, fact: Fact) -> Lack | None:
    """Returns what is absent; ``None`` if ``fact`` names no process, or is about any act."""
    atom = fact.atom
    if atom.owner is None:
        (act,) = atom.about
        done = _value(word, act, fact)
        return None if done is None else Lack("", atom.op, show(act.type, done))
    owner = _value(word, atom.owner, fact)
    who = "" if owner is None else show(atom.owner.type, owner)
    if who not in system.processes:
        return None
    values: list[str] = []
    for part in atom.about:
        value = _value(word, part, fact)
        if value is None:
            return Lack(who, atom.op)
        values += show_parts(part.type, value)
    return Lack(who, atom.op, f"{atom.op}({', '.join(values)})")


def _value(word: LassoWord, expr: Expr, fact: Fact) -> Value | None:
    """Returns the value of a part of a fact; ``None`` where it may be any value."""
    try:
        found: Value = evaluate(expr, Scope(word.states[fact.at], dict(fact.names)))
    except (RunFault, KeyError):
        return None
    return found
