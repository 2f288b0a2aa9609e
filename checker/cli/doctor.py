"""``bivalence doctor``: tests whether all requirements are installed, and how to get them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.cluster_options import CONF, MASTER, conf_of
from checker.cli.doctor_cluster import Finding, on_cluster, on_own_cluster
from checker.records import replace

if TYPE_CHECKING:
    from checker.model.ir import TransitionSystem

PACKAGES = (
    ("click", "the command line"),
    ("lark", "reading specs"),
    ("rich", "text views"),
    ("llvmlite", "the native engine"),
    ("z3-solver", "proofs"),
)
"""Packages, and their purposes."""


@click.command()
@MASTER
@CONF
@click.option(
    "--cluster", "own", is_flag=True, help="Start a small Spark cluster here, and test it."
)
def doctor(master: str | None, conf: tuple[str, ...], own: bool) -> int:
    """Test the installation.

    Tests Python, packages, the native engine, the cache, cores and memory, Spark and Java, and
    reports how to install missing parts. With --master, also tests the executors of that cluster.
    With --cluster, starts a master and two workers on this machine, runs a check on them, and ends
    them.
    """
    if own and master is not None:
        raise click.UsageError("--cluster starts its own master, so it excludes --master")
    if conf and master is None:
        raise click.UsageError("--conf needs --master")
    more = on_own_cluster() if own else on_cluster(master, conf_of(conf))
    failed = False
    for finding in chain(findings(), more):
        mark = "ok" if finding.good else "MISSING" if finding.needed else "absent"
        console.print_line(f"{mark:<8} {finding.what}: {finding.said}")
        if not finding.good and finding.remedy:
            console.print_line(f"{'':<8} -> {finding.remedy}")
        failed = failed or (finding.needed and not finding.good)
    console.print_line(
        "something required is missing" if failed else "everything required is present"
    )
    return 1 if failed else 0


def findings() -> Iterator[Finding]:
    """Yields all test results, in order."""
    from checker.diagnostics.packages import OF_ARROW
    from checker.resources import install_command, version

    yield Finding("bivalence", True, version())
    new = sys.version_info >= (3, 11)
    yield Finding("python", new, platform.python_version(), "Python 3.11 or later is required")
    for package in PACKAGES:
        yield _package(*package)
    remedy = install_command("arrow")
    for name in OF_ARROW:
        yield replace(_package(name, "audits, tables and checkpoints"), remedy=remedy, needed=False)
    yield _engine()
    yield _cache()
    yield Finding("cores", True, str(cores()))
    yield Finding("memory", True, _memory())
    yield from _spark()
    yield from _extensions()


def _package(name: str, purpose: str) -> Finding:
    from checker.resources import installed_version

    found = installed_version(name)
    if found is None:
        return Finding(name, False, f"not installed ({purpose})", f"pip install {name}")
    return Finding(name, True, f"{found} ({purpose})")


def _spark() -> Iterator[Finding]:
    """Tests PySpark and its Java, which only runs on more than one machine need."""
    from checker.diagnostics import SpecError
    from checker.engines.spark.java import find_java, install_command

    found = _package("pyspark", "many machines")
    yield replace(found, remedy=install_command(), needed=False)
    try:
        yield Finding("java", True, f"{find_java()} (many machines)")
    except SpecError as problem:
        wrong = problem.diagnostics[0]
        yield Finding("java", False, wrong.message, wrong.hint, needed=False)


def _extensions() -> Iterator[Finding]:
    """Tests the engines and exports that other distributions declare."""
    from checker.diagnostics import SpecError
    from checker.engines.registry import engine_of
    from checker.extensions.tables import ENGINES, EXPORTS
    from checker.formats.exports import function_of

    for registry, find in ((ENGINES, engine_of), (EXPORTS, function_of)):
        try:
            for origin in registry.outside():
                what = f"{registry.kind} {origin.name}"
                try:
                    registry.require_unclaimed(origin.name)
                    find(origin.name)
                    yield Finding(what, True, str(origin))
                except SpecError as problem:
                    wrong = problem.diagnostics[0]
                    yield Finding(what, False, wrong.message, wrong.hint, needed=False)
        except SpecError as problem:
            yield Finding(f"{registry.kind}s", False, str(problem), needed=False)


def _engine() -> Finding:
    """Tests whether the native engine compiles a small counter, and agrees with the interpreter."""
    import importlib

    from checker.engines.reference import engine as reference
    from checker.results.answer import Limits

    what, remedy = "native engine", "until it works: `bivalence check --engine reference`"
    try:
        native = importlib.import_module("checker.engines.native.engine")
        system = _counter()
        found = native.explore(system, Limits()).distinct_states
        wanted = reference.explore(system, Limits()).distinct_states
    except Exception as problem:
        return Finding(what, False, f"{type(problem).__name__}: {problem}", remedy)
    if found != wanted:
        return Finding(what, False, f"finds {found} states instead of {wanted}", remedy)
    return Finding(what, True, "compiles and agrees with the interpreter")


def _counter() -> TransitionSystem:
    from checker.model import ir
    from checker.model.types import BOOL, IntT

    number = IntT(0, 3)
    read, one = ir.Read(number, "x"), ir.Const(IntT(1, 1), 1)
    more = ir.Apply(IntT(1, 4), ir.Op.ADD, (read, one))
    below = ir.Apply(BOOL, ir.Op.LT, (read, ir.Const(IntT(3, 3), 3)))
    step = ir.Assign(ir.Target(number, "x", True), more)
    action = ir.Action("count", ir.ActionKind.STEP, (), below, (step,), ir.TRUE)
    variable = ir.Variable("x", number, 0, ir.VariableKind.SHARED)
    return ir.TransitionSystem("counter", ("p1",), (variable,), (), (action,), (), (), ())


def _cache() -> Finding:
    """Tests whether machine code can be cached between runs."""
    from checker import resources

    folder = resources.cache_folder()
    for refused, why in resources.take_refused_folders().items():
        said = f"{refused} is not used: {why}"
        return Finding("cache", False, said, "delete it: the tool recreates it", needed=False)
    if folder is None:
        said = "no cache folder, so every run compiles again"
        return Finding("cache", False, said, "set XDG_CACHE_HOME to a folder", needed=False)
    existing = next(f for f in (folder, *folder.parents) if f.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Finding("cache", True, f"{folder} is writable")
    said = f"{folder} is not writable, so every run compiles again"
    remedy = "make it writable, or set XDG_CACHE_HOME to a folder that is"
    return Finding("cache", False, said, remedy, needed=False)


def cores() -> int:
    """Returns the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE")
        total, free = (size * os.sysconf(n) for n in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / (1 << 30):.1f} GiB, {free / (1 << 30):.1f} GiB of it free now"
