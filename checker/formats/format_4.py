"""Reads traces of format 4, whose events were sentences with a few texts beside them."""

from __future__ import annotations

import re
from typing import Any

from checker.results import events as ev

_FORGED = re.compile(r" makes \S+ receive .* from (\S+)", re.DOTALL)

_WORLD: tuple[tuple[re.Pattern[str], type[ev.World], tuple[str, ...]], ...] = (
    (re.compile(r"the network splits: \{(.*)\} cut off"), ev.Partitioned, ("apart",)),
    (re.compile(r"the network heals"), ev.Healed, ()),
    (re.compile(r"(\S+) omits a message and .*"), ev.TurnedFaulty, ("culprit",)),
    (re.compile(r"oracles foresee that (\S+) will crash"), ev.CrashForeseen, ("victim",)),
    (re.compile(r"the detector settles(?:: (\S+) .*)?"), ev.DetectorSettled, ("spared",)),
    (re.compile(r"the clock of (\S+) ticks"), ev.ClockTicked, ("clock",)),
    (re.compile(r"all clocks tick"), ev.ClocksTicked, ()),
    (re.compile(r"a round ends, .*"), ev.RoundEnded, ()),
    (re.compile(r"the system becomes synchronous"), ev.BecameSynchronous, ()),
)
_ASKED = re.compile(r"(\S+) asks the oracle `(.*?)`: (.*)", re.DOTALL)


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a trace document of format 4 as one of the present format.

    Raises ``ValueError`` if ``document`` is not a trace of format 4.
    """
    try:
        return _upgraded(document)
    except KeyError as lacking:
        raise ValueError(f"{lacking} is missing") from None
    except (TypeError, AttributeError) as problem:
        raise ValueError(str(problem)) from None


def _upgraded(document: dict[str, Any]) -> dict[str, Any]:
    closing = document["closing"]
    return {
        **document,
        "witness": [],
        "lacking": [],
        "steps": [_step(step) for step in document["steps"]],
        "closing": None if closing is None else _step(closing),
    }


def _step(step: dict[str, Any]) -> dict[str, Any]:
    events = {name: [_event(event) for event in step[name]] for name in ("events", "cut")}
    return {**step, **events, "inner": ""}


def _event(event: dict[str, Any]) -> dict[str, Any]:
    kind, name, message, peers = (event[key] for key in ("kind", "name", "message", "peers"))
    common = {"kind": kind, "process": event["process"], "at": event["at"]}
    match kind:
        case "send":
            return {**common, "message": message, "receivers": peers}
        case "receive":
            return {**common, "message": message, "sender": _only(peers)}
        case "copy" | "lose" | "forge":
            found = {**common, "message": message, "receiver": _only(peers)}
            if kind == "forge":
                said = _FORGED.search(event["sentence"])
                claimed = "" if said is None or said[1] == event["process"] else said[1]
                return {**found, "claimed": claimed}
            return {**found, "by": name} if kind == "lose" else found
        case "handler":
            return {**common, "handler": name, "arguments": event["arguments"]}
        case "request" | "indication" | "detect":
            return {**common, "call": _call(name, event["arguments"])}
        case "perform":
            return {**common, "act": name}
        case "store" | "choice" | "coin":
            variable, _, value = name.rpartition(" = ") if kind == "coin" else name.partition(" = ")
            return {**common, "variable": variable, "value": value}
        case "timer":
            verb, _, timer = name.partition(" ")
            named = timer.removeprefix("the timer").strip().strip("`")
            return {**common, "does": verb.removesuffix("s"), "timer": named}
        case "timeout":
            return {**common, "timer": name}
        case "crash" | "recover":
            return {**common, "lead": ""}
        case "world":
            return {**_world(event["sentence"]), "process": "", "at": event["at"]}
        case _:
            return common


def _only(peers: list[str]) -> str:
    if len(peers) != 1:
        raise ValueError(f"one message has {len(peers)} peers")
    return peers[0]


def _call(text: str, arguments: object) -> dict[str, Any]:
    operator, opened, inside = text.partition("(")
    if not opened:
        return {"operator": "", "values": [text], "named": arguments}
    return {"operator": operator, "values": _split(inside[:-1]), "named": arguments}


def _split(text: str) -> list[str]:
    """Returns the parts between the commas that are in no bracket."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [part.strip() for part in found] if text else []


def _world(sentence: str) -> dict[str, Any]:
    asked = _ASKED.fullmatch(sentence)
    if asked is not None:
        request = _call(asked[3], [])
        return {"kind": "ask", "asker": asked[1], "oracle": asked[2], "request": request}
    for pattern, kind, names in _WORLD:
        found = pattern.fullmatch(sentence)
        if found is not None:
            values = {name: found[1] or "" for name in names}
            if kind is ev.Partitioned:
                return {"kind": "partition", "apart": found[1].split(", ")}
            return {"kind": str(kind.__struct_config__.tag), **values}
    raise ValueError(f"unknown event {sentence!r}")
