"""What only its user should know of a cluster is not repeated."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from checker.cli import checkpoint_options
from checker.diagnostics import SpecError
from checker.engines.cluster import Cluster, Exchange
from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.options import Options
from checker.engines.spark import driver, masters
from checker.engines.spark.job import Job, RunOutcome
from checker.engines.spark.slots import no_executor
from checker.results.answer import Limits

SECRET = "x1y2z3"
REMOTE = f"sc://localhost:1/;use_ssl=false;token={SECRET};user_id=me"


def test_a_token_is_not_shown() -> None:
    assert masters.redact_master(REMOTE) == "sc://localhost:1/;use_ssl=false;token=…;user_id=me"
    for other in ("local[2]", "spark://a:7077,b:7077", "yarn", "k8s://https://h:6443"):
        assert masters.redact_master(other) == other


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError) as found:
        masters.require_reachable(REMOTE)
    assert SECRET not in str(found.value.diagnostics)
    with pytest.raises(SpecError) as found:
        masters.addresses(f"sc:///;token={SECRET}")
    assert SECRET not in str(found.value.diagnostics)
    assert SECRET not in str(no_executor(REMOTE, 1.0).diagnostics)


def test_how_to_go_on() -> None:
    conf = {
        "spark.authenticate.secret": SECRET,
        "spark.hadoop.fs.s3a.access.key": SECRET,
        "spark.ssl.keyPassword": SECRET,
        "spark.executor.memory": "2g",
    }
    words = checkpoint_options._same(Options(engine="spark", cluster=Cluster(REMOTE, conf)))
    assert not any(SECRET in word for word in words)
    assert "spark.authenticate.secret=…" in words
    assert "spark.executor.memory=2g" in words


def test_the_report(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def attempt(*_: object) -> RunOutcome:
        return cast(RunOutcome, SimpleNamespace(efforts=()))

    monkeypatch.setattr(driver.SparkRun, "_attempt", attempt)
    none: Any = None
    cluster = Cluster(REMOTE, {}, Exchange.SHUFFLE)
    run = driver.SparkRun(none, none, Limits(), cluster, RunFolder(str(tmp_path), 1), none, None)
    run.outcome(cast(Job, SimpleNamespace(shards=2)))
    assert run.remarks
    assert not any(SECRET in remark for remark in run.remarks)
