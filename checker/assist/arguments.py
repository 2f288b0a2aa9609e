"""The arguments of the tools.  Unknown ones, and values of another type, are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from checker.assist.refusals import ARGUMENTS, TOOL, Refused

Path = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="A file below the root, or a file of the library: broadcast/eager_reliable",
    ),
]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_.]{0,99}(?![\s\S])")]
Value = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_+.,() >=-]{1,80}(?![\s\S])")]
Word = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}(?![\s\S])", description="As an answer has it")]
Settings = Annotated[
    dict[Name, Value],
    Meta(max_length=20, description="Clauses of the world: {'n': '4', 'crash': '2'}"),
]
_Names = Annotated[list[Name], Meta(max_length=40)]
_Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{12}(?![\s\S])")]


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a call: ``seconds`` of wall time, and ``states`` of a search."""

    seconds: Annotated[int, Meta(ge=1, le=50)]
    states: Annotated[int, Meta(ge=1, le=100_000_000)]


class Look(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Reads a spec and explores nothing: problems, checks with their worlds, properties with origin
    and digest, and what no check asks.  ``offset``: checks that are left out at the beginning."""

    path: Path
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


class Check(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Decides a check: every interleaving, crash and loss of the world that it declares.

    ``judge``: an interface of the library whose properties are asked, whatever the file says;
    ``baseline``: digests of ``look``, with which those of now are compared; ``resume``: continues
    the search of an earlier answer, whose other arguments are used.
    """

    path: Path
    check: Name
    budget: Budget
    set: Settings = {}
    only: _Names = []
    judge: Name | None = None
    baseline: Annotated[dict[Name, _Digest], Meta(max_length=200)] = {}
    resume: Word | None = None


class Prove(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Proves a check with z3: for runs of every length, with ``all_n`` for every number of
    processes."""

    path: Path
    check: Name
    budget: Budget
    method: Literal["auto", "invariants", "induction", "pdr"] = "auto"
    all_n: bool = False


class Simulate(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Takes random walks of a check: finds violations, and proves nothing.  ``after``: a scenario
    of the check."""

    path: Path
    check: Name
    budget: Budget
    seed: Annotated[int, Meta(ge=0, le=2**31)]
    walks: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    after: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}(?![\s\S])")] | None = None


class Run(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Shows a run that an answer names by its handle: its story, steps from ``step`` on, the
    ``state`` at a step, the ``next`` possible steps there, or ``why_not`` an event happens
    there."""

    handle: Word
    show: Literal["story", "steps", "state", "next", "why_not"]
    budget: Budget
    step: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    event: Annotated[str, Meta(pattern=r"^[ -~]{1,200}(?![\s\S])")] | None = None
    process: Name | None = None


class Log(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Decides whether a run of a check (``path`` and ``check``) explains the logs, or whether they
    satisfy the properties of an ``interface``."""

    logs: Annotated[list[Path], Meta(min_length=1, max_length=16)]
    budget: Budget
    path: Path | None = None
    check: Name | None = None
    interface: Name | None = None
    mapping: Path | None = None


class Mutate(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Changes a spec in small ways, and shows which changes its check does not notice."""

    path: Path
    check: Name
    budget: Budget


class Library(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Finds specs, interfaces and pages by words, or explains a ``code``; with ``kind`` and a whole
    name as the query it prints that one.  ``offset``: lines that are left out at the beginning;
    ``next`` of an answer has the call for the lines that follow."""

    query: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    code: Annotated[str, Meta(pattern=r"^[A-Z][0-9]{3}(?![\s\S])")] | None = None
    kind: Literal["spec", "interface", "page"] | None = None
    offset: Annotated[int, Meta(ge=0, le=1_000_000)] = 0


TOOLS: dict[str, type[Struct]] = {
    "look": Look,
    "check": Check,
    "prove": Prove,
    "simulate": Simulate,
    "run": Run,
    "log": Log,
    "mutate": Mutate,
    "library": Library,
}


def arguments_of(tool: str, given: Any) -> Struct:
    """Returns the arguments of a call; raises :class:`Refused` (A001, A006)."""
    if tool not in TOOLS:
        raise Refused(TOOL, "no such tool", f"the tools are {', '.join(TOOLS)}")
    try:
        return msgspec.convert({} if given is None else given, TOOLS[tool], strict=True)
    except (msgspec.ValidationError, ValueError, TypeError, OverflowError, RecursionError) as wrong:
        said = str(wrong).encode("ascii", "backslashreplace").decode()
        raise Refused(ARGUMENTS, said[:250], f"see the schema of `{tool}`") from None


def described(tool: str) -> str:
    """Returns what a tool does, in words."""
    return " ".join((TOOLS[tool].__doc__ or "").split()).replace("``", "`")


def schema_of(tool: str) -> dict[str, Any]:
    """Returns the JSON schema of the arguments of a tool."""
    return inlined(msgspec.json.schema(TOOLS[tool]))


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a schema whose root is a reference with an object at its root, without the titles and
    descriptions of objects."""
    name = schema["$ref"].rpartition("/")[2]
    kinds = {
        kind: {key: value for key, value in found.items() if key not in ("title", "description")}
        for kind, found in schema["$defs"].items()
    }
    root = kinds.pop(name)
    return {**root, "$defs": kinds} if kinds else root
