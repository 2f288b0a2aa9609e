"""Probes whether the executors have what a run needs, before anything depends on it."""

from __future__ import annotations

import json
import platform
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.spark import masters
from checker.engines.spark.failures import failure_of, root_cause
from checker.engines.spark.session import Session
from checker.engines.spark.slots import no_executor
from checker.resources import installed_version

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.run_folder import RunFolder

PACKAGES = {"checker": "bivalence", "llvmlite": "llvmlite", "pyarrow": "pyarrow"}
"""The packages that executors need: the import name, and the name of the distribution."""

TOGETHER = 0.5
"""The least seconds of each task, so that they are spread over the executors."""

SAME_PYTHON = "set the Python to use with --conf spark.pyspark.python=PATH"
SAME_SERVER = "the Spark Connect server was started with another Python (PYSPARK_PYTHON)"


class Seen(Struct, frozen=True):
    """The findings of one task: its machine, its Python, the versions of the packages (an empty one
    where there is none), and what is wrong with the run's folder (``None``: nothing).
    """

    host: str
    python: str
    executable: str
    versions: dict[str, str] = field(default_factory=dict)
    folder: str | None = None


def require(session: Session, folder: RunFolder | None = None) -> tuple[Seen, ...]:
    """Returns the findings of tasks in all slots; raises :class:`SpecError` (E024, E026 to E029)
    where a requirement of the run is not met, after ``session.patience`` seconds at most.
    """
    seen = probe_executors(session, folder)
    problems = compare_executors(seen, probe_here(), session.connect)
    if problems:
        raise SpecError(problems)
    return seen


def require_elsewhere(session: Session, folder: RunFolder | None = None) -> None:
    """Probes as :func:`require` does, where the executors may differ from this process: not where
    they are started by it, with its own Python.
    """
    if masters.is_local(session.master) and session.own_python:
        return
    require(session, folder)


def probe_here() -> Seen:
    """Probes this process itself."""
    return Seen(platform.node(), platform.python_version(), sys.executable, _versions())


def _versions() -> dict[str, str]:
    return {name: installed_version(package) or "" for name, package in PACKAGES.items()}


def probe_executors(session: Session, folder: RunFolder | None = None) -> tuple[Seen, ...]:
    """Returns the findings of tasks in all slots, as far as possible: see :func:`require`."""
    from pyspark import cloudpickle

    token = f"probe-{secrets.token_hex(8)}"
    place = None
    if folder is not None:
        dumps: Any = cloudpickle.dumps
        folder.place.write(token, token.encode())
        place = dumps(folder.place)
    task = by_value(make_probe(dict(PACKAGES), place, token, TOGETHER, arrow=session.connect))
    slots = max(session.slots, 1)

    def ask() -> list[Any]:
        if not session.connect:
            return session.in_tasks(task, slots)
        numbers = session.spark.range(0, slots, 1, slots)
        return [row[0] for row in numbers.mapInArrow(task, "seen string").collect()]

    began = time.monotonic()
    try:
        rows = session.run(ask, session.patience)
    except TimeoutError:
        raise no_executor(session.master, time.monotonic() - began) from None
    except Exception as problem:
        raise probe_failure(problem, session) from None
    finally:
        answers = _collect_answers(folder, token)
    found = [json.loads(row) for row in rows]
    return tuple(_judge_answer(one, folder, answers) for one in found)


def _collect_answers(folder: RunFolder | None, token: str) -> set[str]:
    """Returns the files with which tasks have answered; removes them and the query."""
    if folder is None:
        return set()
    answers = {name for name in folder.place.files() if name.startswith(token)}
    for name in answers:
        folder.place.delete(name)
    return answers


def _judge_answer(one: dict[str, Any], folder: RunFolder | None, answers: set[str]) -> Seen:
    wrong = one.pop("wrong")
    answer = one.pop("answer")
    asked = folder is not None and bool(one["versions"]["checker"])
    if asked and wrong is None and answer not in answers:
        wrong = "the driver can't see its files"
    return Seen(**one, folder=wrong)


