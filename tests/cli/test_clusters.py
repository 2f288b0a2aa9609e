"""The options about clusters: what goes together, what they become, what doctor says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.cli import doctor
from checker.cli.main import main
from checker.cli.settings import options_of
from checker.diagnostics import Diagnostic, SpecError
from checker.engines.cluster import HERE, Cluster, Exchange
from checker.engines.spark import probe, session
from checker.engines.spark.probe import Seen
from checker.engines.spark.session import Session

SPEC = "specs/broadcast/eager_reliable.bcast"
GIVEN: dict[str, Any] = {
    "engine": "auto",
    "threads": None,
    "reduce": "auto",
    "fine_steps": False,
    "max_states": None,
    "max_depth": None,
    "timeout": None,
    "memory": None,
    "query_timeout": None,
    "master": None,
    "conf": (),
    "exchange": "auto",
    "shards": None,
    "graduate_at": None,
}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--engine native --master local[2]", "--master applies to --engine spark"),
        ("--engine reference --shards 2", "--shards applies to --engine spark"),
        ("--conf spark.a=b", "--conf needs --master"),
        ("--exchange barrier", "--exchange needs --master"),
        ("--graduate-at 5", "--graduate-at needs --master"),
        ("--engine spark --graduate-at 5", "--graduate-at applies to --engine auto"),
        ("--engine spark --threads 2", "--threads applies to this machine"),
        ("--master local[2] --conf nonsense", "--conf takes KEY=VALUE"),
        ("--master local[2] --conf hadoop.x=y", "--conf takes KEY=VALUE"),
        ("--master local[2] --conf spark.a=b --conf spark.a=c", "spark.a twice: to b and c"),
        ("--master local[2] --exchange pigeon", "pigeon"),
        ("--master local[2] --shards 0", "--shards"),
        ("--master nowhere", "[E023]"),
        ("--engine spark --master spark://host", "[E023]"),
    ],
)
def test_what_does_not_go_together(
    options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", SPEC, *options.split()]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


@pytest.fixture
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "require", lambda cluster: None)


@pytest.mark.usefixtures("reachable")
@pytest.mark.parametrize(
    ("given", "cluster"),
    [
        ({}, None),
        ({"engine": "native"}, None),
        ({"engine": "spark"}, Cluster(HERE)),
        ({"master": "yarn"}, Cluster("yarn")),
        (
            {
                "engine": "spark",
                "master": "sc://h",
                "conf": ("spark.a = b=c", "spark.d=", "spark.a=b=c"),
                "exchange": "shuffle",
                "shards": 7,
            },
            Cluster("sc://h", {"spark.a": "b=c", "spark.d": ""}, Exchange.SHUFFLE, 7),
        ),
    ],
)
def test_what_the_options_become(given: dict[str, Any], cluster: Cluster | None) -> None:
    assert options_of((), {**GIVEN, **given}).cluster == cluster


@pytest.mark.usefixtures("reachable")
def test_when_to_go_over() -> None:
    given = {**GIVEN, "master": "yarn", "graduate_at": 5}
    assert options_of((), given).graduate_at == 5
    assert options_of((), GIVEN).graduate_at == 1_000_000


def test_without_a_java_no_run_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> None:
        raise SpecError((Diagnostic("E021", "no Java", hint="get one"),))

    monkeypatch.setattr(session, "require_pyspark", lambda: None)
    monkeypatch.setattr(session, "find_java", none)
    assert main(["check", SPEC, "--engine", "spark"]) == 2
    assert capsys.readouterr().err == "error[E021]: no Java\n  help: get one\n"


# ---- doctor -----------------------------------------------------------------------------------


def test_doctor_looks_for_spark_and_java(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    out = capsys.readouterr().out
    assert " pyspark: " in out
    assert " java: " in out
    assert " pyarrow: " in out


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctor looks at the cluster only."""
    monkeypatch.setattr(doctor, "findings", lambda: iter(()))


@pytest.mark.usefixtures("quick")
def test_doctor_looks_at_a_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from contextlib import contextmanager

    asked: list[Cluster] = []

    @contextmanager
    def opened(cluster: Cluster) -> Any:
        asked.append(cluster)
        nothing: Any = None
        yield Session(nothing, 8, True, False, False, Path("log"))

    seen = (Seen("a", "3.11.1", "/p", {"checker": "1", "llvmlite": "2", "pyarrow": "3"}),) * 8
    monkeypatch.setattr(session, "open_session", opened)
    monkeypatch.setattr(probe, "require", lambda _: seen)
    assert main(["doctor", "--master", "yarn", "--conf", "spark.a=b"]) == 0
    out = capsys.readouterr().out
    assert asked == [Cluster("yarn", {"spark.a": "b"})]
    assert "cluster: yarn: 8 slots, allocated dynamically" in out
    assert out.count("executor: a: Python 3.11.1, bivalence 1, llvmlite 2, pyarrow 3") == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("master", ["nonsense", "spark://localhost:1", "sc://localhost:1"])
def test_doctor_says_what_is_wrong_with_a_cluster(
    master: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--master", master]) == 1
    out = capsys.readouterr().out
    assert "MISSING  cluster: " in out
    assert "[E023]" in out
    assert "-> " in out


def test_doctor_wants_a_master_for_conf() -> None:
    assert main(["doctor", "--conf", "spark.a=b"]) == 2
