"""What ``sweep --json`` writes is what its schema says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checker.cli.main import main
from checker.results.verdict import Word
from checker.sweep.cells import Status
from checker.sweep.rows import ABOUT, ERROR, FIGURES, FIRST, FORMAT, STATUS
from checker.sweep.schema import sweep_schema
from tests.sweep.test_sweep_plan import SPEC

SCHEMA = sweep_schema()
CELL = SCHEMA["$defs"]["cell"]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Of cells that are done, impossible, and stopped by a limit."""
    folder = tmp_path_factory.mktemp("sweep")
    spec, out = folder / "counter.bcast", folder / "o.json"
    spec.write_text(SPEC, encoding="utf-8")
    grid = "n=1..2,top=1..2,crash={0,2},links={perfect,fifo}"
    words = ["--engine", "reference", "--jobs", "2", "--traces", str(folder / "t"), "-q"]
    words += ["--max-states", "3", "--json", str(out)]
    main(["sweep", f"{spec}::c", "--grid", grid, *words])
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def test_documents_follow_the_schema(document: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document)
    assert {"impossible", "stopped"} <= {cell["status"] for cell in document["cells"]}


def test_it_is_strict(document: dict[str, Any]) -> None:
    validator, cell = Draft202012Validator(SCHEMA), document["cells"][0]
    for wrong in (
        {"surprise": 1},
        {"format": FORMAT + 1},
        {"cells": [{**cell, "status": "lost"}]},
        {"cells": [{**cell, "exhaustive": "yes"}]},
        {"cells": [{k: v for k, v in cell.items() if k != "engine"}]},
    ):
        assert not validator.is_valid({**document, **wrong})


def test_it_knows_all_columns_and_words() -> None:
    assert SCHEMA["$id"] == f"bivalence:sweep:{FORMAT}"
    assert CELL["required"] == [*FIRST, *STATUS, *FIGURES, *ERROR, *ABOUT]
    assert set(CELL["properties"]["status"]["enum"]) == {status.value for status in Status}
    words = CELL["patternProperties"]["^verdict_"]["enum"]
    assert set(words) == {None, *(word.value for word in Word)}
