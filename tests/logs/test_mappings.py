"""A mapping: paths, values, what is wrong with one, and lines of the old direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.audit.columns import COLUMNS as OF_AUDIT
from checker.conform.read_log import SAID
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.content import Unreadable
from checker.logs.entries import Entries
from checker.logs.mapping import COLUMNS
from checker.logs.paths import ABSENT, Entry, path_of, rows_of
from checker.logs.read_mapping import read_mapping

ROW: dict[str, Any] = {
    "a": {"b": 1, "b.c": 2, "d": [3, {"e": 4}]},
    "a.b": {"x": 5},
    "x y": 6,
    "n": None,
    "attributes": [
        {"key": "m.id", "value": {"intValue": "7"}},
        {"key": "m.tags", "value": {"arrayValue": {"values": [{"stringValue": "t"}]}}},
        {"key": "m.map", "value": {"kvlistValue": {"values": [{"key": "k", "value": {}}]}}},
    ],
}
AROUND = {"a": 8, "resource": {"attributes": {"host.name": "h"}}}


def at(path: str, *around: dict[str, Any]) -> Any:
    found = path_of(path)
    assert found is not None
    return found.of(Entry((ROW, *around), "log", 12, 3))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", {"x": 5}), ("a.b.x", 5), ("a.b.c", 2), ('a."b"', {"x": 5}), ("a.d[0]", 3),
        ("a.d[1].e", 4), ("a.d[-1].e", 4), ("a.d[2]", ABSENT), ("a.d[-3]", ABSENT), ("x y", 6),
        ('"x y"', 6), ("n", None), ("n.m", ABSENT), ("attributes.m.id", 7), ("z", ABSENT),
        ("attributes.m.tags[0]", "t"), ("attributes.m.map.k", None), ("a[0]", ABSENT),
        ("resource.attributes.host.name", "h"), ("@row", 3), ("@line", 12), ("@file", "log"),
        ("@const a b", "a b"), ("attributes[0].key", "m.id"),
    ],
)  # fmt: skip
def test_a_path_leads_to_a_value(path: str, value: Any) -> None:
    assert at(path, AROUND) == value


@pytest.mark.parametrize(
    "text", ["", ".a", "a.", "a..b", "[0]", "a[", "a[x]", "a[0]b", "@rows", "@const ", 'a."b', "a]"]
)
def test_what_is_no_path_is_refused(text: str) -> None:
    assert path_of(text) is None


def test_lists_become_rows_with_what_is_around_them() -> None:
    rows = rows_of("batches[].events[]")
    assert rows is not None
    given = {"batches": [{"of": 1, "events": [{"e": 1}, {"e": 2}]}, {"of": 2}, {"events": []}]}
    assert [(scope[0]["e"], scope[1]["of"]) for scope in rows.of(given)] == [(1, 1), (2, 1)]
    for wrong in ("", "batches", "batches[].x", "[]", "a[]b[]", "@row[]"):
        assert rows_of(wrong) is None
    with pytest.raises(ValueError, match="batches"):
        rows.of({"batches": [1]})


def test_wrong_attributes_are_told_with_their_line() -> None:
    entry = Entry(({"attributes": [{"key": "a"}, {"key": "a"}]},), "log", 9, 1)
    path = path_of("attributes.a")
    assert path is not None
    with pytest.raises(Unreadable, match="duplicate attribute") as caught:
        path.of(entry)
    assert caught.value.line == 9


def mapping_in(folder: Path, text: str) -> Any:
    file = folder / "names.toml"
    file.write_text(text, encoding="utf-8")
    return read_mapping(str(file))


def wrong_in(folder: Path, text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        mapping_in(folder, text)
    assert {each.code for each in caught.value.diagnostics} == {"E097"}
    return caught.value.diagnostics


def test_columns_and_values_are_read(tmp_path: Path) -> None:
    mapping = mapping_in(
        tmp_path,
        '\ufeffrows = "events[]"\nignored = ["note"]\nunit = "ms"\n'
        '[columns]\nprocess = ["who.id", "node"]\npos = "@row"\nkind = "what"\n'
        '[values.kind]\ndeliver = ["got", 2, true]\n[operations]\nread = "r"\n'
        '[results]\nread = "nil is unknown"\n',
    )
    assert mapping.unit == 10**6 and mapping.ignored == ("note",) and not mapping.is_flat
    given = {"node": "p9", "events": [{"what": "got", "f": "r"}, {"what": 2, "who": {"id": 1}}]}
    entries = [*Entries(mapping, "log").of(given, 4)]
    found = [[mapping.of(name, each) for name in ("process", "pos", "kind", "f")]
             for each in entries]  # fmt: skip
    assert found == [["p9", 1, "deliver", "read"], [1, 2, "deliver", ABSENT]]
    assert mapping.value("kind", True) == "deliver" and mapping.value("kind", [True]) == [True]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[columns", 1, "not TOML"),
        ("a = 1\na = 2\n", 2, "not TOML"),
        ("colums = 1\n", 1, "did you mean `columns`?"),
        ('\n[columns]\nproces = "p"\n', 3, "did you mean `process`?"),
        ('[columns]\nprocess = "a..b"\n', 2, "not a path"),
        ("[columns]\nprocess = 3\n", 2, "not a path"),
        ("[columns]\nprocess = []\n", 2, "not a path"),
        ("columns = 3\n", 1, "must be a table"),
        ('rows = "events"\n', 1, "does not name rows"),
        ("lines = '(x'\n", 1, "not a regular expression"),
        ("lines = 'x'\n", 1, "no named group"),
        ("lines = '(?P<kind>x)'\nrows = 'a[]'\n", 1, "`rows` is for JSON"),
        ('unit = "minutes"\n', 1, "not a unit"),
        ("ignored = 3\n", 1, "must be a list"),
        ('logged = [3]\n', 1, "must be a list"),
        ('[values.knd]\na = "b"\n', 1, "no column `knd`"),
        ("[values.kind]\na = {}\n", 2, "not a value"),
        ('[values.kind]\na = "x"\nb = "x"\n', 3, "both `a` and `b`"),
        ('[results]\nread = "nil"\n', 2, "not a meaning"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(
    text: str, line: int, said: str, tmp_path: Path
) -> None:
    found = wrong_in(tmp_path, text)[0]
    assert said in f"{found.message} {found.hint}"
    assert found.span is not None and found.span.line == line


def test_what_can_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'ignored = ["\xe9"]')
    for name in ("none.toml", "latin.toml", "."):
        with pytest.raises(SpecError, match="mapping"):
            read_mapping(str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "line", "now"),
    [
        ('[fields]\nnode = "process"\n', 2, '`process = "node"` in [columns]'),
        ('[columns]\nnode = "process"\n', 2, '`process = "node"` in [columns]'),
        ('[kinds]\nsent = "submit"\n', 2, '`submit = "sent"` in [values.kind]'),
        ('[kinds]\na = "submit"\nb = "submit"\n', 2, '`submit = ["a", "b"]` in [values.kind]'),
        ('[processes]\n"h:1" = "p1"\n', 2, '`p1 = "h:1"` in [values.process]'),
        ('[messages]\nmsg = "ACK"\n', 2, '`ACK = "msg"` in [values.message]'),
        ('[names]\nx = "stands"\n', 2, '`stands = "x"` in [values.name]'),
        ('[variables]\ncurrentTerm = "term"\n', 2, '`term = "currentTerm"` in [values.variable]'),
        ('\n[values]\n"order 17" = "a"\n', 3, '`a = "order 17"` in [values.value]'),
        ('ignore = ["x"]\n', 1, '`ignored = ["x"]`'),
    ],
)
def test_lines_of_the_old_direction_are_shown_as_they_are_now(
    text: str, line: int, now: str, tmp_path: Path
) -> None:
    found = wrong_in(tmp_path, text)[0]
    assert found.hint == f"write {now}" and found.span is not None and found.span.line == line


def test_renamed_values_are_known_ones(tmp_path: Path) -> None:
    mapping = mapping_in(tmp_path, '[operations]\nw = "write"\n[values.f]\nreed = "r"\n')
    with pytest.raises(SpecError) as caught:
        mapping.require_known("f", ["read", "write"], "an operation")
    old, near = sorted(caught.value.diagnostics, key=lambda each: each.message, reverse=True)
    assert old.hint == 'write `write = "w"` in [operations]'
    assert near.hint == "did you mean `read`?"
    assert old.span is not None and near.span is not None
    assert (old.span.line, near.span.line) == (2, 4)


def test_a_mapping_knows_the_columns_of_all_commands() -> None:
    assert {*OF_AUDIT, *SAID, "pos", "ts"} <= {*COLUMNS}
