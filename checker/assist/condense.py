"""The JSON document of a command into an answer."""

from __future__ import annotations

import re
from typing import Any

from checker import resources
from checker.assist.answer import (
    COMPLETE,
    SUCCESSES,
    WORST,
    Answer,
    Growth,
    Next,
    Problem,
    Search,
    Shown,
    Unasked,
    Verdict,
    World,
    worst,
)  # fmt: skip
from checker.diagnostics.english import listing
from checker.language.link_kinds import LINK_KINDS, Delivery
from checker.records import replace
from checker.results.verdict import NOT_SEEN, UNFALSIFIABLE

Document = dict[str, Any]
STORY, ESSENTIAL = 12, 6
IN_THE_LINE = ("n", "f")
"""Parameters that the line about the world has in words."""
MOST_STATES = 100_000_000
UNDECIDED = 3
"""The exit code of a command that has decided nothing."""


def problems_of(document: Document) -> tuple[Problem, ...]:
    """Returns the diagnostics of a document."""
    return tuple(
        Problem(
            each["code"], each["message"], _file(each["file"]), each["line"], each["column"],
            each["hint"] or each["expected"],
        )
        for each in document["diagnostics"]
    )  # fmt: skip


def unusable(problems: tuple[Problem, ...]) -> Answer:
    """Returns the answer where nothing could be run."""
    first = problems[0] if problems else Problem("", "nothing was run")
    return Answer("unusable", f"nothing was decided: {first.message}", problems=problems)


def _without_report(document: Document) -> Answer:
    """Returns the answer of a document that has no report: nothing could be run, or the time was
    not enough to begin (then it may be ended before it knows the exit code)."""
    problems = problems_of(document)
    if document["exit_code"] == UNDECIDED or not problems:
        claim = "Nothing was decided: the time was over before the search began."
        return Answer("unknown", claim, as_expected=False, problems=problems)
    return unusable(problems)


def answer_of_check(document: Document, handles: dict[str, str]) -> Answer:
    """Returns the answer of ``check``, ``prove`` and ``simulate``; ``handles``: of the runs of
    violated properties, by name."""
    problems = problems_of(document)
    if not document["reports"]:
        return _without_report(document)
    report = document["reports"][0]
    empty = _unfalsifiable(report)
    verdicts = tuple(_verdict(each, handles, empty) for each in report["verdicts"])
    verdicts = tuple(sorted(verdicts, key=lambda v: _rank(v.verdict)))
    asked = [v.verdict for v in verdicts]
    asked += ["violated" for each in report["scenarios"] if not each["met"]]
    if not asked:
        asked = ["vacuous"]
    world = _world(report)
    answer = Answer(
        worst(asked),
        "",
        as_expected=document["exit_code"] == 0 and not empty,
        verdicts=verdicts,
        world=world,
        not_asked=tuple(
            Unasked(each["what"], each["excluded"], each["clause"]) for each in report["not_asked"]
        ),
        run=_run(report, handles),
        search=Search(
            report["distinct_states"], report["depth"], report["exhaustive"],
            report["stopped"] or "", report["seconds"],
            tuple(Growth(each["name"], each["factor"]) for each in report["weights"]),
        ),
        problems=problems,
    )  # fmt: skip
    return replace(answer, claim=claim_of(answer, report["scenarios"]) + _idle(report))


def _rank(verdict: str) -> int:
    return int(WORST.index(verdict))


def _file(name: str) -> str:
    """Returns the name of a file without the folder of the library."""
    return name.removeprefix(f"{resources.specs()}/")


def _unfalsifiable(report: Document) -> dict[str, str]:
    """Returns why no run could violate a property, by its name: for an assistant it is vacuous."""
    notes = [note for note in report["notes"] if note.startswith(UNFALSIFIABLE)]
    names = [each["property"] for each in report["verdicts"]]
    return {n: note for n in names for note in notes if note.startswith(f"{UNFALSIFIABLE}{n}: ")}


def _verdict(found: Document, handles: dict[str, str], empty: dict[str, str]) -> Verdict:
    origin = found.get("origin") or {}
    kind = origin.get("kind", "")
    source = "the language" if kind == "language" else f"{kind} {origin.get('name', '')}".strip()
    name = found["property"]
    return Verdict(
        name,
        "vacuous" if name in empty else found["verdict"],
        found["expected"] or "",
        empty[name] if name in empty else found["reason"],
        f"library {source}" if origin.get("library") else source,
        origin.get("hides", ""),
        handles.get(found["property"]),
    )


