"""Survivors that the author of a spec accepts, each with a reason, in a file beside the spec.

    # eager_reliable.mutants.toml
    [accepted]
    "EagerReliable: without `seen += {m}`" = "only messages are saved by it"

A key is a protocol and a change, as the report names them, without the line, which moves.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.reading import decoded

if TYPE_CHECKING:
    from checker.language.mutation.mutants import Mutant

SUFFIX = ".mutants.toml"
TABLE = "accepted"


def key_of(mutant: Mutant) -> str:
    """Returns the key by which a mutant is accepted."""
    return f"{mutant.protocol}: {mutant.change}"


def read_acceptances(spec: Path, mutants: Iterable[Mutant]) -> Mapping[str, str]:
    """Returns the reasons of the file beside ``spec``, by key; none where there is no file.

    Raises :class:`SpecError`: E125 where the file can't be read as such, E126 where a key is that
    of no mutant.
    """
    file = spec.with_name(f"{spec.stem}{SUFFIX}")
    if not file.exists():
        return {}
    text = decoded(file, Path.read_bytes, "E125")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong_toml:
        raise SpecError(
            (Diagnostic("E125", f"no TOML: {wrong_toml}", _place(file, text, "")),)
        ) from None
    table = found.get(TABLE, {})
    wrong = [key for key in found if key != TABLE]
    if wrong or not isinstance(table, dict):
        message = f"`{wrong[0] if wrong else TABLE}` can't stand here"
        hint = f"the file has one table, `[{TABLE}]`, of reasons by mutants"
        raise SpecError(
            (
                Diagnostic(
                    "E125", message, _place(file, text, wrong[0] if wrong else TABLE), hint=hint
                ),
            )
        )
    known = {key_of(mutant) for mutant in mutants}
    problems = [
        problem
        for key, reason in table.items()
        if (problem := _wrong(file, text, key, reason, known))
    ]
    if problems:
        raise SpecError(tuple(problems))
    return table


def _wrong(file: Path, text: str, key: str, reason: object, known: set[str]) -> Diagnostic | None:
    place = _place(file, text, key)
    if not isinstance(reason, str) or not reason.strip():
        return Diagnostic("E125", "a survivor is accepted with a reason, a text", place)
    if key in known:
        return None
    from checker.language.typecheck.scope import suggestion

    hint = (
        suggestion(key, known) or "the spec may have changed; `bivalence mutate` names its mutants"
    )
    return Diagnostic("E126", "there is no such mutant", place, hint=hint)


def _place(file: Path, text: str, key: str) -> Span:
    """Returns where ``key`` stands in the file, its first line where that is not found."""
    for number, line in enumerate(text.splitlines(), 1):
        at = line.find(key)
        if key and at >= 0:
            return Span(str(file), number, at + 1, number, at + 1 + len(key))
    return Span(str(file), 1, 1, 1, 1)
