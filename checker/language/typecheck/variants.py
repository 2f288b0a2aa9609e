"""Makes protocols of variants: the items of the original with those of the variant in their places.

An item of a variant replaces what the original calls by the same name, or its handler of the same
event; ``without`` removes; all else is added.  Then single statements and expressions are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Span
from checker.language.syntax import ast, ast_items, typed
from checker.language.syntax.walk import relocate
from checker.language.typecheck.edits import Editing, Edits, Lines
from checker.language.typecheck.scope import Reporter, suggestion
from checker.records import replace

Find = Callable[[ast.Name], ast_items.Protocol | ast_items.Variant | None]
"""Returns what a name stands for; ``None`` where nothing does, which is reported."""
_Written = ast_items.Handler | ast_items.WithoutHandler | ast_items.HandlerHead

_WORDS = {"WithoutName": "", "InitChoice": "init choose", "PropertyDecl": "property"}
"""What a kind of item begins with, where that is not the name of its class."""


def expand(
    decl: ast_items.Variant,
    find: Find,
    report: Reporter,
    lines_at: Lines,
    users: tuple[str, ...] = (),
) -> tuple[ast_items.Protocol, typed.Variant] | None:
    """Returns the protocol that ``decl`` stands for, and how it differs from its original; ``None``
    where there is none, which is reported.

    ``lines_at``: the text at a place; ``users``: the variants that are made of this one.
    """
    chain = (*users, decl.name.text)
    if decl.of.text in chain:
        if decl.of.text == min(chain) == chain[0]:  # reported once, of the first in the alphabet
            circle = " of ".join(f"`{name}`" for name in (*chain, chain[0]))
            report.add("N015", f"cyclic variants: {circle}", decl.of.span)
        return None
    original, base = find(decl.of), None
    if isinstance(original, ast_items.Variant):
        made = expand(original, find, report, lines_at, chain)
        original, base = made or (None, None)
    if original is None:
        return None
    merging = _Merging(decl.of.text, report, lines_at)
    old = (*original.parameters, *original.items)
    items = merging.merge(old, (*decl.parameters, *decl.items), "")
    requires = merging.requires(original, decl)
    if not merging.failed:
        merging.require_effect(decl, old)
    if merging.failed:
        return None
    protocol = ast_items.Protocol(
        decl.name,
        tuple(i for i in items if isinstance(i, ast_items.Parameter)),
        original.implements,
        requires,
        tuple(i for i in items if not isinstance(i, ast_items.Parameter)),
        decl.span,
    )
    return protocol, typed.Variant(decl.of.text, tuple(merging.changes), base)


def describe(variant: typed.Variant) -> str:
    """Returns the difference in one line: ``variant of Raft: replaces state voted``."""
    groups: dict[str, list[str]] = {"replaces": [], "removes": [], "adds": []}
    for change in variant.changes:
        groups[change.kind].append(change.what)
    said = [f"{kind} {', '.join(dict.fromkeys(what))}" for kind, what in groups.items() if what]
    if variant.base is not None:
        said.append(f"`{variant.of}` is a {describe(variant.base)}")
    return f"variant of {variant.of}: {'; '.join(said)}"


class _Merging(Struct):
    """The items of one variant put into those of ``original``, with all that this changes."""

    original: str
    report: Reporter
    lines_at: Lines
    changes: list[typed.Change] = field(default_factory=list)
    failed: bool = False

    def merge(self, old: Sequence[Any], new: Sequence[Any], role: str) -> list[Any]:
        """Returns the items ``old``, of the protocol or of its ``role``, changed by ``new``."""
        places: dict[int, list[Any]] = {number: [item] for number, item in enumerate(old)}
        gone = {number for item in new for number in self._removed(item, old, role)}
        places.update({number: [] for number in gone})
        touched: set[int] = set()
        for item in new:
            if isinstance(item, ast_items.Without | Edits):
                continue
            number = self._place(item, old, gone, role)
            if number is None:
                places[len(places)] = [self._added(item)]
                self._change("adds", item, role, None, item)
                continue
            if number not in touched:
                places[number] = []
            touched.add(number)
            places[number] += self._replaced(old[number], item, role)
        for number in sorted(gone - touched):
            self._change("removes", old[number], role, old[number], None)
        made = [item for number in sorted(places) for item in places[number] if item is not None]
        return self._edited(made, [item for item in new if isinstance(item, Edits)], role)

    def _edited(self, items: list[Any], edits: list[Any], role: str) -> list[Any]:
        """Returns ``items`` with the changes of single statements and expressions."""
        where = f"the role `{role}` of `{self.original}`" if role else f"`{self.original}`"
        editing = Editing(where, _fitting, self._fail, self.lines_at)
        made = editing.edited(items, edits)
        self.changes += editing.changes
        return made

    # ---- what is removed ----------------------------------------------------------------------

    def _removed(self, item: Any, old: Sequence[Any], role: str) -> set[int]:
        """Returns the numbers of those of ``old`` that ``item`` removes."""
        match item:
            case ast_items.WithoutHandler():
                fits = _fitting(item, old)
            case ast_items.WithoutChoice():
                fits = [n for n, o in enumerate(old) if _is_choice(o) and _named(o, item.name)]
            case ast_items.WithoutName() if item.name.text == "requires":
                return set()
            case ast_items.WithoutName():
                fits = [n for n, o in enumerate(old) if not _is_choice(o) and _named(o, item.name)]
            case _:
                return set()
        if not fits:
            self._missing(item, old, role)
        elif len(fits) > 1:
            self._ambiguous(item, [old[number] for number in fits])
        elif isinstance(old[fits[0]], ast_items.State):
            fits += [n for n, o in enumerate(old) if _is_choice(o) and _named(o, item.name)]
        return set(fits)

    def requires(self, original: ast_items.Protocol, decl: ast_items.Variant) -> ast.Expr | None:
        """Returns the resilience condition of the variant."""
        without = [
            item
            for item in decl.items
            if isinstance(item, ast_items.WithoutName) and item.name.text == "requires"
        ]
        if not without and decl.requires is None:
            return original.requires
        old, new = original.requires, decl.requires
        if without and old is None:
            message = f"`{self.original}` has no `requires`"
            self._fail("N041", message, without[0].span)
        kind = "removes" if new is None else "adds" if old is None else "replaces"
        before, after = (None if part is None else part.span for part in (old, new))
        self.changes.append(typed.Change(kind, "requires", before, after))
        return new

    # ---- what is replaced ---------------------------------------------------------------------

    def _place(self, item: Any, old: Sequence[Any], gone: set[int], role: str) -> int | None:
        """Returns the number of that of ``old`` which ``item`` replaces; ``None``: it is added."""
        if not isinstance(item, ast_items.Handler):
            fits = [n for n, o in enumerate(old) if _is_same_thing(o, item)]
            if isinstance(item, ast_items.RoleChange) and not fits and item.size is None:
                self._missing(item, old, role)
            return fits[0] if fits else None
        if item.name is not None:
            fits = [n for n, o in enumerate(old) if _is_handler(o) and _named(o, item.name)]
            return fits[0] if fits else None
        fits = _fitting(item, old)
        if len(fits) > 1 and not gone & set(fits):
            self._ambiguous(item, [old[number] for number in fits])
        return fits[0] if len(fits) == 1 else next(iter(sorted(gone & set(fits))), None)

    def _replaced(self, old: Any, item: Any, role: str) -> list[Any]:
        """Returns what stands in the place of ``old``."""
        if isinstance(item, ast_items.RoleChange):
            size = old.size if item.size is None else item.size
            if item.size is not None:
                self._change("replaces", old, role, old.size, item.size)
            lead = old.lead if item.lead is None else item.lead
            if item.lead is not None:
                self._change("replaces", old, role, old.lead, item.lead)
            made = self.merge(old.items, item.items, item.name.text)
            return [replace(old, size=size, lead=lead, items=tuple(made))]
        if isinstance(item, ast_items.Handler) and item.name is None:
            item = replace(item, name=old.name)
        if relocate(item) == relocate(old):
            message = f"`{_what(item)}` is the same as in `{self.original}`"
            self._fail("N040", message, _head(item), hint="leave it out: it is inherited")
        self._change("replaces", old, role, old, item)
        return [item]

    def _added(self, item: Any) -> Any:
        if not isinstance(item, ast_items.RoleChange):
            return item
        if item.size is None:
            return None
        within = _Merging(self.original, self.report, self.lines_at)
        items = tuple(within.merge((), item.items, item.name.text))
        self.failed = self.failed or within.failed
        return ast_items.Role(item.name, item.size, item.lead, items, item.span)

    # ---- what is said -------------------------------------------------------------------------

    def _change(self, kind: str, item: Any, role: str, before: Any, after: Any) -> None:
        what = _what(item) + (f" in role {role}" if role else "")
        places = (None if part is None else part.span for part in (before, after))
        self.changes.append(typed.Change(kind, what, *places))

    def _fail(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.failed = True
        self.report.add(code, message, span, hint=hint)

    def _missing(self, item: Any, old: Sequence[Any], role: str) -> None:
        """Reports that there is no such thing as ``item`` says."""
        where = f"the role `{role}` of `{self.original}`" if role else f"`{self.original}`"
        if isinstance(item, ast_items.WithoutHandler):
            message = f"{where} has no handler `{item.label}`"
            labels = [o.label for o in old if _is_handler(o)]
            self._fail("N041", message, item.span, suggestion(item.label, labels))
            return
        name = item.name.text
        if isinstance(item, ast_items.WithoutChoice):
            self._fail("N041", f"{where} has no `init choose {name}`", item.name.span)
            return
        holder = next((r.name.text for r in old if _is_role(r) and _has(r.items, name)), None)
        hint = suggestion(name, (o.name.text for o in old if getattr(o, "name", None)))
        if holder is not None:
            hint = f"it is in a role: `role {holder} {{ without {name} }}`"
        self._fail("N041", f"{where} has no `{name}`", item.name.span, hint)

    def _ambiguous(self, item: Any, fits: list[Any]) -> None:
        """Reports that ``item`` may mean any of ``fits``."""
        shown = " or ".join(f"`{_what(each)}` (line {each.span.line})" for each in fits[:3])
        if isinstance(item, ast_items.Handler):
            hint = "name the intended one, `as x`, or remove it: `without upon … when …`"
        elif isinstance(item, ast_items.WithoutHandler):
            hint = "write it as declared there, with its arguments, `at` and `when`"
        else:
            hint = "two items have this name; rename one"
        message = f"several items of `{self.original}` match: {shown}"
        self._fail("N042", message, _head(item), hint)

    def require_effect(self, decl: ast_items.Variant, old: Sequence[Any]) -> None:
        """Reports a variant that changes nothing: it declares only what nothing inherited uses."""
        inert = ast_items.State | ast_items.Message | ast_items.TypeAlias | ast_items.Parameter
        inert |= ast_items.Constant | ast_items.Definition | ast_items.Procedure
        if any(change.kind != "adds" for change in self.changes):
            return
        new: list[Any] = [*decl.parameters]
        for item in decl.items:
            new += item.items if isinstance(item, ast_items.RoleChange) else (item,)
        if decl.requires is not None or any(not isinstance(item, inert) for item in new):
            return
        names = [o.name.text for o in _all(old) if getattr(o, "name", None)]
        hint = "change an item of the original, or remove one: `without …`"
        if new:
            near = suggestion(new[0].name.text, names)
            hint = f"nothing in `{self.original}` is called `{new[0].name.text}`; {near}"
        message = f"this variant replaces nothing of `{self.original}`"
        self._fail("N040", message, new[0].name.span if new else decl.name.span, hint)


# ---- items ------------------------------------------------------------------------------------


def _is_handler(item: Any) -> bool:
    return isinstance(item, ast_items.Handler)


def _is_choice(item: Any) -> bool:
    return isinstance(item, ast_items.InitChoice)


def _is_role(item: Any) -> bool:
    return isinstance(item, ast_items.Role)


def _all(items: Iterable[Any]) -> list[Any]:
    """Returns ``items`` and those inside of roles."""
    return [each for item in items for each in (item, *(item.items if _is_role(item) else ()))]


def _has(items: Iterable[Any], name: str) -> bool:
    return any(getattr(item.name, "text", "") == name for item in items)


def _named(item: Any, name: ast.Name) -> bool:
    return _has((item,), name.text)


def _is_same_thing(old: Any, new: Any) -> bool:
    """Tells whether ``new`` stands for what ``old`` declares; properties have names of their own,
    as have choices and handlers."""
    apart = (ast_items.PropertyDecl, ast_items.InitChoice, ast_items.Handler)
    if any(isinstance(old, kind) != isinstance(new, kind) for kind in apart):
        return False
    if isinstance(old, ast_items.Role) != isinstance(new, ast_items.RoleChange):
        return False
    return _named(old, new.name)


def _fitting(written: _Written, old: Sequence[Any]) -> list[int]:
    """Returns the numbers of the handlers of ``old`` that have the event of ``written``: of
    several, those whose arguments, and then whose whole head, is written so, if any."""
    fits = [
        n for n, o in enumerate(old) if _is_handler(o) and _kind(o.event) == _kind(written.event)
    ]
    for closer in (_event, _guarded):
        if len(fits) > 1:
            fits = [n for n in fits if closer(old[n]) == closer(written)] or fits
    return fits


def _event(handler: _Written) -> Any:
    return relocate(handler.event)


def _guarded(handler: _Written) -> Any:
    return relocate((handler.event, handler.at, handler.when))


def _kind(event: ast_items.Event) -> tuple[Any, ...]:
    """Returns what an event is about, without its arguments."""
    match event:
        case ast_items.OnRequest(op=name) | ast_items.OnReceive(message=name):
            return type(event), name.text
        case ast_items.OnIndication():
            return type(event), event.layer.text, event.op.text
        case ast_items.OnCondition():
            return type(event), relocate(event.condition)
        case ast_items.OnTimeout():
            return type(event), event.timer and event.timer.text
        case ast_items.OnInit() | ast_items.OnRecover() | ast_items.OnDisconnected():
            return (type(event),)


def _what(item: Any) -> str:
    """Returns an item in words, such as ``state voted`` or ``upon receive ACK(k)``."""
    if isinstance(item, ast_items.Handler):
        return item.name.text if item.name is not None else item.label
    kind = type(item).__name__
    word = _WORDS.get(kind) or {"TypeAlias": "type", "RoleChange": "role"}.get(kind, kind.lower())
    return f"{word} {item.name.text}"


def _head(item: Any) -> Span:
    return item.head if isinstance(item, ast_items.Handler) else item.span
