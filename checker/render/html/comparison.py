"""Compares two executions: their common prefix, and where they diverge."""

from __future__ import annotations

from msgspec import Struct

from checker.results.events import Handled
from checker.results.trace import Step, Trace
from checker.words.events import sentence
from checker.words.steps import headline


class Alignment(Struct, frozen=True):
    """The alignment of two executions: ``common``: the number of the last step that is the same in
    both; ``words`` describe it, and the first difference.
    """

    common: int
    words: tuple[str, ...]


def align(left: Trace, right: Trace) -> Alignment:
    """Aligns two executions by their common prefix.

    Steps are the same when they have the same action and lead to the same state; where processes,
    variables or initial states differ, when they have the same description.
    """
    comparable = (
        left.processes == right.processes
        and left.variables == right.variables
        and left.steps[0].state == right.steps[0].state
    )
    ours, theirs = left.every_step, right.every_step
    common = 0
    for one, two in zip(ours[1:], theirs[1:], strict=False):
        if not _same(one, two, comparable):
            break
        common = one.number
    return Alignment(common, tuple(_words(left, right, common, comparable)))


def _same(one: Step, two: Step, comparable: bool) -> bool:
    if comparable:
        return one.action == two.action and one.state == two.state
    return headline(one) == headline(two)


def _words(left: Trace, right: Trace, common: int, comparable: bool) -> list[str]:
    said = []
    if not comparable:
        said.append(
            "The two runs are of different systems (other processes, variables or initial values),"
            " so steps count as the same if their descriptions are."
        )
    ours, theirs = _next(left, common), _next(right, common)
    if ours is None and theirs is None:
        said.append("Both runs take the same steps.")
        return said
    if common == 0:
        said.append("They differ from the first step on.")
    elif common == 1:
        said.append(f"Step 1 is the same in both: {headline(left.every_step[1])}.")
    else:
        said.append(
            f"Steps 1 to {common} are the same in both; the last of them: "
            f"{headline(left.every_step[common])}."
        )
    said.append(_parting(ours, theirs))
    return said


def _parting(ours: Step | None, theirs: Step | None) -> str:
    """Describes where two executions diverge, by the effects of the steps where their descriptions
    are the same.
    """
    if ours is None or theirs is None or headline(ours) != headline(theirs):
        return f"Then, on the left: {_headline(ours)}. On the right: {_headline(theirs)}."
    here, there = (
        [sentence(event) for event in step.events if not isinstance(event, Handled)]
        for step in (ours, theirs)
    )
    left = [said for said in here if said not in there]
    right = [said for said in there if said not in here]
    done = [
        f"on the {side} {'; '.join(only)}"
        for side, only in (("left", left), ("right", right))
        if only
    ]
    what = f"only {', and only '.join(done)}" if done else "the resulting state differs"
    return f"Then comes, in both: {headline(ours)}. But {what}."


def _next(trace: Trace, common: int) -> Step | None:
    steps = trace.every_step
    return steps[common + 1] if common + 1 < len(steps) else None


def _headline(step: Step | None) -> str:
    return "the run ends here" if step is None else headline(step)
