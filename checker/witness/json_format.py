"""Reports and traces as JSON documents, and traces back.

The schemas are in ``schema/``; a change of meaning there takes a new format version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any, cast

from checker.diagnostics import Diagnostic, SpecError
from checker.witness import trace as t
from checker.witness.answer import Reduced, Restart
from checker.witness.consistency import require_fit
from checker.witness.json_records import read, to_data
from checker.witness.proof import Proof
from checker.witness.trace import FORMAT, Trace
from checker.witness.verdict import PropertyVerdict, Report

REPORT_FORMAT = 5
"""Version of the report document; 5 has proofs, and what holds up to a number of steps."""

KIND = "bivalence trace"
REPORT_KIND = "bivalence report"
DEEPEST = 200
"""Levels of a document: types nest 60 levels deep, and a map in a map takes three."""
WANTED = "a document written by `bivalence check --trace-out`"


def report_to_json(report: Report) -> dict[str, Any]:
    """Returns the report as a JSON object, with the traces of its violations."""
    return {
        "format": REPORT_FORMAT,
        "kind": REPORT_KIND,
        "version": report.version,
        "file": report.file,
        "check": report.check,
        "parameters": dict(report.parameters),
        "engine": report.engine,
        "fine_steps": report.fine_steps,
        "verdicts": [_verdict(v) for v in report.verdicts],
        "expectations": [
            {"what": e.what, "expected": e.expected, "found": e.found, "met": e.met}
            for e in report.expectations
        ],
        "distinct_states": report.distinct_states,
        "depth": report.depth,
        "transitions": report.transitions,
        "seconds": round(report.seconds, 6),
        "exhaustive": report.exhaustive,
        "stopped": report.stopped,
        "bytes_per_state": round(report.bytes_per_state, 3),
        "edges": report.edges,
        "bytes_per_edge": round(report.bytes_per_edge, 3),
        "liveness_seconds": round(report.liveness_seconds, 6),
        "notes": list(report.notes),
        "never": list(report.never),
        "coverage": None if report.coverage is None else [_flat(c) for c in report.coverage],
        "kept": report.kept,
        "failed": list(report.failed),
        "scenarios": [_flat(s) | {"possible": list(s.possible)} for s in report.scenarios],
        "reduce": report.reduce,
        "reduced": _reduced_data(report.reduced),
        "audit": None if report.audit is None else _flat(report.audit),
        "forecast": None if report.forecast is None else _flat(report.forecast),
        "weights": [{"name": w.name, "factor": round(w.factor, 2)} for w in report.weights],
        "omission": report.omission,
        "restarts": [_restart(restart) for restart in report.restarts],
        "proof": None if report.proof is None else _proof(report.proof),
        "exit_code": report.exit_code,
    }


def _reduced_data(reduced: Reduced) -> dict[str, Any]:
    return {
        "used": list(reduced.used),
        "unused": [{"kind": kind, "why": why} for kind, why in reduced.unused],
        "text": list(reduced.text),
        "without": reduced.without,
        "exact": reduced.exact,
    }


def _restart(restart: Restart) -> dict[str, Any]:
    grown = [{"capacity": name, "was": was, "now": now} for name, was, now in restart.grown]
    return {**_flat(restart), "grown": grown}


def _proof(proof: Proof) -> dict[str, Any]:
    weakened = [_flat(weaker) | {"numbers": dict(weaker.numbers)} for weaker in proof.weakened]
    seconds = round(proof.seconds, 6)
    return _flat(proof) | {"weakened": weakened, "tight": proof.tight, "seconds": seconds}


def _verdict(verdict: PropertyVerdict) -> dict[str, Any]:
    document: dict[str, Any] = {
        "property": verdict.property,
        "verdict": verdict.word.value,
        "expected": verdict.expected,
        "reason": verdict.reason,
        "definition": verdict.definition,
        "assumptions": list(verdict.assumptions),
        "up_to": verdict.up_to,
        "certificate": verdict.certificate,
        "queries": verdict.queries,
        "seconds": round(verdict.seconds, 6),
    }
    if verdict.rests_on is not None:
        document["rests_on"] = {
            "handlers": [_flat(h) | {"at": _flat(h.at)} for h in verdict.rests_on.handlers],
            "complete": verdict.rests_on.complete,
        }
    if verdict.trace is not None:
        document["trace"] = trace_to_json(verdict.trace)
    if verdict.of_others:
        document["others"] = [trace_to_json(trace) for trace in verdict.others]
        document["of_others"] = verdict.of_others
    return document


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """Returns the trace as a self-contained JSON object.

    ``digest`` shows whether it has been edited since, see :func:`is_edited`.
    """
    document = _document(trace)
    return {**document, "digest": _digest(document)}


def is_edited(document: object) -> bool:
    """Returns whether a trace's JSON object differs from what was written; it detects a mistake,
    not an adversary: only a replay decides whether an execution is one of its spec."""
    if not isinstance(document, dict) or "digest" not in document:
        return False
    rest = {key: value for key, value in document.items() if key != "digest"}
    return bool(document["digest"] != _digest(rest))


def _digest(document: dict[str, Any]) -> str:
    """Returns the SHA-256 of a JSON object, independent of the order of its keys and its layout."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _document(trace: Trace) -> dict[str, Any]:
    header = trace.header
    return {
        "format": FORMAT,
        "kind": KIND,
        "tool": header.tool,
        "file": header.file,
        "check": header.check,
        "parameters": dict(header.parameters),
        "settings": dict(header.settings),
        "fine_steps": header.fine_steps,
        "sources": [_flat(source) for source in header.sources],
        "property": trace.property_name,
        "definition": trace.definition,
        "verdict": trace.word,
        "sentence": trace.sentence,
        "processes": list(trace.processes),
        "variables": [{"name": name, "kind": kind} for name, kind in trace.variables],
        "steps": [_step(step) for step in trace.steps],
        "fates": [_flat(fate) for fate in trace.fates],
        "copies": [_flat(copies) for copies in trace.copies],
        "in_flight": [_flat(message) for message in trace.in_flight],
        "ends": trace.ends,
        "failure": None if trace.failure is None else _flat(trace.failure),
        "loop": trace.loop,
        "closing": None if trace.closing is None else _step(trace.closing),
        "ledger": [_flat(entry) for entry in trace.ledger],
        "values": [{"name": name, "value": value} for name, value in trace.values],
        "at": to_data(trace.at),
        "explanation": to_data(trace.explanation),
    }


