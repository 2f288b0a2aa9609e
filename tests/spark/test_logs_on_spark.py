"""Several logs, each asked of by a task of Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from tests.conform.test_many_logs import BAD, GOOD, SPEC, UNUSABLE, folders

pytestmark = pytest.mark.cluster


@pytest.mark.slow
def test_each_log_is_a_task(
    shared_java: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "echo.bcast"
    spec.write_text(SPEC, encoding="utf-8")
    logs = folders(tmp_path, bad=BAD, good=GOOD, unusable=UNUSABLE, more=GOOD)
    assert main(["conform", f"{spec}::c", *logs, "--master", "local[2]"]) == 2
    said = capsys.readouterr()
    assert "4 logs: 2 conforming, 1 not conforming, 1 can't be used" in said.out
    assert "E074" in said.err
