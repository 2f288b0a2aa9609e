"""The answer of every tool, and its limits."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from checker.assist.arguments import inlined
from checker.records import replace

Outcome = Literal[
    "unusable", "error", "violated", "vacuous", "unknown", "pending", "bounded", "within", "holds",
    "proved", "shown",
]  # fmt: skip
WORST = Outcome.__args__  # type: ignore[attr-defined]
"""All outcomes, the worst first; ``shown``: nothing was to be decided."""
SUCCESSES = WORST[WORST.index("pending") + 1 : WORST.index("shown")]
"""The outcomes of checks without a violation or error."""
COMPLETE = WORST[WORST.index("holds") : WORST.index("shown")]
"""The successes about all runs of the world."""
LARGEST = 8_000
"""The largest size of an answer as JSON, in bytes."""
ROOM = LARGEST - 2_500
"""The most bytes of a page of lines or checks as JSON: the rest of its answer needs room, too."""
TEXT = 1_000
"""The largest size of its text."""
LONGEST = 300
"""The largest length of a string in an answer, except for the claim."""
CLAIM = 900
"""The largest length of the claim."""
MOST = {"verdicts": 12, "not_asked": 3, "next": 3, "problems": 6, "checks": 12, "lines": 40}
"""The largest number of items of each list."""


class Verdict(Struct, frozen=True):
    """The verdict on a property.  ``origin``: the file or library that declares it; ``shadows``:
    the library interface that has a property of the same name; ``run``: the handle of a run."""

    property: str
    verdict: str
    expected: str = ""
    why: str = ""
    origin: str = ""
    shadows: str = ""
    run: str | None = None


class World(Struct, frozen=True):
    """The world of the verdicts.  ``n``: the number of processes, unless there are several such
    numbers; ``honest``: no fault is possible in it."""

    text: str
    n: int | None
    honest: bool


class Unasked(Struct, frozen=True):
    """A fault that no check of the file asks about; ``because``: why the file leaves it out."""

    what: str
    because: str
    clause: str


class Shown(Struct, frozen=True):
    """A run.  ``story``: the run in sentences; ``essential``: the steps without any one of which
    the property holds; ``file`` and ``line``: the place of the property."""

    handle: str
    steps: int
    story: tuple[str, ...]
    essential: tuple[str, ...]
    file: str
    line: int | None


class Growth(Struct, frozen=True):
    """The variable ``name`` multiplies the number of states by ``factor``."""

    name: str
    factor: float


class Search(Struct, frozen=True):
    """How far the search came; ``stopped``: why it ended before all was explored."""

    states: int
    depth: int
    exhaustive: bool
    stopped: str
    seconds: float
    grows: tuple[Growth, ...] = ()


class Next(Struct, frozen=True):
    """A suggested call, and the reason for it."""

    tool: str
    arguments: dict[str, Any]
    because: str


class Problem(Struct, frozen=True):
    """A diagnostic of a spec, or the reason why a call was refused (codes ``A…``)."""

    code: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    hint: str = ""


class Declared(Struct, frozen=True):
    """The declaration of a check.  ``digests``: those of its properties, by name, and of its
    world."""

    check: str
    protocol: str
    world: str
    properties: tuple[str, ...]
    origins: tuple[str, ...]
    digests: dict[str, str]


class Answer(Struct, frozen=True):
    """The result of a tool.

    ``outcome`` is the worst verdict, whether it was expected or not; ``as_expected``: whether every
    expectation was met.  ``claim`` states the verdicts together with their world, and is true on
    its own.  ``left_out``: the number of items that were cut from each list.
    """

    outcome: Outcome
    claim: str
    schema: Literal["bivalence:answer:1"] = "bivalence:answer:1"
    as_expected: bool | None = None
    verdicts: tuple[Verdict, ...] = ()
    world: World | None = None
    not_asked: tuple[Unasked, ...] = ()
    run: Shown | None = None
    search: Search | None = None
    next: tuple[Next, ...] = ()
    resume: str | None = None
    problems: tuple[Problem, ...] = ()
    checks: tuple[Declared, ...] = ()
    lines: tuple[str, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


def schema() -> dict[str, Any]:
    """Returns the JSON schema of an answer."""
    found: dict[str, Any] = _without_words(inlined(msgspec.json.schema(Answer)))
    return found


def _without_words(node: Any) -> Any:
    """Returns a schema without titles, descriptions and defaults: every tool publishes it."""
    match node:
        case dict():
            kept = {k: v for k, v in node.items() if k not in ("title", "description", "default")}
            return {key: _without_words(value) for key, value in kept.items()}
        case list():
            return [_without_words(each) for each in node]
    return node


def worst(outcomes: list[str]) -> Any:
    """Returns the worst of ``outcomes``, and ``unknown`` for an empty list."""
    return min(outcomes, key=WORST.index, default="unknown")


def fitted(answer: Answer) -> dict[str, Any]:
    """Returns ``answer`` as JSON data, cut to the limits of this module."""
    left = dict(answer.left_out)
    kept = {name: getattr(answer, name) for name in MOST}
    for name, most in MOST.items():
        _cut(kept, left, name, most)
    while True:
        found = _short(msgspec.to_builtins(replace(answer, **kept, left_out=left)))
        if len(msgspec.json.encode(found)) <= LARGEST:
            assert isinstance(found, dict)
            return found
        longest = max(MOST, key=lambda name: len(msgspec.json.encode(kept[name])))
        _cut(kept, left, longest, len(kept[longest]) - 1)


def wrapped(line: str) -> list[str]:
    """Returns a line of text in parts that answers show whole."""
    return [line[i : i + LONGEST] for i in range(0, len(line), LONGEST)]


def _cut(kept: dict[str, Any], left: dict[str, int], name: str, most: int) -> None:
    over = len(kept[name]) - most
    if over > 0:
        kept[name] = kept[name][:most]
        left[name] = left.get(name, 0) + over


def _short(node: Any, most: int = LONGEST) -> Any:
    """Returns JSON data with long strings cut and unprintable characters replaced."""
    match node:
        case str():
            return node if node.isprintable() and len(node) <= most else _plain(node, most)
        case dict():
            return {
                _short(key): _short(value, CLAIM if key == "claim" else LONGEST)
                for key, value in node.items()
            }
        case list() | tuple():
            return [_short(each) for each in node]
    return node


def _plain(text: str, most: int) -> str:
    def visible(sign: str) -> str:
        return (
            sign if sign.isprintable() else " " if sign.isspace() else "\N{REPLACEMENT CHARACTER}"
        )

    said = "".join(map(visible, text))
    return said if len(said) <= most else f"{said[: most - 1]}…"


def text_of(found: dict[str, Any]) -> str:
    """Returns the text of an answer: its claim, and a line for each verdict and problem."""
    lines = [f"{found['outcome']}: {found['claim']}"]
    lines += [f"{v['property']}: {v['verdict']} ({v['origin']})" for v in found["verdicts"]]
    lines += [
        f"{p['code']}: {p['message']}" + (f"; {p['hint']}" if p["hint"] else "")
        for p in found["problems"]
    ]
    said = "\n".join(lines).encode()[:TEXT]
    return said.decode(errors="ignore")
