"""What may be written at a place: statements, items, clauses, names, properties that fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from checker.editor.declarations import Declaration, Names
from checker.editor.document import Document, Position
from checker.editor.reference import meanings
from checker.language.link_kinds import LINK_KINDS
from checker.language.parser.recover import enclosing_words
from checker.language.syntax import ast_items
from checker.language.syntax.verbs import verbs
from checker.results.verdict import HOLDS_WITHIN, Word

TOP = {
    "protocol": "protocol ${1:Name} {\n  $0\n}",
    "check": "check ${1:name} of ${2:Protocol} {\n  n = ${3:3}\n  $0\n}",
    "interface": "interface ${1:Name} {\n  $0\n}",
    "variant": "variant ${1:Name} of ${2:Original} {\n  $0\n}",
    "object": "object ${1:Name} {\n  $0\n}",
    "import": 'import "$0"',
    "type": "type ${1:Name} = $0",
    "const": "const ${1:NAME} = $0",
    "define": "define ${1:name}($2): ${3:bool} = $0",
}
MODULE = {
    "state": "state ${1:name} : ${2:set<Proc>} = $0",
    "stable state": "stable state ${1:name} : ${2:set<Proc>} = $0",
    "stable synced state": "stable synced state ${1:name} : ${2:set<Proc>} = $0",
    "shared state": "shared state ${1:name} : ${2:set<Proc>} = $0",
    "ghost state": "ghost state ${1:name} : ${2:set<Proc>} = $0",
    "message": "message ${1:NAME}($0)",
    "uses": "uses ${1:name} : $0",
    "role": "role ${1:name}(${2:n}) {\n  $0\n}",
    "init choose": "init choose $0",
    "upon request": "upon request ${1:name}($2) {\n  $0\n}",
    "upon receive": "upon receive ${1:MESSAGE}($2) from ${3:p} {\n  $0\n}",
    "upon condition": "upon condition ${1:true} {\n  $0\n}",
    "upon init": "upon init {\n  $0\n}",
    "upon timeout": "upon timeout {\n  $0\n}",
    "upon timeout of a key": "upon timeout ${1:timer}[${2:p}] {\n  $0\n}",
    "upon recover": "upon recover {\n  $0\n}",
    "upon disconnected": "upon disconnected ${1:p} {\n  $0\n}",
    "property": 'property ${1:name}\n  "$2" :\n  always $0',
    "invariant": "invariant ${1:name} : $0",
    "procedure": "procedure ${1:name}($2) {\n  $0\n}",
    "define": TOP["define"],
    "type": TOP["type"],
    "const": TOP["const"],
}
INTERFACE = {
    "request": "request ${1:name}($0)",
    "indication": "indication ${1:name}($0)",
    "properties": "properties $0",
    "property": MODULE["property"],
}
STATEMENT = {
    "send": "send ${1:MESSAGE}($2) to ${3:all}",
    "if": "if ${1:true} {\n  $0\n}",
    "for": "for ${1:x} in ${2:S} {\n  $0\n}",
    "while some": "while some ${1:x} in ${2:S} {\n  $0\n}",
    "choose": "choose ${1:x} in $0",
    "either": "either {\n  $1\n} or {\n  $0\n}",
    "either as": "either as ${1:works} {\n  $2\n} or as ${3:fails} {\n  $0\n}",
    "require": "require $0",
    "let": "let ${1:x} = $0",
    "var": "var ${1:x} = $0",
    "perform": "perform $0",
    "atomic": "atomic {\n  $0\n}",
    "sync": "sync ${1:v}",
    "sync else": "sync ${1:v} else {\n  $0\n}",
    "start": "start ${1:timer}",
    "start of a key": "start ${1:timer}[${2:p}]",
    "cancel": "cancel ${1:timer}",
    "yield": "yield",
    "await": "await $0",
    "skip": "skip",
}
CLAUSE = {
    "n": "n = ${1:3}",
    "faults": "faults ${1:crash <= 1}",
    "links": "links ${1:perfect}",
    "timing": "timing ${1:synchronous}",
    "detector": "detector ${1:P}",
    "given": "given ${1:layer} as ${2:oracle}",
    "crash points": "crash points between_handlers",
    "clients": "clients { ${1:p1} $0 }",
    "prove": "prove $0",
    "expect": "expect ${1:property} ${2:holds}",
    "allow unused": "allow unused",
    "mutant": "mutant ${1:without_it} {\n  without $2\n  expect ${3:property} violated\n}",
    "at most": "at most ${1:1} $0",
    "fair": "fair $0",
    "strongly fair": "strongly fair $0",
    "bound": "bound $0",
    "view": "view $0",
    "for all": "for all n, f when $0",
    "scenario": "scenario ${1:name} {\n  $0\n}",
    "property": MODULE["property"],
}
FAULTS = (
    *("crash <= 1", "omission <= 1", "byzantine <= f", "partition", "pause", "recover"),
    *("cut <= 1", "cut <= 1 of Proc -> Proc", "power <= 1", "wipe <= 1", "sync <= 1", "reset <= 1"),
)
TIMINGS = ("asynchronous", "synchronous", "partial", "clocks drift 1", "clocks drift 1 until 10")
DETECTORS = ("P", "S", "Omega", "eventually P", "eventually S")
TYPES = ("bool", "Nat", "Proc", "Msg", "set<", "seq<", "bag<", "map<", "option<", "enum", "record")
EXPRESSION = tuple(
    "self now true false none some and or not in forall exists if union intersect minus subset"
    " received get is_some head tail last subsets min max rank".split()
)
FORMULA = (
    "always",
    "eventually",
    "initially",
    "correct",
    "crashed",
    "faulty",
    "before",
    "repeated",
)


class Proposal(Struct, frozen=True):
    """Something that may be written: ``kind`` is that of a declaration, ``word`` or ``snippet``
    (then ``insert`` has places to fill in, as of the Language Server Protocol)."""

    label: str
    kind: str
    detail: str = ""
    insert: str = ""
    document: str = ""


def complete(document: Document, place: Position) -> list[Proposal]:
    """Returns what may be written at ``place``, each label once, what fits best first."""
    before = "\n".join(
        [*document.lines[: place.line - 1], document.lines[place.line - 1][: place.column - 1]]
    )
    found: dict[str, Proposal] = {}
    for each in _proposals(document, place, before):
        found.setdefault(each.label, each)
    return [*found.values()]


def _proposals(document: Document, place: Position, before: str) -> Iterator[Proposal]:
    opened = enclosing_words(before)
    line = before.rpartition("\n")[2]
    head = re.sub(r"[A-Za-z_]\w*'*$", "", line)
    if "//" in line or line.count('"') % 2:
        return
    item = next((word for word in opened if word in _MODULES), "")
    if not opened:
        yield from _at_top(document, head)
    elif item == "check":
        yield from _in_check(document, place, opened, head, before)
    else:
        yield from _in_module(document, place, opened, head, before)


_MODULES = ("protocol", "variant", "interface", "object", "check")


def _at_top(document: Document, head: str) -> Iterator[Proposal]:
    top = document.visible.top
    if re.search(r"\bof\s+$", head):
        yield from _named(top, ("protocol", "variant"))
    elif re.search(r"\bimplements\s+$", head):
        yield from _named(top, ("interface",))
    elif head.strip():
        yield from _words(("implements", "requires", "of"))
    else:
        yield from _snippets(TOP)


def _in_module(
    document: Document, place: Position, opened: list[str], head: str, before: str
) -> Iterator[Proposal]:
    names = _names_around(document, place, before)
    layer = re.search(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\.$", head)
    handler = any(word in ("upon", "procedure", "operation") for word in opened)
    if layer is not None:
        yield from _members(
            document, names, layer[1], "indication" if "upon" in head else "request"
        )
    elif re.search(r"\buses\s+\w+(\[.*\])?\s*:\s*$", head):
        yield from _named(document.visible.top, ("interface", "protocol", "variant"))
    elif re.search(r"\bupon\s+receive\s+$|\bsend\s+$|received\(\s*$", head):
        yield from _of_kinds(names, ("message",))
    elif re.search(r"\bupon\s+request\s+$", head):
        yield from _of_kinds(names, ("request",))
    elif re.search(r"\bupon\s+$", head):
        events = "request receive condition init timeout recover disconnected"
        yield from _words(tuple(events.split()))
        yield from _of_kinds(names, ("layer",))
    elif re.search(r"\brole\s+\w+\(.*\)\s*$", head):
        yield from _words(("dies with",))
    elif re.search(r"\bdies\s+with\s+$", head):
        yield from _of_kinds(names, ("role",))
    elif re.search(r"\bto\s+$", head):
        yield from _words(("all",))
        yield from _of_kinds(names, ("role", "local", "state"))
    elif re.search(r"[^:]:\s*$|<\s*$", head) and not re.search(r"forall|exists|property", head):
        yield from _words(TYPES)
        yield from _named(document.visible.top, ("type",))
        yield from _of_kinds(names, ("type", "role"))
    elif not head.strip() and not handler:
        yield from _snippets(INTERFACE if opened[0] in ("interface", "object") else MODULE)
    else:
        if not head.strip() or head.rstrip().endswith("{"):
            yield from _snippets(STATEMENT)
            yield from _of_kinds(names, ("indication",))
        hidden = ("property", "invariant") if handler else ()
        visible = (each for each in names.every().values() if each.kind not in hidden)
        yield from map(_proposal, visible)
        yield from _words((*EXPRESSION, *FORMULA) if not handler else EXPRESSION)


def _in_check(
    document: Document, place: Position, opened: list[str], head: str, before: str
) -> Iterator[Proposal]:
    names = _names_around(document, place, before)
    word = (re.findall(r"[A-Za-z_]\w*", head) or [""])[0]
    if opened[-1] == "clients":
        if re.search(r"\b(p\d+|each|all)\s+$", head):
            for each in names.every().values():
                if each.kind == "request":
                    yield Proposal(verbs(each.name)[0], "request", each.name)
        else:
            yield from _words(("p1", "p2", "p3", "each", "all"))
    elif word in ("prove", "expect", "then"):
        yield from _asked(document, names, head, word)
    elif word == "at":
        yield from _of_kinds(names, ("handler",))
    elif word in _WORLD:
        yield from _words(_WORLD[word])
    elif word == "given":
        yield from _of_kinds(names, ("layer",))
        yield from _words(("oracle",))
        yield from _named(document.visible.top, ("protocol", "variant"))
    elif not head.strip():
        yield from _snippets(CLAUSE)
        for each in names.every().values():
            if each.kind == "parameter":
                yield Proposal(each.name, "parameter", "", f"{each.name} = $0")
    else:
        yield from (_proposal(each) for each in names.every().values())
        yield from _words((*FORMULA, *EXPRESSION))


_WORLD: dict[str, tuple[str, ...]] = {
    "faults": FAULTS,
    "links": tuple(LINK_KINDS),
    "timing": TIMINGS,
    "detector": DETECTORS,
    "crash": ("points", "between_handlers", "inside"),
    "allow": ("unused",),
}


def _asked(document: Document, names: Names, head: str, word: str) -> Iterator[Proposal]:
    """Proposes properties: those of the protocol and its interface, and then any other's that
    speaks of operations that it has."""
    if word == "expect" and re.search(r"\sviolated\s+$", head):
        yield Proposal("without", "keyword", "", 'without "$1"')
        return
    if word != "prove" and re.search(r"(expect|then)\s+\S+\s+$", head):
        yield from _words((Word.HOLDS.value, Word.VIOLATED.value, Word.VACUOUS.value, HOLDS_WITHIN))
        return
    yield from _of_kinds(names, ("property", "invariant"))
    operations = {n for n, d in names.every().items() if d.kind in ("request", "indication")}
    for item in document.visible.items():
        if isinstance(item, ast_items.Interface):
            own = {i.name.text for i in item.items if isinstance(i, ast_items.OperatorDecl)}
            if own and own <= operations:
                yield from _named(document.visible.names(item.name.text), ("property",))
    if word == "expect":
        yield from _words(("states", "trace", "depth"))


def _names_around(document: Document, place: Position, before: str) -> Names:
    """Returns the names that are visible at ``place``, also where its item can't be parsed."""
    headers = re.findall(
        r"^\s*(protocol|variant|interface|object|check)\s+(\w+)(?:\s+of\s+(\w+))?",
        before,
        re.MULTILINE,
    )
    if not headers:
        return Names()
    kind, name, of = headers[-1]
    names = document.visible.names(of if kind == "check" else name)
    if not names.of and of:
        names = document.visible.names(of)
    role = re.findall(r"^\s+role\s+(\w+)", before, re.MULTILINE)
    inner = names.role(role[-1]) if role else None
    around = Names(_locals(document, place), {}, [*([inner] if inner else []), names])
    return around


