"""Reports and traces as JSON documents, and traces back.

What their objects are is said by the records and their forms (``forms.py``).  The schemas
(``schemas.py``) are made from both; a change of meaning takes a new format version.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.visible import json_text
from checker.formats.format_4 import upgraded
from checker.formats.forms import DOCUMENT_FORMAT, KIND, REPORT_KIND
from checker.formats.json_records import digest, read, to_data
from checker.formats.kinds import DOCUMENT_KINDS
from checker.resources import version
from checker.results.conformance import Conformance
from checker.results.consistency import require_fit
from checker.results.fillings import Fillings
from checker.results.frontier import Frontier
from checker.results.judgement import Judgement
from checker.results.mutation import Mutation
from checker.results.problems import problem_of
from checker.results.trace import FORMAT, Trace
from checker.results.valence import Valence
from checker.results.verdict import Report
from checker.results.weakest_worlds import WeakestWorlds

BEFORE = 4
"""The version of traces that is read beside the present one."""
DEEPEST = 200
"""Levels of a document: types nest 60 levels deep, and a map in a map takes three."""
WANTED = "a document written by `bivalence check --trace-out`"


def report_to_json(
    report: Report
    | Valence
    | Conformance
    | Judgement
    | Mutation
    | WeakestWorlds
    | Frontier
    | Fillings,
) -> dict[str, Any]:
    """Returns a report as a JSON object, with the traces that it has."""
    return cast(dict[str, Any], to_data(report))


def document(
    kind: str, reports: Iterable[dict[str, Any]], problems: Iterable[Diagnostic], exit_code: int
) -> dict[str, Any]:
    """Returns what ``--json`` writes: the reports, and the diagnostics of what has no report and of
    checks that have one (each once)."""
    found = [*reports]
    every = [*(to_data(problem_of(problem)) for problem in problems)]
    every += [problem for report in found for problem in report.get("warnings", ())]
    return {
        "format": DOCUMENT_FORMAT,
        "kind": kind,
        "version": version(),
        "reports": found,
        "diagnostics": [p for number, p in enumerate(every) if p not in every[:number]],
        "exit_code": exit_code,
    }


def reports_of(text: str) -> list[dict[str, Any]]:
    """Returns the reports in a document of :func:`document`; raises ``ValueError`` where it is
    none."""
    found = json.loads(text)
    if not isinstance(found, dict) or found.get("kind") not in DOCUMENT_KINDS:
        raise ValueError("this is not a document of reports")
    return list(found["reports"])


def unusable_log_to_json(name: str, error: str, code: int) -> dict[str, Any]:
    """Returns what stands for the report on the log ``name`` where it, or the check, can't be used:
    ``error`` says why, ``code`` is the exit code."""
    return {"name": name, "verdict": "unknown", "error": error.strip(), "exit_code": code}


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """Returns the trace as a self-contained JSON object.

    ``digest`` shows whether it has been edited since, see :func:`is_edited`.
    """
    return cast(dict[str, Any], to_data(trace))


def trace_to_text(trace: Trace) -> str:
    """Returns the document of ``trace`` as text, which :func:`trace_from_text` reads."""
    return json_text(trace_to_json(trace)) + "\n"


def is_edited(document: object) -> bool:
    """Returns whether a trace's JSON object differs from what was written; it detects a mistake,
    not an adversary: only a replay decides whether an execution is one of its spec."""
    if not isinstance(document, dict) or "digest" not in document:
        return False
    rest = {key: value for key, value in document.items() if key != "digest"}
    return bool(document["digest"] != digest(rest))


def trace_from_text(text: str, file: str = "this document") -> Trace:
    """Returns the trace in a file's text; raises :class:`SpecError` as :func:`trace_from_json`
    does."""
    try:
        document = json.loads(text)
        _require_flat(document)
        if "\\ud" in text.lower():  # half a character; a byte of a file's name is written like that
            json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape")
        return trace_from_json(document, file)
    except (ValueError, RecursionError) as problem:
        raise _no_trace(f"{file} is not JSON: {problem}") from problem


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
        raise _no_trace(f"{file} is not a trace", WANTED)
    found = document.get("format")
    if found not in (FORMAT, BEFORE):
        message = f"{file} is a trace of format {found!r}"
        hint = "check the spec again with this version, or view the trace with the one it names"
        tool = document.get("tool")
        said = f"format {FORMAT}" + (f" (the trace was written by {tool})" if tool else "")
        raise SpecError((Diagnostic("E005", message, None, said, hint),))
    try:
        trace = read(Trace, document if found == FORMAT else upgraded(document))
        require_fit(trace)
        return trace
    except ValueError as problem:
        raise _no_trace(f"{file} is a damaged trace ({_said(problem)})", WANTED) from None


def _said(problem: ValueError) -> str:
    """Returns the error, after its location in the document if it has one:
    ``steps[0].number: expected `int`, got `str```."""
    what, _, place = str(problem).partition(" - at `$")
    what = f"{what[0].lower()}{what[1:]}"
    return f"{place.strip('.`')}: {what}" if place else what


def _is_report(document: object) -> bool:
    """Returns whether it is what ``--json`` writes, now or before format 6: a document of reports,
    a report, or a list of them."""
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(first, dict) and first.get("kind") in (REPORT_KIND, *DOCUMENT_KINDS)


def _no_trace(message: str, expected: str = "") -> SpecError:
    return SpecError((Diagnostic("E006", message, None, expected),))