def _world(report: Document) -> World:
    text, n = report["world"], report["parameters"].get("n")
    own = [f"{k} = {v}" for k, v in report["parameters"].items() if k not in IN_THE_LINE]
    return World(", ".join((text, *own)), n if isinstance(n, int) else None, is_honest(text))


def is_honest(world: str) -> bool:
    """Returns whether nothing fails in a world, as its line says: no faults, and links that lose
    and repeat nothing."""
    parts = world.split(", ")
    words = [word for part in parts if part.endswith(" links") for word in re.split(r"\W+", part)]
    kinds = [LINK_KINDS[word] for word in words if word in LINK_KINDS]
    return "no faults" in parts and not any(
        kind.loses or kind.repeats or kind.delivery is not Delivery.RELIABLE for kind in kinds
    )


# ---- the claim --------------------------------------------------------------------------------


def _idle(report: Document) -> str:
    """Returns a sentence about handlers and messages that never were, or were not seen."""
    hidden = [note for note in report["notes"] if note.startswith(NOT_SEEN)]
    said = "; ".join(report["never"][:6])
    return f" {hidden[0][0].upper()}{hidden[0][1:]}." if hidden else f" {said}." if said else ""


def unproved(declared: Document) -> str:
    """Returns which properties of its protocol neither the check ``declared`` nor another one
    asks, in words."""
    names = declared["unproved"]
    return f"No check asks {listing(names[:6], 'or')}{_rest(names, 6)} of {declared['protocol']}"


def claim_of(answer: Answer, scenarios: list[Document] | None = None) -> str:
    """Returns the verdicts in a few sentences; what limits them comes first."""
    said = []
    world = answer.world
    success = answer.outcome in SUCCESSES
    if world is not None and world.honest and success:
        said.append("Nothing fails in this world: no crash, no loss, no Byzantine process.")
    own = [v for v in answer.verdicts if v.shadows]
    if own:
        names = listing([v.property for v in own])
        is_ = "is" if len(own) == 1 else "are"
        said.append(f"{names} {is_} the author's own, not the library's of {own[0].shadows}.")
    groups: dict[str, list[str]] = {}
    for verdict in answer.verdicts:
        groups.setdefault(verdict.verdict, []).append(verdict.property)
    told = [_told(names, word) for word, names in groups.items()]
    told += [f"scenario {each['name']} fails" for each in scenarios or () if not each["met"]]
    idle = [each.what for each in answer.not_asked if not each.clause]
    if idle and success:
        said.append(f"Not tested: {'; '.join(idle)}.")
    where = f"For {world.text}: " if world is not None and world.text else ""
    said.append(f"{where}{'; '.join(told) or 'no property was checked'}.")
    if answer.outcome not in COMPLETE and answer.search is not None and answer.search.stopped:
        said.append(f"The search ended early: {answer.search.stopped}.")
    return " ".join(said)


def _told(names: list[str], verdict: str) -> str:
    one = len(names) == 1
    verb = {"holds": "holds" if one else "hold"}.get(verdict, f"{'is' if one else 'are'} {verdict}")
    return f"{listing(names[:6])}{_rest(names, 6)} {verb}"


def _rest(names: list[str], told: int) -> str:
    return f" and {len(names) - told} more" if len(names) > told else ""


# ---- the run ----------------------------------------------------------------------------------


def _run(report: Document, handles: dict[str, str]) -> Shown | None:
    """Returns the run of the first property that has one; of an unexpected violation first."""
    having = [v for v in report["verdicts"] if v["property"] in handles and v.get("trace")]
    having.sort(key=lambda v: v["expected"] == "violated")
    return shown(having[0]["trace"], handles[having[0]["property"]]) if having else None


def shown(trace: Document, handle: str) -> Shown:
    """Returns a summary of a run."""
    explanation = trace.get("explanation") or {}
    story = [*explanation.get("sentences", ())]
    steps = [s for s in trace["steps"] if s["number"]]
    story += [f"{s['number']}. {s['headline']}" for s in steps]
    if trace["loop"] is not None and trace["loop"] < len(steps):
        story.append(f"then from step {trace['loop'] + 1} on again, forever")
    needed = [a["what"] for a in explanation.get("ablations", ()) if a["outcome"] == "holds"]
    at = trace.get("at") or {}
    return Shown(
        handle, len(steps), tuple(story[:STORY]), tuple(needed[:ESSENTIAL]),
        _file(at.get("file", "")), at.get("line"),
    )  # fmt: skip


# ---- what to do next --------------------------------------------------------------------------


