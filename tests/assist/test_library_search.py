"""The library is found by words, and read to its end."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from checker import resources
from checker.assist.answer import LARGEST, MOST, wrapped
from checker.assist.arguments import Library
from checker.assist.library import answer, entries_of, ranked
from tests.assist.calls import RELAY, Caller

QUERIES = tomllib.loads(
    (Path(__file__).parent / "library_queries.toml").read_text("utf-8")
)["queries"]  # fmt: skip
MISSED = {"work queue worker crashes before marking the job done"}
"""Its words are in many specs, and its spec has others for them."""


@pytest.mark.every
@pytest.mark.parametrize("kind", [None, "spec"])
def test_the_right_spec_is_among_the_first_three(kind: str | None) -> None:
    entries = entries_of(kind)
    missed = {
        query for query, right in QUERIES.items() if not {*right} & {*ranked(entries, query)[:3]}
    }
    assert missed == MISSED
    assert all(name in entries for right in QUERIES.values() for name in right)


def test_endings_and_order_of_words_do_not_matter() -> None:
    entries = entries_of("spec")
    for one, other in (
        ("retransmission lost messages", "lost message retransmits"),
        ("FixedSequencer", "sequencer fixed"),
        ("lease clocks", "clock leases"),
    ):
        assert ranked(entries, one) == ranked(entries, other)
    assert ranked(entries, "xyzzy") == []


def read_whole(call: Caller, **arguments: object) -> list[str]:
    """All lines of a text, by following ``next``."""
    found = call("library", **arguments)
    lines = [*found["lines"]]
    while found["next"]:
        assert found["left_out"]["lines"] > 0
        (more,) = found["next"]
        found = call.raw(more["tool"], more["arguments"])
        lines += found["lines"]
    assert "lines" not in found["left_out"]
    return lines


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("spec", "replication/raft", resources.specs() / "replication" / "raft.bcast"),
        ("page", "commands", resources.documents() / "commands.md"),
        ("page", "language/checks", resources.documents() / "language" / "checks.md"),
    ],
)
def test_a_long_text_can_be_read_to_its_end(call: Caller, kind: str, name: str, file: Path) -> None:
    wanted = [
        part for line in file.read_text("utf-8").splitlines() if line.strip()
        for part in wrapped(line)
    ]  # fmt: skip
    lines = read_whole(call, query=name, kind=kind)
    assert len(wanted) > MOST["lines"]
    assert ["".join(each.split()) for each in lines] == ["".join(each.split()) for each in wanted]


def test_an_offset_beyond_the_end_is_refused(call: Caller) -> None:
    found = call("library", query="replication/raft", kind="spec", offset=100_000)
    assert found["problems"][0]["code"] == "A001" and "lines" in found["claim"]
    assert call("library", code="N003", offset=0)["lines"]


def test_every_page_of_the_library_fits() -> None:
    """The lines of each page are few enough that nothing else is cut."""
    from checker.assist.answer import fitted

    for name in entries_of("page"):
        offset = 0
        while offset is not None:
            found = answer(Library(query=name, kind="page", offset=offset))
            assert len(fitted(found)["lines"]) == len(found.lines) > 0
            assert len(str(fitted(found)).encode()) < 2 * LARGEST
            offset = found.next[0].arguments["offset"] if found.next else None


def test_all_checks_of_a_file_can_be_looked_at(call: Caller, folder: Path) -> None:
    world = "{ n = 3  faults crash <= 1  clients { p1 broadcasts a }  prove agreement }\n"
    names = [f"number_{i}" for i in range(30)]
    text = RELAY + "".join(f"check {name} of Relay {world}" for name in names)
    (folder / "many.bcast").write_text(text, "utf-8")
    found = call("look", path="many.bcast")
    seen = [each["check"] for each in found["checks"]]
    while found["next"]:
        found = call.raw("look", found["next"][0]["arguments"])
        seen += [each["check"] for each in found["checks"]]
    assert seen == names
    assert call("look", path="many.bcast", offset=30)["problems"][0]["code"] == "A001"
