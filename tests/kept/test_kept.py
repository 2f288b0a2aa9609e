"""What is kept for later commands: each part of what determines it has to be the same."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grimp
import pytest

from checker import kept, resources
from checker.engines.options import Options
from checker.kept import tool
from checker.language import typed_module
from checker.language.load import open_spec
from checker.language.typecheck.world_settings import WORDS
from checker.records import replace
from checker.reductions import registry
from checker.reductions.choose import VERDICTS, SideQuestions, choose
from checker.session.load import load_check
from checker.session.systems import instantiated

SPEC = """\
import "other.bcast"
check one of P { n = 2 prove small }
check two of P { n = 2 faults crash <= 1 prove small }
"""
OTHER = """\
protocol P(most: Nat = 2) {
  state x : 0..3 = 0
  upon condition x < most { x := x + 1 }
  property small "It stays small." : always forall p in Proc: p.x <= 2
}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spec with an import, in a process that keeps results in an empty folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept.use()
    path = tmp_path / "a.bcast"
    path.write_text(SPEC, encoding="utf-8")
    (tmp_path / "other.bcast").write_text(OTHER, encoding="utf-8")
    try:
        yield path
    finally:
        kept.use(False)
        kept.forget()


class Counted:
    """Counts the calls of a function that makes what is kept."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make, self.calls = make, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        return self.make(*args, **named)


@pytest.fixture
def typings(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted(typed_module.module_of)
    monkeypatch.setattr(typed_module, "module_of", counted)
    return counted


@pytest.fixture
def systems(monkeypatch: pytest.MonkeyPatch) -> Counted:
    from checker.instantiate import assemble

    counted = Counted(assemble.instantiate)
    monkeypatch.setattr(assemble, "instantiate", counted)
    return counted


def system_of(path: Path, name: str = "one", **how: Any) -> Any:
    kept.forget()
    options = Options(**how)
    return instantiated(load_check(str(path), name, options.settings), options).system


# ---- typed files --------------------------------------------------------------------------------


def test_a_file_is_typed_once(spec: Path, typings: Counted) -> None:
    first, again = open_spec(spec), open_spec(spec)
    assert typings.calls == 1
    assert again.module == first.module and again.names == ["one", "two"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("a.bcast", "n = 2 prove", "n = 3 prove"),
        ("a.bcast", "check one", "\ncheck one"),
        ("other.bcast", "x + 1", "x + 2 - 1"),
        ("other.bcast", "It stays", "It has to stay"),
    ],
)
def test_a_changed_text_is_typed_again(
    spec: Path, typings: Counted, file: str, old: str, new: str
) -> None:
    before = open_spec(spec).module
    path = spec.with_name(file)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert open_spec(spec).module != before and typings.calls == 2


def test_an_import_that_is_missing_now_is_an_error(spec: Path) -> None:
    open_spec(spec)
    spec.with_name("other.bcast").unlink()
    with pytest.raises(Exception, match=r"other\.bcast"):
        open_spec(spec)


def test_an_import_through_a_link_to_another_file(spec: Path, typings: Counted) -> None:
    """The same path, and another file."""
    target = spec.with_name("other.bcast")
    text = target.read_text(encoding="utf-8")
    for number, name in enumerate(("b", "c"), start=1):
        spec.with_name(f"{name}.bcast").write_text(text, encoding="utf-8")
        target.unlink()
        target.symlink_to(spec.with_name(f"{name}.bcast"))
        open_spec(spec)
        assert typings.calls == number


def test_another_name_of_the_file(spec: Path, typings: Counted) -> None:
    open_spec(spec)
    other = spec.with_name("b.bcast")
    spec.rename(other)
    assert str(other) in repr(open_spec(other).module) and typings.calls == 2


def test_a_file_with_errors_is_not_kept(spec: Path, typings: Counted) -> None:
    spec.write_text(SPEC.replace("prove small", "prove tiny"), encoding="utf-8")
    for _ in range(2):
        with pytest.raises(Exception, match="tiny"):
            open_spec(spec)
    assert typings.calls == 2


def test_settings_of_the_world_of_a_kept_file(spec: Path) -> None:
    """The file is opened again for them, since a typed file says less than its text."""
    plain = load_check(str(spec), "one", {})
    assert "crash" in WORDS and plain.crash is None
    assert load_check(str(spec), "one", {"crash": "1"}).crash is not None


# ---- systems, plans and images ------------------------------------------------------------------


def test_a_system_is_made_once(spec: Path, systems: Counted) -> None:
    first, again = system_of(spec), system_of(spec)
    assert systems.calls == 1 and first == again and first is not again


def test_another_check_of_the_file_stays(spec: Path, systems: Counted) -> None:
    """Once its imports were parsed before: what was just parsed shares other strings."""
    for number in (3, 4, 5):
        text = SPEC.replace("one of P { n = 2", f"one of P {{ n = {number}")
        spec.write_text(text, encoding="utf-8")
        before = systems.calls
        system_of(spec, "two")
    assert systems.calls == before
    assert len(system_of(spec, "one").processes) == 5


@pytest.mark.parametrize(
    "how",
    [
        {"settings": {"n": "3"}},
        {"settings": {"most": "1"}},
        {"settings": {"crash": "1"}},
        {"fine_steps": True},
        {"coverage": True},
    ],
)
def test_other_options_make_another_system(
    spec: Path, systems: Counted, how: dict[str, Any]
) -> None:
    system_of(spec)
    other = system_of(spec, **how)
    assert systems.calls == 2
    assert system_of(spec, **how) == other and systems.calls == 2


def test_other_capacities_make_another_system(spec: Path, systems: Counted) -> None:
    check = load_check(str(spec), "one", {})
    for capacities in ({}, {"links": 3}, {"links": 4}, {"links": 3}):
        instantiated(check, Options(), capacities)
    assert systems.calls == 3


def test_another_version_of_the_tool_never_answers(
    spec: Path, systems: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    system_of(spec)
    monkeypatch.setattr(kept, "tool_digest", lambda: b"of a source that was edited")
    system_of(spec)
    assert systems.calls == 2


def test_nothing_is_kept_by_a_program_that_imports_the_tool(spec: Path, systems: Counted) -> None:
    kept.use(False)
    for _ in range(2):
        system_of(spec)
    assert systems.calls == 2
    assert not (spec.parent / "cache" / "bivalence" / kept.FOLDER).exists()


@pytest.mark.parametrize(
    ("mode", "question"),
    [("none", VERDICTS), ("por", VERDICTS), ("auto", SideQuestions(states=True))],
)
def test_a_plan_is_of_its_mode_and_its_question(
    spec: Path, mode: str, question: SideQuestions
) -> None:
    system = system_of(spec, "two")
    for _ in range(2):
        choose(system, "auto", VERDICTS)
        with_kept = choose(system, mode, question)
    kept.use(False)
    assert with_kept == choose(system, mode, question)
    assert with_kept != choose(system, "auto", VERDICTS)


def test_after_a_program_registers_a_reduction_nothing_is_kept(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "REDUCTIONS", dict(registry.REDUCTIONS))
    registry.register(replace(registry.REDUCTIONS["symmetry"], name="other", mode="other"))
    assert not kept.is_used()


def test_what_is_damaged_is_made_again(spec: Path, systems: Counted) -> None:
    first = system_of(spec)
    folder = resources.cache_folder(kept.FOLDER)
    assert folder is not None
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert system_of(spec) == first and systems.calls == 2


def test_what_can_not_be_pickled_is_made_again(spec: Path) -> None:
    made = Counted(lambda: lambda: None)
    for number in (1, 2):
        kept.result(made, "a function")
        assert made.calls == number
    assert kept.result(lambda: 3, lambda: None) == 3


def test_an_error_is_not_kept(spec: Path) -> None:
    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept.result(fail, "x")
    assert kept.result(lambda: 1, "x") == 1 and kept.result(lambda: 2, "x") == 1


def test_parts_are_not_run_together(spec: Path) -> None:
    assert kept.key(b"ab", b"c") != kept.key(b"a", b"bc") != kept.key(b"abc")


# ---- the tool -----------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tool of a few files that were written long ago."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = tmp_path / "checker"
    for name in tool.SOURCES:
        (package / name).mkdir(parents=True, exist_ok=True)
        (package / name / "a.py").write_text("x = 1\n", encoding="utf-8")
    (package / "top.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(resources, "__file__", str(package / "top.py"))
    monkeypatch.setattr(tool, "SETTLED", -1e9)
    return package


@pytest.mark.parametrize("name", [*(f"{name}/a.py" for name in tool.SOURCES), "top.py"])
def test_an_edit_of_any_source_is_another_tool(package: Path, name: str) -> None:
    """Also one that keeps the size and the time of the file."""
    before, path = tool.source_digest(), package / name
    assert tool.source_digest() == before
    status = path.stat()
    path.write_text("x = 2\n", encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tool.source_digest() != before
    path.write_text("x = 1\n", encoding="utf-8")
    assert tool.source_digest() == before


def test_files_that_come_and_go_are_another_tool(package: Path) -> None:
    before, path = tool.source_digest(), package / tool.SOURCES[0] / "b.py"
    path.write_text("", encoding="utf-8")
    assert tool.source_digest() != before
    path.unlink()
    assert tool.source_digest() == before


def test_contents_are_read_once(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(tool.content_digest)
    monkeypatch.setattr(tool, "content_digest", counted)
    assert tool.source_digest() == tool.source_digest() and counted.calls == 1


def test_the_time_of_a_file_that_was_just_written_is_not_trusted(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "SETTLED", 1e9)
    counted = Counted(tool.content_digest)
    monkeypatch.setattr(tool, "content_digest", counted)
    assert tool.source_digest() == tool.source_digest() and counted.calls == 2


MAKERS = {
    "checker.engines.native.codegen.image": {"checker.engines.native.codegen.make_image"},
    "checker.engines.native.search.lift_trace": {"checker.engines.native.search.lift_trace"},
    "checker.language.kept_module": {"checker.language.typed_module", "checker.language.library"},
    "checker.reductions.choose": {"checker.reductions.planning"},
    "checker.reductions.modes": {"checker.reductions.registry"},
    "checker.results.replay": {"checker.results.narrate"},
    "checker.session.systems": {
        "checker.instantiate.assemble",
        "checker.instantiate.capacity_estimation",
        "checker.properties.formula",
    },
}
"""The modules that keep results, and those that compute what they keep."""
ONLY_DECLARE = {
    "checker.cli.commands",
    "checker.cli.daemon_server",
    "checker.cli.points",
    "checker.engines.spark.class_archive",
    "checker.language.load",
    "checker.model.memo",
    "checker.mutate.mutant_tasks",
    "checker.reductions.registry",
    "checker.sweep.local",
    "checker.worlds.points",
}
"""Modules that name values, or say whether results are kept."""
WHEN_IT_ENDS = ("checker.engines.", "checker.extensions.")
"""Modules that matter only for when a search ends, and who runs it."""


def test_all_that_computes_what_is_kept_is_in_the_digest() -> None:
    graph = grimp.build_graph("checker", cache_dir=None)
    keeping = graph.find_modules_that_directly_import("checker.kept") - {"checker.kept.tool"}
    assert keeping == MAKERS.keys() | ONLY_DECLARE
    inside = tuple(f"checker.{name.replace('/', '.')}" for name in tool.SOURCES)
    for keeper, makers in MAKERS.items():
        for module in {keeper, *makers}:
            needed = {module} | graph.find_upstream_modules(module)
            outside = {
                name
                for name in needed
                if not name.startswith((*inside, *WHEN_IT_ENDS, "checker.kept"))
                and not re.fullmatch(r"checker(\.\w+)?", name)
            }
            assert not outside, f"{module} needs {outside}"
