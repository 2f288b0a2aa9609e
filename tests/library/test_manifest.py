"""``specs/manifest.json`` and what assistants read: complete, and true of the library.

What its entries say of verdicts and states is compared where the checks are run
(``tests/library/test_library.py``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checker.language import load
from checker.proving.dispatch_check import answer_check
from checker.resources import specs
from checker.session.pipeline import Options
from scripts.write_manifest import (
    entry_of,
    header_of,
    kept,
    ladder_of,
    problems,
    read_manifest,
)
from tests.finite_checks import bodies, finite_checks
from tests.library.manifest import difference

ROOT = specs().parent
PAGES = [ROOT / "llms.txt", ROOT / "docs" / "skill" / "SKILL.md"]


def test_each_check_has_an_entry_and_each_entry_a_check() -> None:
    manifest, paths = read_manifest()["files"], sorted(specs().rglob("*.bcast"))
    paths = [path for path in paths if bodies(path.read_text(encoding="utf-8"))]
    assert {str(path.relative_to(specs())) for path in paths} == manifest.keys()
    for path in paths:
        known = manifest[str(path.relative_to(specs()))]
        named = {name for name, _ in bodies(path.read_text(encoding="utf-8"))}
        assert known["checks"].keys() == named, path
        assert {k: v for k, v in known.items() if k != "checks"} == header_of(path)


@pytest.mark.parametrize("file", read_manifest()["files"])
def test_what_follows_from_the_text_is_so(file: str) -> None:
    """What an entry says of protocol, interface, variant and scenarios needs no run."""
    entries = read_manifest()["files"][file]["checks"]
    module = load.open_spec(specs() / file).module
    assert module.file == str(specs() / file)
    assert [check.name for check in module.checks] == [*entries]
    for check in module.checks:
        entry = entries[check.name]
        assert entry["protocol"] == check.protocol.name
        assert entry["scenarios"] == [scenario.name for scenario in check.scenarios]
        assert entry["ladder"] == ladder_of(file, check.name)
        assert set(entry["verdicts"]) >= {prop.name for prop in check.prove}


@pytest.mark.slow
def test_the_writer_finds_no_problem() -> None:
    assert [*problems(read_manifest())] == []


def test_a_difference_is_found() -> None:
    path = specs() / "total_order" / "sequencer_takeover.bcast"
    report = answer_check(str(path), "no_fault", Options(engine="native"))
    assert difference(path, "no_fault", report) == {}
    entry = read_manifest()["files"]["total_order/sequencer_takeover.bcast"]["checks"]["no_fault"]
    entry["states"] += 1
    assert entry != entry_of_now(path, report)


def test_what_was_found_once_is_not_lost_to_a_search_that_ends_early() -> None:
    """A proof that takes too long today was found once: its entry says no less afterwards."""
    path = specs() / "for_every_n" / "folklore_broadcast.bcast"
    known = read_manifest()["files"]["for_every_n/folklore_broadcast.bcast"]["checks"][
        "for_every_n"
    ]
    assert "proved" in known["verdicts"].values()
    spec = load.open_spec(path)
    undecided = entry_of(spec, "for_every_n", None)
    assert "proved" not in undecided["verdicts"].values()
    assert kept(known, undecided)
    assert not kept(None, undecided)
    assert not kept(undecided, undecided)
    other = {word: "violated" for word in known["verdicts"]}
    assert not kept({**known, "verdicts": other}, undecided), "what is expected is another verdict"
    assert not kept({**known, "protocol": "Another"}, undecided)


def entry_of_now(path: Path, report: object) -> object:
    return entry_of(load.open_spec(path), "no_fault", report)  # type: ignore[arg-type]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_examples_of_the_skill_do_what_they_say(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    from checker.language.formatting.layout import format_text

    shown = re.findall(r"^```bivalence\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(shown) == 2
    for example in shown:
        path = tmp_path / "a.bcast"
        path.write_text(example, encoding="utf-8")
        for check in finite_checks(example):
            assert answer_check(str(path), check, Options()).exit_code == 0
        assert format_text(example, "a") == example


def test_the_manifest_is_small_data() -> None:
    text = (specs() / "manifest.json").read_text(encoding="utf-8")
    assert json.loads(text)["format"] == 1
