"""Loads trace documents, and compares the specs that they are from with those of today."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from checker.diagnostics import SpecError
    from checker.results.trace import Source, Trace

LONGEST = 160
"""The largest number of characters of an error message that are printed."""
GONE = " is gone"
SUFFIX = ".bcast"


class Loaded(Struct, frozen=True):
    """A trace of a document; ``edited``: the document has been changed since it was written."""

    path: str
    trace: Trace
    edited: bool


def load(path: str) -> Trace:
    """Loads the trace in the file ``path`` (``-`` is stdin); reports on stderr where it was edited.

    Raises :class:`checker.diagnostics.SpecError` where it is none, and a usage error where there is
    no such file.
    """
    return load_document(path).trace


def load_document(path: str) -> Loaded:
    """Loads a trace as :func:`load` does, with what is known of the document."""
    from checker.cli.console import print_note, read_document
    from checker.formats.json_format import is_edited, trace_from_text

    if path.partition("::")[0].endswith(SUFFIX):
        raise _is_spec(path)
    text = read_document(path)
    trace = trace_from_text(text, path)
    edited = is_edited(json.loads(text))
    if edited:
        print_note(
            f"note: {path} was edited after it was written; its run may not be a run of its spec"
        )
    return Loaded(path, trace, edited)


def _is_spec(path: str) -> Exception:
    """Returns the error that ``path`` names a spec, or a check of one, in place of a trace."""
    from checker.diagnostics import Diagnostic, SpecError
    from checker.formats.json_format import WANTED

    message = f"{path} is a spec, and this command needs a trace"
    hint = f"write one with `bivalence check {path} --trace-out run.json`"
    return SpecError((Diagnostic("E006", message, None, WANTED, hint),))


def changed_sources(trace: Trace) -> tuple[str, ...]:
    """Describes which of the files that ``trace`` was made from have changed since, and how."""
    found = []
    for source in trace.header.sources:
        digest = _digest(source)
        tool = ", part of the library," if source.shipped else ""
        if digest is None:
            found.append(f"{source.file}{tool}{GONE}")
        elif digest != source.digest:
            found.append(f"{source.file}{tool} has changed")
    return tuple(found)


def say_changes(trace: Trace) -> None:
    """Reports on stderr which files of ``trace`` have changed; missing files are not reported,
    since a user may have nothing but the document.
    """
    from checker.cli.console import print_note

    for difference in changed_sources(trace):
        if not difference.endswith(GONE):
            print_note(
                f"note: {difference} since the trace was written; --source shows it as it was"
            )


def replay_document(document: Loaded) -> Trace:
    """Replays the execution with the spec as it is now; reports on stderr what has changed since.

    Raises :class:`SpecError`: E009 where the spec has no such execution, or can't be used any more,
    E090 where it is what a log says that happened.
    """
    from checker.cli.console import print_note
    from checker.diagnostics import Diagnostic, SpecError
    from checker.results.mismatch import ReplayMismatch
    from checker.session import pipeline

    if document.trace.is_recorded:
        message = f"{document.path} comes from a log, so no spec can replay it"
        hint = (
            f"show it with `bivalence view {document.path}`; check the log again with"
            " `bivalence audit`"
        )
        raise SpecError((Diagnostic("E090", message, None, "", hint),))
    differences = changed_sources(document.trace)
    try:
        again = pipeline.replay_trace(document.trace)
    except (ReplayMismatch, ValueError) as problem:
        raise _no_run(document, differences, str(problem)) from problem
    except SpecError as problem:
        if not differences:
            raise
        first = _no_run(document, differences, "the spec can't be used").diagnostics
        raise SpecError((*first, *problem.diagnostics)) from problem
    for difference in differences:
        print_note(
            f"note: {difference} since the trace was written; the run is still one of its runs"
        )
    return again


def _no_run(document: Loaded, differences: tuple[str, ...], problem: str) -> SpecError:
    """Returns the diagnostic for an execution that can't be replayed, with the likeliest reason."""
    from checker.diagnostics import Diagnostic, SpecError
    from checker.resources import version

    header = document.trace.header
    reasons = [f"{each}{'' if each.endswith(GONE) else ' since'}" for each in differences]
    if document.edited:
        reasons.append("the document was edited after it was written")
    if header.tool != version():
        reasons.append(
            f"version {header.tool or '(unknown)'} wrote it, and this is version {version()}"
        )
    why = "; ".join(reasons) or "the spec is the same: the document or the tool is wrong"
    said = problem if len(problem) <= LONGEST else f"{problem[:LONGEST]}…"
    message = f"{document.path} is no longer a run of {header.file}: {said} ({why})"
    hint = (
        f"show it with `bivalence view {document.path}`, with --source for the spec as"
        " it was, or check the current spec with `bivalence check`"
    )
    return SpecError((Diagnostic("E009", message, None, "", hint),))


def _digest(source: Source) -> str | None:
    """Returns the SHA-256 of a source as it is now; ``None`` where it can't be read."""
    from checker.language.reading import data_of
    from checker.resources import specs

    file = specs() / source.file if source.shipped else Path(source.file)
    try:
        return hashlib.sha256(data_of(file)).hexdigest()
    except (OSError, ValueError):
        return None
