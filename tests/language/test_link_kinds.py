"""Kinds of links: what contradicts what, and that documents and random specs know every kind."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from checker import resources
from checker.language.link_kinds import (
    LINK_KINDS,
    PERFECT,
    Delivery,
    LinkKind,
    additional_kind,
    combine,
    contradiction,
)
from checker.parametric.automaton.fragment import why_outside
from tests.agreement import specs
from tests.world import features

ROOT = Path(__file__).resolve().parents[2]
CHECKS = (ROOT / "docs/language/checks.md").read_text(encoding="utf-8")
SEMANTICS = (ROOT / "docs/language/semantics.md").read_text(encoding="utf-8")
KINDS = list(LINK_KINDS.values())

# A perfect link neither loses nor repeats; what repeats has no order; what stays fills a bounded
# link; of two different promises of delivery only one can be meant.  A connection loses and repeats
# nothing while it lasts, and has no bound.
CONTRADICT = {
    "perfect": {"lossy", "fair_loss", "stubborn", "duplicating", "persistent"},
    "fifo": {"stubborn", "duplicating", "persistent"},
    "lossy": {"fair_loss", "stubborn"},
    "fair_loss": {"stubborn", "persistent"},
    "stubborn": {"persistent", "bounded"},
    "persistent": {"bounded"},
    "connected": {"bounded"},
}
for _name in ("lossy", "fair_loss", "stubborn", "duplicating", "persistent"):
    CONTRADICT.setdefault(_name, set()).add("connected")


@pytest.mark.parametrize(
    "pair", [*combinations(KINDS, 2)], ids=lambda p: f"{p[0].name}-{p[1].name}"
)
def test_kinds_contradict_each_other(pair: tuple[LinkKind, LinkKind]) -> None:
    one, other = pair
    expected = other.name in CONTRADICT.get(one.name, ())
    assert bool(contradiction(one, other)) == expected
    assert bool(contradiction(other, one)) == expected


def test_a_link_of_two_kinds_has_the_traits_of_both() -> None:
    both = combine([LINK_KINDS["fair_loss"], LINK_KINDS["fifo"]])
    assert both.traits == {"loses", "delivery", "ordered"}
    assert (both.name, both.delivery) == ("fair_loss, fifo", Delivery.FAIR_LOSS)
    assert combine([PERFECT]) is PERFECT and not PERFECT.traits
    with pytest.raises(ValueError, match="fairness"):
        combine([LINK_KINDS["lossy"], LINK_KINDS["stubborn"]])


@pytest.mark.parametrize(
    "traits",
    [
        {"loses": True},
        {"loses": True, "delivery": Delivery.STUBBORN},
        {"keeps": True},
        {"delivery": Delivery.STUBBORN},
        {"ordered": True, "duplicates": True},
        {"has_capacity": True, "keeps": True, "delivery": Delivery.NO_PROMISE},
        {"connects": True, "loses": True, "delivery": Delivery.NO_PROMISE},
        {"exactly_once": True, "delivery": Delivery.NO_PROMISE},
    ],
    ids=str,
)
def test_a_kind_can_not_contradict_itself(traits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        LinkKind("impossible", "", **traits)


def test_an_additional_kind_is_known_for_a_while() -> None:
    kind = LinkKind("toy_late", "a message may stay under way forever")
    with additional_kind(kind) as known:
        assert LINK_KINDS["toy_late"] is known
        with pytest.raises(ValueError, match="toy_late"), additional_kind(kind):
            pass
        assert "toy_late" in LINK_KINDS
    assert "toy_late" not in LINK_KINDS


# ---- documents ----------------------------------------------------------------------------------


def rows(page: str, heading: str) -> dict[str, str]:
    """The two columns of the table below ``heading`` in ``page``."""
    section = re.split(r"^##+ ", page.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]
    return dict(re.findall(r"^\| (.+?) \| (.+) \|$", section, re.MULTILINE))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_language_page_has_a_row_for_each_kind(kind: LinkKind) -> None:
    written = f"`links {kind.name}{' k' * kind.has_capacity}`"
    assert rows(CHECKS, "Links")[written].startswith(kind.meaning)


def test_the_language_page_says_what_is_assumed() -> None:
    table = rows(SEMANTICS, "Fairness assumptions")
    for kind in KINDS:
        if kind.delivery in (Delivery.STUBBORN, Delivery.FAIR_LOSS):
            assert f"that {table[f'`{kind.name}`']}".startswith(kind.delivery.value)
        if kind.ordered:
            assert f"`{kind.name}`" in table
    none = [kind.name for kind in KINDS if kind.delivery is Delivery.NO_PROMISE]
    message = table["a message between correct processes"]
    assert re.findall(r"`(\w+)`", message) == none


def test_the_page_about_unknown_kinds_lists_all() -> None:
    text = (resources.pages() / "C004.md").read_text(encoding="utf-8")
    listed = text.partition("Links are ")[2].partition(";")[0]
    assert re.findall(r"`(\w+)`", listed) == list(LINK_KINDS)


def test_the_pages_about_proofs_for_every_n_list_the_kinds_inside() -> None:
    inside = {k.name for k in KINDS if not why_outside(k) and not k.authenticates}
    text = (resources.pages() / "T002.md").read_text(encoding="utf-8")
    listed = text.partition("arrives: ")[2].partition("without")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == inside
    (row,) = re.findall(r"^\| links \| (.+?);", (ROOT / "docs/proofs.md").read_text(), re.M)
    assert set(re.findall(r"`(\w+)`", row)) == inside


# ---- tests --------------------------------------------------------------------------------------


def test_random_specs_have_every_kind() -> None:
    drawn = {name.split()[0] for links in specs.LINKS for name in links.split(", ")}
    assert drawn == set(LINK_KINDS)
    asked = {*features.LINKS, PERFECT.name}
    assert asked == {kind.name for kind in KINDS if not kind.authenticates}
