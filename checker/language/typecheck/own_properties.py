"""Types the properties of a protocol, an interface or a check, which may name one another."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from checker.language.syntax import ast, ast_items, typed
from checker.language.typecheck.properties import invariant_of, property_of
from checker.language.typecheck.scope import Hole, Home
from checker.records import replace


def own_properties(
    decls: list[ast_items.PropertyDecl], home: Home, others: Iterable[typed.PropertyDef] = ()
) -> tuple[typed.PropertyDef, ...]:
    """Returns the properties and lemmas ``decls``, which may name one another and ``others``;
    errors go to the report of ``home``."""
    written: dict[str, ast_items.PropertyDecl] = {}
    for decl in decls:
        if decl.name.text in written:
            message = f"duplicate property `{decl.name.text}`"
            home.report.add("N004", message, decl.name.span)
        else:
            written[decl.name.text] = decl
    properties = _Properties(written, {p.name: p for p in others}, home)
    made = [properties.build(decl) for decl in written.values()]
    return tuple(definition for definition in made if definition is not None)


class _Properties(Struct):
    """The properties that are written in one place, each typed when it is first asked for."""

    written: dict[str, ast_items.PropertyDecl]
    others: dict[str, typed.PropertyDef]
    home: Home
    made: dict[str, typed.PropertyDef | None] = field(default_factory=dict)
    being_typed: list[str] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.written, *self.others))

    def find(self, name: ast.Name) -> typed.Expr:
        """Returns the formula of the property ``name``; raises :class:`Hole` where it has an error
        or is defined by itself (N015), which is reported."""
        if name.text not in self.written:
            return self.others[name.text].formula
        if name.text in self.being_typed:
            chain = [*self.being_typed[self.being_typed.index(name.text) :], name.text]
            shown = " names ".join(f"`{each}`" for each in chain)
            self.home.report.fail("N015", f"cyclic properties: {shown}", name.span)
        found = self.build(self.written[name.text])
        if found is None:
            raise Hole
        return found.formula

    def build(self, decl: ast_items.PropertyDecl) -> typed.PropertyDef | None:
        """Returns the property ``decl``; ``None`` where it has an error, which is reported."""
        name = decl.name.text
        if name not in self.made:
            self.being_typed.append(name)
            home = replace(self.home, formulas=self)
            self.made[name] = (invariant_of if decl.lemma else property_of)(decl, home)
            self.being_typed.pop()
            if self.made[name] is None:
                self.home.report.broken.add(name)
        return self.made[name]
