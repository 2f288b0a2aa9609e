"""Leaves out what a layer below puts around the messages of the layer above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from checker.diagnostics.english import listing
from checker.records import replace
from checker.results.events import Event, message_of
from checker.results.terms import arguments, head, is_message
from checker.results.trace import Failure, Step, Trace


def fold_wrappers(trace: Trace) -> tuple[Trace, tuple[str, ...]]:
    """Returns ``trace`` with ``DATA(a)`` in place of ``COPY(DATA(a))`` in its messages, and
    sentences about such messages for a legend.

    They are folded where all messages of that name have one argument, which is a message, and none
    would be taken for another one; where they have more than that, the legend explains them.
    """
    name, told = _wrappers(_messages(trace.every_step))
    return (_folded(trace, name) if name else trace), told


def fold_wrappers_of_steps(steps: Sequence[Step]) -> list[Step]:
    """Returns ``steps``, which need not follow one another, as those of a folded trace."""
    name, _ = _wrappers(_messages(steps))
    return [_step(name, step) for step in steps]


def without_wrapper(trace: Trace) -> Callable[[str], str]:
    """Returns the function that takes from a message of ``trace`` what :func:`fold_wrappers` leaves
    out."""
    return partial(_bare, _wrappers(_messages(trace.every_step))[0])


def _wrappers(found: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Returns the name that is left out of such messages, if any, and the sentences about it and
    others."""
    messages = dict.fromkeys(found)
    heads = Counter(map(head, messages))
    around: dict[str, list[str]] = {}
    explained: dict[str, None] = {}
    for message in messages:
        name, parts = head(message), arguments(message)
        inner = [part for part in parts if is_message(part)]
        if inner:
            explained[name] = None
            around.setdefault(name, []).extend(inner if len(parts) == 1 else [""])
    folded = [
        name
        for name, inner in around.items()
        if all(inner) and len(inner) == heads[name] and heads.keys().isdisjoint(map(head, inner))
    ]
    if len(around) > 1:
        folded = []
    told = [f"{name}(…) around a message is left out" for name in folded]
    rest = [name for name in explained if name not in folded]
    if rest:
        told.append(f"{listing(rest)}: a layer's own message, around one of the layer above")
    return (folded[0] if folded else ""), tuple(told)


def _bare(name: str, message: str) -> str:
    return arguments(message)[0] if name and head(message) == name else message


def _messages(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        for event in (*step.events, *step.cut):
            if message := message_of(event):
                yield message


def _step(name: str, step: Step) -> Step:
    def event(one: Event) -> Event:
        message = message_of(one)
        return replace(one, message=_bare(name, message)) if message else one

    return replace(step, events=tuple(map(event, step.events)), cut=tuple(map(event, step.cut)))


def _failure(name: str, failure: Failure | None) -> Failure | None:
    if failure is None or failure.step is None:
        return failure
    return replace(failure, step=_step(name, failure.step))


def _folded(trace: Trace, name: str) -> Trace:
    return replace(
        trace,
        steps=tuple(_step(name, step) for step in trace.steps),
        closing=None if trace.closing is None else _step(name, trace.closing),
        failure=_failure(name, trace.failure),
        copies=tuple(replace(each, message=_bare(name, each.message)) for each in trace.copies),
    )
