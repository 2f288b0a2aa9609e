"""Builds the parts of a check from the parser's tree."""

from __future__ import annotations

from typing import Any

from checker.lang import ast, ast_items
from checker.lang.parse_expr import ExpressionBuilder


class CheckBuilder(ExpressionBuilder):
    """Builds the checks of one text; raises ``TooDeep`` and ``NumberTooLarge`` (see parse_expr)."""

    def top_check(self, tree: Any) -> ast_items.Check:
        name, protocol, *items = tree.children
        built: list[ast_items.CheckItem] = []
        for item in items:
            made = getattr(self, f"check_{item.data}")(item)
            built.extend(made if isinstance(made, list) else [made])
        return ast_items.Check(self.name(name), self.name(protocol), tuple(built), self.span(tree))

    # ---- the environment ----------------------------------------------------------------------

    def check_setting(self, tree: Any) -> ast_items.CheckItem:
        name, value = tree.children
        return ast_items.Setting(self.name(name), self.expr(value), self.span(tree))

    def check_every(self, tree: Any) -> ast_items.CheckItem:
        _, names, when = tree.children
        condition = None if when is None else self.expr(when.children[0])
        return ast_items.Every(self.names(names), condition, self.span(tree))

    def check_faults(self, tree: Any) -> list[ast_items.CheckItem]:
        made: list[ast_items.CheckItem] = []
        for fault in tree.children:
            kind, _, bound = fault.children
            made.append(ast_items.Fault(self.name(kind), self.optional(bound), self.span(fault)))
        return made

    def check_links(self, tree: Any) -> list[ast_items.CheckItem]:
        return [self._link(link) for link in tree.children]

    def check_link_rule(self, tree: Any) -> ast_items.CheckItem:
        sender, receiver, *links = tree.children
        kinds = tuple(self._link(link) for link in links)
        return ast_items.LinkRule(self.name(sender), self.name(receiver), kinds, self.span(tree))

    def _link(self, link: Any) -> ast_items.Link:
        kind, capacity = link.children
        number = None if capacity is None else self.integer(capacity)
        return ast_items.Link(self.name(kind), number, self.span(link))

    def check_timing(self, tree: Any) -> ast_items.CheckItem:
        kind, more = tree.children
        word = "" if more is None else str(more.data)
        value = None if more is None else self.expr(more.children[-1])
        return ast_items.Timing(self.name(kind), word, value, self.span(tree))

    def check_detector(self, tree: Any) -> ast_items.CheckItem:
        return self._detector(tree, False)

    def check_detector_later(self, tree: Any) -> ast_items.CheckItem:
        return self._detector(tree, True)

    def _detector(self, tree: Any, eventually: bool) -> ast_items.CheckItem:
        kind, noise = tree.children
        words = None if noise is None else self.expr(noise.children[-1])
        return ast_items.Detector(self.name(kind), eventually, words, self.span(tree))

    def check_given(self, tree: Any) -> ast_items.CheckItem:
        layer, what = tree.children
        return ast_items.Given(self.name(layer), self.name(what), self.span(tree))

    def check_crash_points(self, tree: Any) -> ast_items.CheckItem:
        return ast_items.CrashPoints(self.name(tree.children[-1]), self.span(tree))

    def check_clients(self, tree: Any) -> list[ast_items.CheckItem]:
        made: list[ast_items.CheckItem] = []
        for client in tree.children:
            process, verb, *items = client.children
            made.append(
                ast_items.Client(
                    self.name(process), self.name(verb), self.exprs(items), self.span(client)
                )
            )
        return made

    # ---- properties ---------------------------------------------------------------------------

    def check_prove(self, tree: Any) -> ast_items.CheckItem:
        names = tuple(self._property_name(child) for child in tree.children)
        return ast_items.Prove(names, self.span(tree))

    def _property_name(self, tree: Any) -> ast.Name:
        """Returns the name of a property: one word, or ``x over y``."""
        name, over = tree.children
        text = str(name) if over is None else f"{name} over {over}"
        return ast.Name(text, self.span(tree))

    def check_invariant(self, tree: Any) -> ast_items.PropertyDecl:
        return self.formula_of(tree, tree.children[1:], lemma=True)

    def formula_of(
        self, tree: Any, parts: list[Any], *, lemma: bool = False
    ) -> ast_items.PropertyDecl:
        """Returns a property or invariant of which ``parts`` are the name, the text and the
        formula."""
        name, document, formula = parts
        built = self.expr(formula)
        text = str(document)[1:-1] if document else ""
        return ast_items.PropertyDecl(
            self.name(name), text, built, self.source(built.span), self.span(tree), lemma
        )

    def check_expect(self, tree: Any) -> ast_items.CheckItem:
        what, value = tree.children
        word: str | int = self.integer(value) if value.type == "INT" else str(value)
        return ast_items.Expect(self._property_name(what), word, self.span(value), self.span(tree))

    def check_allow(self, tree: Any) -> ast_items.CheckItem:
        return ast_items.Allow(self.name(tree.children[0]), self.span(tree))

    # ---- scenarios ----------------------------------------------------------------------------

    def check_scenario(self, tree: Any) -> ast_items.CheckItem:
        name, *parts = tree.children
        again = [part for part in parts if part is not None and part.data == "for_ever"]
        return ast_items.Scenario(
            self.name(name),
            self._happenings(parts),
            self._happenings(again[0].children[1:]) if again else (),
            tuple(self._claim(part) for part in parts if part is not None and part.data == "claim"),
            self.span(tree),
        )

    def _happenings(self, parts: list[Any]) -> tuple[ast.Name, ...]:
        """Returns the steps among ``parts``, in words, with white space normalised."""
        found = (part for part in parts if part is not None and part.data == "happening")
        return tuple(ast.Name(" ".join(str(p.children[0]).split()), self.span(p)) for p in found)

    def _claim(self, tree: Any) -> ast_items.Claim:
        what, word = tree.children
        return ast_items.Claim(self._property_name(what), self.name(word), self.span(tree))