def _locals(document: Document, place: Position) -> dict[str, Declaration]:
    """Returns the local names of the handler or formula at ``place``, as far as it is parsed."""
    item = document.item_at(place)
    inner = (
        next((i for i in getattr(item, "items", ()) if place.is_in(getattr(i, "span", i))), item)
        if item is not None
        else None
    )
    span = getattr(inner, "span", None)
    if span is None:
        return {}
    return {
        each.of.name: each.of
        for each in document.occurrences
        if each.is_declaration
        and each.of.kind == "local"
        and Position(each.span.line, each.span.column).is_in(span)
    }


def _members(document: Document, names: Names, layer: str, kind: str) -> Iterator[Proposal]:
    declared = names.find_anywhere(layer)
    if declared is not None and declared.kind == "layer":
        of = next(
            (
                inner.of.text
                for item in document.visible.items()
                for inner in getattr(item, "items", ())
                if isinstance(inner, ast_items.Uses) and inner.name.span == declared.span
            ),
            "",
        )
        yield from _of_kinds(document.visible.names(of), (kind,))
    else:
        states = (d for d in names.every().values() if d.kind.endswith("state"))
        yield from map(_proposal, states)


def _named(names: Names, kinds: tuple[str, ...]) -> Iterator[Proposal]:
    yield from (_proposal(each) for each in names.of.values() if each.kind in kinds)


def _of_kinds(names: Names, kinds: tuple[str, ...]) -> Iterator[Proposal]:
    for each in names.every().values():
        if each.kind in kinds or each.kind.split()[-1] in kinds:
            yield _proposal(each)


def _proposal(declared: Declaration) -> Proposal:
    return Proposal(declared.name, declared.kind, declared.kind, "", declared.document)


def _words(words: tuple[str, ...]) -> Iterator[Proposal]:
    for word in words:
        yield Proposal(word, "word", "", "", meanings().get(word, ""))


def _snippets(snippets: dict[str, str]) -> Iterator[Proposal]:
    for label, insert in snippets.items():
        yield Proposal(label, "snippet", "", insert, meanings().get(label, ""))