def next_of(
    answer: Answer, call: dict[str, Any], judges: dict[str, list[str]] | None = None
) -> tuple[Next, ...]:
    """Returns the calls that an answer suggests; ``call``: the arguments of this one; ``judges``:
    properties of an interface of the library that the check does not ask."""
    budget = call["budget"]
    same = {"path": call["path"], "check": call["check"], "budget": budget}
    found = []
    if answer.run is not None:
        asked = {"handle": answer.run.handle, "show": "steps", "budget": budget}
        found.append(Next("run", asked, "the run that violates a property"))
    if answer.outcome == "unknown":
        if answer.resume is not None:
            more = {**budget, "states": min(MOST_STATES, budget["states"] * 10)}
            again = {**same, "budget": more, "resume": answer.resume}
            found.append(Next("check", again, "resume the search where it stopped"))
        if answer.world is not None and answer.world.n is not None and answer.world.n > 2:
            less = {**same, "set": {"n": str(answer.world.n - 1)}}
            found.append(Next("check", less, "a smaller world; says nothing about this one"))
    if answer.outcome == "vacuous":
        found.append(Next("look", {"path": call["path"]}, "what the check lacks: see `why`"))
    if answer.outcome in SUCCESSES:
        for interface, names in (judges or {}).items():
            asked = {**same, "set": call.get("set", {}), "judge": interface}
            found.append(Next("check", asked, f"nobody asks {listing(names[:3])}{_rest(names, 3)}"))
        for each in [unasked for unasked in answer.not_asked if unasked.clause][:1]:
            worse = {**same, "set": {**call.get("set", {}), **settings_of(each.clause)}}
            found.append(Next("check", worse, f"no check asks about {each.what}"))
        found.append(Next("mutate", same, "would the check notice a mistake?"))
    return tuple(found)


def settings_of(clause: str) -> dict[str, str]:
    """Returns the settings of `check` that replace clauses of a world by ``clause``:
    ``faults crash <= 1, recover`` is ``{"crash": "1", "recover": "yes"}``."""
    word, _, rest = clause.partition(" ")
    if word == "faults":
        parts = [part.partition(" <= ") for part in rest.split(", ")]
        return {kind: bound or ("yes" if kind == "recover" else "any") for kind, _, bound in parts}
    if word == "crash":
        return {"crash_points": rest.removeprefix("points ")}
    return {word: rest.removeprefix("= ")}


# ---- other commands ---------------------------------------------------------------------------


def answer_of_mutation(document: Document) -> Answer:
    """Returns the answer of ``mutate``: *violated* if a mutant survives that nobody accepts."""
    problems = problems_of(document)
    if not document["reports"]:
        return _without_report(document)
    report = document["reports"][0]
    fates: dict[str, int] = {}
    lines = []
    for mutant in report["mutants"]:
        fates[mutant["fate"]] = fates.get(mutant["fate"], 0) + 1
        if mutant["fate"] == "survived" and not mutant["accepted"]:
            lines.append(f"line {mutant['line']}: {mutant['what']}")
    counted = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    if report["stopped"] or not report["mutants"] or set(fates) & {"unknown"}:
        outcome: Any = "unknown" if report["mutants"] or report["stopped"] else "vacuous"
    else:
        outcome = "violated" if lines else "holds"
    claim = (
        f"Of {report['drawn']} of {report['known']} small changes: {counted or 'none was made'}."
    )
    if lines:
        claim += f" No check notices {len(lines)} of them."
    return Answer(
        outcome, claim, as_expected=document["exit_code"] == 0, lines=tuple(lines),
        problems=problems,
    )  # fmt: skip


def answer_of_log(document: Document) -> Answer:
    """Returns the answer of ``conform``."""
    problems = problems_of(document)
    usable = [r for r in document["reports"] if "verdict" in r]
    if not usable or len(usable) < len(document["reports"]):
        return _without_report(document)
    verdicts = tuple(
        Verdict("is a log of a run", r["verdict"], why=r["sentence"]) for r in usable
    )  # fmt: skip
    lines = [
        ": ".join(str(value) for value in each.values() if isinstance(value, str | int))
        for r in usable
        for each in r["obstacles"]
    ]
    world = World(usable[0]["world"], None, is_honest(usable[0]["world"]))
    return Answer(
        worst([v.verdict for v in verdicts]), f"{usable[0]['sentence']}; world: {world.text}",
        as_expected=document["exit_code"] == 0, verdicts=verdicts, world=world,
        problems=problems, lines=tuple(lines),
    )  # fmt: skip
