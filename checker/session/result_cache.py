"""Keeps reports of checks, and other outcomes of them, so that what has not changed is answered at
once.

A report is kept under a digest of all that determines it: the check as it is typed, with everything
that it depends on and the places of that in the files; the options; the sources of the tool that
are installed, and what it runs on.  So no other version answers, and neither does this one where
it was edited.  Only what was decided is kept: nothing that a budget has ended.  The folder
is the user's alone (:func:`checker.resources.own_folder`), and a file that was damaged is not used.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

from checker import resources
from checker.engines.options import Options
from checker.extensions.tables import AUTO, ENGINES
from checker.formats.json_format import report_to_json
from checker.formats.json_records import read
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.records import fields, is_record, replace
from checker.results.trace import Trace
from checker.results.verdict import STRIPS_ENDED, Report, Word
from checker.session.load import load_check
from checker.session.trace_header import with_sources_of

T = TypeVar("T", bound=msgspec.Struct)

KEPT = 2_000
"""The largest number of reports that are kept; the oldest are removed first."""
OUTCOMES = 20_000
"""The same of other outcomes, which are small."""
CACHED = "from the cache: nothing has changed since this version of the tool checked it"
"""What a report says that comes from the cache."""
_PACKAGES = ("lark", "llvmlite", "numpy", "pyarrow", "z3-solver")
_ELSEWHERE = ("cluster", "checkpoint", "resume", "states_out", "drn_out")
"""Options of runs that leave more behind than a report."""


def cached(spec: Spec, name: str, options: Options, run: Callable[[], Report]) -> Report:
    """Returns the report on a check that is kept, which says so (``CACHED``), or what ``run``
    returns, which is kept where it was decided; raises what ``run`` does."""
    path = _path("reports", digest_of(spec, name, options))
    if path is None:
        return run()
    found = _read(path)
    if found is not None:
        return _now(found)
    report = run()
    if _is_decided(report):
        text = json.dumps(report_to_json(report), separators=(",", ":"))
        resources.store_cached(path, text.encode(), KEPT)
    return report


def outcome(
    what: str,
    digests: tuple[str | None, ...],
    kind: type[T],
    make: Callable[[], T],
    is_decided: Callable[[T], bool],
) -> T:
    """Returns the outcome ``what`` that is kept of the checks with these ``digests``
    (:func:`digest_of`), or what ``make`` returns, which is kept if it ``is_decided``; raises what
    ``make`` does.  ``kind``: a Struct of plain values."""
    path = None
    if None not in digests:
        path = _path("outcomes", hashlib.sha256(repr((what, digests)).encode()).hexdigest())
    data = None if path is None else resources.load_cached(path)
    if data is not None:
        try:
            return msgspec.json.decode(data, type=kind)
        except msgspec.DecodeError:  # it is made again
            pass
    made = make()
    if path is not None and is_decided(made):
        most = OUTCOMES if path.name.startswith("0") else None
        resources.store_cached(path, msgspec.json.encode(made), most)
    return made


def _is_decided(report: Report) -> bool:
    undecided = any(verdict.word is Word.UNKNOWN for verdict in report.verdicts)
    ended = report.stopped is not None and not report.has_counterexample
    cut = any(note.startswith(STRIPS_ENDED) for note in report.notes)
    unfinished = undecided or ended or cut or bool(report.failed) or report.was_interrupted
    return not (unfinished or report.kept)


def _now(report: Report) -> Report:
    """Returns a kept report with a note, and its traces with the texts that the files have now:
    what is told of them is the same, but other lines may not be."""

    def fresh(trace: Trace | None) -> Trace | None:
        return None if trace is None else with_sources_of(trace)

    verdicts = tuple(replace(verdict, trace=fresh(verdict.trace)) for verdict in report.verdicts)
    return replace(report, verdicts=verdicts, notes=(*report.notes, CACHED))


def _path(folder: str, digest: str | None) -> Path | None:
    """Returns the file under ``digest``; ``None`` where nothing is to be kept, or can be."""
    found = None if digest is None else resources.cache_folder(folder)
    return None if found is None else found / f"{digest}.json"


def digest_of(spec: Spec, name: str, options: Options) -> str | None:
    """Returns a digest of all that determines the report on a check; ``None`` where it is not to be
    kept.  Raises :class:`SpecError`."""
    plain = Options()
    if any(getattr(options, each) != getattr(plain, each) for each in _ELSEWHERE) or options.keep:
        return None
    if options.engine != AUTO and options.engine not in ENGINES.built_in:
        return None
    check = load_check(spec, name, options.settings)
    digest = hashlib.sha256(tool_digest())
    for part in (str(spec), _asked(options), *_text(check, {})):
        digest.update(f"{len(part)} {part}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _asked(options: Options) -> str:
    """Returns the options as text; the order of settings does not matter."""
    return repr(replace(options, settings=dict(sorted(options.settings.items()))))


def _text(node: object, known: dict[int, int]) -> list[str]:
    """Returns what determines a typed node, in pieces; what occurs again is named by its number."""
    if isinstance(node, tuple):
        return ["(", *(piece for part in node for piece in _text(part, known)), ")"]
    if isinstance(node, frozenset):
        return ["{", *sorted("".join(_text(part, known)) for part in node), "}"]
    if isinstance(node, Mapping):
        return [
            "{",
            *(p for pair in node.items() for part in pair for p in _text(part, known)),
            "}",
        ]
    if id(node) in known:
        return [f"#{known[id(node)]}"]
    if isinstance(node, typed.Recursive | typed.SequentialObject):  # the former contains itself
        known[id(node)] = len(known)
        return [type(node).__name__, *_text(tuple(vars(node).values()), known)]
    if not is_record(node) or isinstance(node, type):
        assert type(node).__repr__ is not object.__repr__, "an address determines nothing"
        return [repr(node)]
    parts = (getattr(node, field.name) for field in fields(node))
    pieces = [type(node).__name__, *(piece for part in parts for piece in _text(part, known))]
    if isinstance(node, typed.Protocol | typed.Interface):
        known[id(node)] = len(known)
    return pieces


@cache
def tool_digest() -> bytes:
    """Returns a digest of the installed tool: its sources, grammar and library, their versions,
    those of the packages that decide verdicts, of Python, and of the machine."""
    versions = {name: resources.installed_version(name) for name in _PACKAGES}
    about = (resources.version(), versions, sys.version, platform.machine(), platform.system())
    digest = hashlib.sha256(repr(about).encode())
    package = Path(resources.__file__).parent
    files = [*package.rglob("*.py"), resources.grammar(), *resources.interfaces().rglob("*.bcast")]
    for file in sorted(files):
        data = file.read_bytes()
        digest.update(f"{file.name} {len(data)} ".encode() + data)
    return digest.digest()


def _read(path: Path) -> Report | None:
    data = resources.load_cached(path)
    if data is None:
        return None
    try:
        return read(Report, json.loads(data))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
