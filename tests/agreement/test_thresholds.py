"""Verdicts for every n, at numbers: those of the finite systems, explored one by one.

With ``BIVALENCE_LONG`` set all numbers up to 6 are tried whose systems are small enough, otherwise
those few that tell most.
"""

from __future__ import annotations

import os
from functools import cache

import pytest
from _pytest.mark import ParameterSet

from checker.engines.options import Options
from checker.language.load import load
from checker.proving.parametric import automaton_of
from checker.resources import specs
from tests.agreement.sizes import Sized, all_numbers, compared, telling
from tests.finite_checks import checks_for_all_sizes
from tests.parametric.echo_by_hand import CORRECTNESS, ECHO, RELAY, UNFORGEABILITY

LONG = bool(os.environ.get("BIVALENCE_LONG"))
MOST = 6 if LONG else 3
FEW = 2
STATES = 300_000 if LONG else 20_000
SECONDS = 60.0

LESS_EXACT = (
    # Without liars nothing is forged, and the finite system has no payload to forge: there nobody
    # takes a threshold of 0 messages for one.
    "bracha.bcast::echoes_one_short at {'n': 1, 'f': 0}",
)
"""Where the automaton does more than the protocol, and why."""

LARGE = ("bracha.bcast", "ben_or_round.bcast", "voting_rounds.bcast")
"""Explored only in the full run; of rounds, `test_rounds.py` explores smaller protocols."""

BY_HAND = Sized(
    "specs/byzantine/echo.bcast",
    "built_for_one_with_two",
    ECHO,
    (UNFORGEABILITY, CORRECTNESS, RELAY),
    {"f": "byzantine"},
)


@cache
def about_all_sizes() -> tuple[tuple[str, str], ...]:
    """Checks of the library about all sizes: of each protocol, with its settings and faults, as
    many as it takes to ask each property once."""
    asked: dict[object, set[str]] = {}
    found = []
    for path in sorted(specs().rglob("*.bcast")):
        if "for all" not in path.read_text(encoding="utf-8"):
            continue
        for check in load(str(path)).checks:
            settings = tuple((s.name, _plain(s.value)) for s in check.settings)
            faults = check.crash is None, check.byzantine is None, check.every
            props = asked.setdefault((path, check.protocol.name, settings, faults), set())
            new = {p.name for p in check.prove} - props
            if check.every and new:
                props |= new
                found.append((str(path.relative_to(specs().parent)), check.name))
    return tuple(found)


def _plain(value: object) -> str:
    return str(getattr(value, "value", value))


def _agree(sized: Sized) -> None:
    chosen = list(all_numbers(sized, MOST)) if LONG else telling(sized, MOST)
    found = compared(sized, chosen, None if LONG else FEW, states=STATES, seconds=SECONDS)
    print(f"{sized}: {found.answers} answers at {len(chosen)} numbers; only counted: {found.more}")
    assert found.answers
    assert not found.missed
    assert all(any(part in said for part in LESS_EXACT) for said in found.more)


def test_the_echo_broadcast_by_hand() -> None:
    _agree(BY_HAND)


BY_DEFAULT = "for_every_n"
"""The check of a file that is in the default run, if it is quick."""


def files_about_all_sizes(by_default: bool) -> list[ParameterSet]:
    """The files with a check for all sizes; ``by_default``: those in which one is so named."""
    found = []
    for path in sorted(specs().rglob("*.bcast")):
        names = checks_for_all_sizes(path.read_text(encoding="utf-8"))
        if BY_DEFAULT in names if by_default else names:
            name = str(path.relative_to(specs().parent))
            marks = [pytest.mark.slow] if name.endswith(LARGE) else []
            case = f"{name}-{BY_DEFAULT}" if by_default else name
            found.append(pytest.param(name, id=case, marks=marks))
    return found


def _agree_in_the_library(path: str, name: str) -> None:
    automaton, questions = automaton_of(path, name, Options())
    _agree(Sized(path, name, automaton, questions, {}))


@pytest.mark.parametrize("path", files_about_all_sizes(by_default=True))
def test_the_library(path: str) -> None:
    _agree_in_the_library(path, BY_DEFAULT)


@pytest.mark.slow
@pytest.mark.parametrize("path", files_about_all_sizes(by_default=False))
def test_the_others_of_the_library(path: str) -> None:
    for file, name in about_all_sizes():
        if file == path and name != BY_DEFAULT:
            _agree_in_the_library(path, name)
