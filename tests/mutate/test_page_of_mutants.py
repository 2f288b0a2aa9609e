"""The page of ``mutate``: what is not noticed, in the spec's own lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.mutate.test_mutate_command import WEAK, judged, spec_in


def page_of(path: Path, *words: str) -> str:
    out = path.with_suffix(".html")
    judged(path, "--html", str(out), *words)
    return out.read_text("utf-8")


def test_each_line_has_its_mutants(tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK.replace("seen := true", "seen := true // not </code>"))
    page = page_of(path)
    lines = re.findall(r'<li id="line-(\d+)"(?: class="(\w+)")?>', page)
    kinds = {int(number): kind for number, kind in lines}
    assert len(kinds) == len(WEAK.splitlines())
    (report,) = [judged(path)]
    for line in range(1, len(kinds) + 1):
        fates = {each["fate"] for each in report["mutants"] if each["line"] == line}
        worst = "red" if "survived" in fates else "explained" if "killed" in fates else ""
        assert kinds[line] == worst, line
    survivors = [each for each in report["mutants"] if each["fate"] == "survived"]
    shown = page.partition('id="survivors"')[2].partition("</section>")[0]
    assert shown.count("<li>") == len(survivors) > 0
    assert f"{len(survivors)} faults of the spec would not be noticed" in page
    assert "</code> <span" in page and "not &lt;/code&gt;" in page


def test_accepted_ones_are_apart(tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK)
    survivor = next(each for each in judged(path)["mutants"] if each["fate"] == "survived")
    key = f"{survivor['protocol']}: {survivor['what']}"
    accepted = f"[accepted]\n'{key}' = 'nobody asks'\n"
    path.with_name("counter.mutants.toml").write_text(accepted, "utf-8")
    before, _, after = page_of(path).partition('id="accepted"')
    assert "nobody asks" in after and "nobody asks" not in before


@pytest.mark.parametrize("kind", ["--world", "--properties"])
def test_it_is_about_protocols(kind: str, tmp_path: Path) -> None:
    path = spec_in(tmp_path, WEAK)
    assert main(["mutate", str(path), kind, "--html", str(tmp_path / "p.html"), "-q"]) == 2