def _step(step: t.Step) -> dict[str, Any]:
    return {**to_data(step), "state": dict(step.state)}


def _flat(record: Any) -> dict[str, Any]:
    document = to_data(record)
    assert isinstance(document, dict)
    return document


def trace_from_text(text: str, file: str = "this document") -> Trace:
    """Returns the trace in a file's text; raises :class:`SpecError` as :func:`trace_from_json`
    does."""
    try:
        document = json.loads(text)
        _require_flat(document)
        if "\\ud" in text.lower():  # half a surrogate pair, which can't be encoded
            json.dumps(document, ensure_ascii=False).encode()
        return trace_from_json(document, file)
    except (ValueError, RecursionError) as problem:
        raise _no_trace(f"{file} is no JSON: {problem}") from problem


def _require_flat(document: object) -> None:
    """Raises ``ValueError`` where ``document`` nests deeper than anything that is written."""
    level: list[object] = [document]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for part in level:
            if isinstance(part, dict | list):
                inner.extend(part.values() if isinstance(part, dict) else part)
        level = inner
        if not level:
            return
    raise ValueError(f"it nests more than {DEEPEST} levels deep")


def trace_from_json(document: object, file: str = "this document") -> Trace:
    """Returns the trace that :func:`trace_to_json` wrote.

    Raises :class:`SpecError`: E005 where the document has another version, E006 where it is no
    trace at all.
    """
    if _is_report(document):
        raise _no_trace(f"{file} is a report, not a trace", WANTED)
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise _no_trace(f"{file} is no trace", WANTED)
    found = document.get("format")
    if found != FORMAT:
        message = f"{file} is a trace of format {found!r}"
        hint = "check the spec again with this version, or view the trace with the one it names"
        tool = document.get("tool")
        said = f"format {FORMAT}" + (f" (the trace was written by {tool})" if tool else "")
        raise SpecError((Diagnostic("E005", message, None, said, hint),))
    try:
        return _trace(cast(dict[str, Any], document))
    except KeyError as lacking:
        raise _no_trace(f"{file} is a damaged trace ({lacking} is missing)", WANTED) from None
    except (TypeError, ValueError, AttributeError) as problem:
        raise _no_trace(f"{file} is a damaged trace ({problem})", WANTED) from None


def _is_report(document: object) -> bool:
    """Returns whether it is what ``check --json`` writes: the reports of a file's checks, or
    one."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and first.get("kind") == REPORT_KIND


def _no_trace(message: str, expected: str = "") -> SpecError:
    return SpecError((Diagnostic("E006", message, None, expected),))


def _trace(d: dict[str, Any]) -> Trace:
    header = t.Header(
        tool=_text(d["tool"]),
        file=_text(d["file"]),
        check=_text(d["check"]),
        parameters=dict(d["parameters"]),
        settings={_text(k): _text(v) for k, v in d["settings"].items()},
        fine_steps=_flag(d["fine_steps"]),
        sources=tuple(read(t.Source, source) for source in d["sources"]),
    )
    trace = Trace(
        header=header,
        property_name=_text(d["property"]),
        definition=_text(d["definition"]),
        word=_text(d["verdict"]),
        sentence=_text(d["sentence"]),
        processes=_texts(d["processes"]),
        variables=tuple((_text(v["name"]), _text(v["kind"])) for v in d["variables"]),
        steps=tuple(_read_step(step) for step in d["steps"]),
        fates=tuple(read(t.ProcessOutcome, fate) for fate in d["fates"]),
        copies=tuple(read(t.Copies, copies) for copies in d["copies"]),
        in_flight=tuple(read(t.InFlight, m) for m in d["in_flight"]),
        ends=_flag(d["ends"]),
        failure=None if d["failure"] is None else read(t.Failure, d["failure"]),
        loop=read(int | None, d["loop"]),
        closing=None if d["closing"] is None else _read_step(d["closing"]),
        ledger=tuple(read(t.FairnessJustification, entry) for entry in d["ledger"]),
        values=tuple((_text(v["name"]), v["value"]) for v in d["values"]),
        at=read(t.At | None, d["at"]),
        explanation=read(t.Explanation | None, d["explanation"]),
    )
    require_fit(trace)
    return trace


def _read_step(d: dict[str, Any]) -> t.Step:
    return replace(read(t.Step, {**d, "state": {}}), state=dict(d["state"]))


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, found {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(f"expected a list, found {values!r}")
    return tuple(_text(value) for value in values)
