"""Makes a check of each mutant of a check: a variant of its protocol in the same world.

    check crash_one of P { n = 3  prove agreement
      mutant unguarded { replace m not in seen with true  expect no_duplication violated }
    }

declares the check ``crash_one.unguarded``, of a variant of ``P`` that is called alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.syntax import ast, ast_clauses, ast_items
from checker.language.syntax.ast_chance import ExpectChance, ProveChance
from checker.records import replace

_OF_MUTANTS = ast_items.Expect | ExpectChance
_OF_ORIGINALS = (
    _OF_MUTANTS | ast_items.Prove | ProveChance | ast_clauses.Scenario | ast_items.Mutant
)
"""The clauses of a check that its mutants do not have."""


def is_mutant(name: str) -> bool:
    """Returns whether the check ``name`` is a mutant of another one."""
    return "." in name


def with_mutants(spec: ast_items.Spec) -> ast_items.Spec:
    """Returns ``spec`` with the mutants of its checks as variants and checks of their own, each
    behind its check."""
    if not any(isinstance(part, ast_items.Mutant) for part in _parts(spec)):
        return spec
    return replace(spec, items=tuple(new for item in spec.items for new in _apart(item)))


def _parts(spec: ast_items.Spec) -> Iterator[ast_items.CheckItem]:
    return (part for each in spec.items if isinstance(each, ast_items.Check) for part in each.items)


def _apart(item: ast_items.Item) -> Iterator[ast_items.Item]:
    if not isinstance(item, ast_items.Check):
        yield item
        return
    mutants = [part for part in item.items if isinstance(part, ast_items.Mutant)]
    rest = tuple(part for part in item.items if not isinstance(part, ast_items.Mutant))
    yield replace(item, items=rest)
    world = tuple(part for part in rest if not isinstance(part, _OF_ORIGINALS))
    for mutant in mutants:
        name = ast.Name(f"{item.name.text}.{mutant.name.text}", mutant.name.span)
        changes = tuple(part for part in mutant.items if not isinstance(part, _OF_MUTANTS))
        asked = tuple(part for part in mutant.items if isinstance(part, _OF_MUTANTS))
        yield ast_items.Variant(name, (), item.protocol, None, changes, mutant.span)
        yield ast_items.Check(name, name, (*world, *asked), mutant.span)