def make_probe(
    packages: dict[str, str], place: bytes | None, token: str, least: float, *, arrow: bool
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns the probe: a task that imports nothing of this tool where it runs, and yields JSON,
    in batches of Arrow if ``arrow``."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib.metadata
        import json
        import pickle
        import platform
        import secrets
        import sys
        import time

        began = time.monotonic()
        for _ in batches:
            pass
        versions = {}
        for name, package in packages.items():
            try:
                versions[name] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                versions[name] = ""
        wrong, answer = None, f"{token}-{secrets.token_hex(8)}"
        if place is not None and versions["checker"]:
            try:
                shared = pickle.loads(place)
                if shared.read(token) is None:
                    wrong = "it can't see the driver's files"
                else:
                    shared.write(answer, b"here")
            except Exception as problem:
                wrong = f"{type(problem).__name__}: {problem}"
        time.sleep(max(0.0, least - (time.monotonic() - began)))
        seen = {
            "host": platform.node(),
            "python": platform.python_version(),
            "executable": sys.executable,
            "versions": versions,
            "wrong": wrong,
            "answer": answer,
        }
        said = json.dumps(seen)
        if not arrow:
            yield said
            return
        import pyarrow

        yield pyarrow.record_batch([pyarrow.array([said])], names=["seen"])

    return run


def by_value(task: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """Returns ``task`` with a pickle that holds its code, instead of the name of this module, which
    the receiver may not have.
    """
    from types import FunctionType

    assert isinstance(task, FunctionType)
    alone = FunctionType(
        task.__code__, {"__builtins__": __builtins__}, task.__name__, None, task.__closure__
    )
    alone.__module__ = "__main__"
    return alone


# ---- diagnostics ------------------------------------------------------------------------------


def compare_executors(
    seen: Sequence[Seen], mine: Seen, connect: bool = False
) -> tuple[Diagnostic, ...]:
    """Returns one diagnostic for each requirement of a run that executors don't meet."""
    problems: list[Diagnostic] = []
    others = [one for one in seen if _minor(one.python) != _minor(mine.python)]
    if others:
        problems.append(_other_python(others[0], mine, connect))
    missing = [
        (package, one)
        for name, package in PACKAGES.items()
        for one in seen
        if not one.versions.get(name)
    ]
    differ = [one for one in seen if one.versions.get("checker") != mine.versions["checker"]]
    if missing:
        problems.append(_missing(*missing[0]))
    elif differ:
        problems.append(_differs(differ[0], mine))
    lost = [one for one in seen if one.folder is not None]
    if lost:
        message = f"the run folder is not shared with {lost[0].host}: {lost[0].folder}"
        hint = "use --checkpoint with a folder that all machines share, or a URI (hdfs://…, s3://…)"
        problems.append(Diagnostic("E028", message, hint=hint))
    return tuple(problems)


def _minor(python: str) -> list[str]:
    return python.split(".")[:2]


def _other_python(one: Seen, mine: Seen, connect: bool) -> Diagnostic:
    message = (
        f"{one.host} runs Python {one.python} ({one.executable}), and this machine Python"
        f" {mine.python}"
    )
    return Diagnostic("E026", message, hint=SAME_SERVER if connect else SAME_PYTHON)


def _missing(package: str, one: Seen) -> Diagnostic:
    message = f"{one.host} lacks the package {package} ({one.executable})"
    hint = f"run `pip install bivalence` there; or {SAME_PYTHON}"
    return Diagnostic("E027", message, hint=hint)


def _differs(one: Seen, mine: Seen) -> Diagnostic:
    theirs, ours = one.versions["checker"], mine.versions["checker"]
    message = f"{one.host} has bivalence {theirs} ({one.executable}), and this machine {ours}"
    return Diagnostic("E027", message, hint=f"run `pip install bivalence=={ours}` there")


def probe_failure(problem: Exception, session: Session) -> SpecError:
    """Returns the diagnostic for a probe that Spark could not run, with Spark's own message."""
    text, why = str(problem), root_cause(problem)
    hint = SAME_SERVER if session.connect else SAME_PYTHON
    program = re.search(r'Cannot run program "([^"]*)"', text)
    if program is not None:
        message = f"the executors can't start Python: {program[1]} is missing there"
        return SpecError((Diagnostic("E026", message, hint=hint),))
    versions = re.search(r"Python in worker has different version: (\S+) than .*?: (\S+?),", text)
    if versions is not None:
        message = f"the executors run Python {versions[1]}, and this machine Python {versions[2]}"
        return SpecError((Diagnostic("E026", message, hint=hint),))
    if "Error from python worker" in text:
        message = f"the executors' Python does not start: {why}"
        return SpecError((Diagnostic("E026", message, hint=hint),))
    if "No module named" in text:
        message = f"the executors lack a package: {why}"
        return SpecError(
            (Diagnostic("E027", message, hint=f"run `pip install bivalence` there; {hint}"),)
        )
    return failure_of(problem, session.log, "a first small job on Spark failed")
