"""Tests of Spark: those marked `cluster` have a Java, most of them the same one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from checker.engines.cluster import Cluster
from checker.engines.spark import local_prefix, session
from checker.engines.spark.shared_sessions import holding
from checker.engines.spark.standalone import SHORT_LIVED

HERE = Path(__file__).parent
SHARED = Cluster("local[2]", {"spark.sql.shuffle.partitions": "2"})


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Every Java compiles quickly: none lives long enough to be worth more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", SHORT_LIVED)
        yield


@pytest.fixture(autouse=True)
def no_java_unasked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is not marked `cluster` starts no Java."""

    def launch(*_: object) -> None:
        raise AssertionError("this test starts a Java: mark it `cluster`")

    if request.node.get_closest_marker("cluster") is None:
        monkeypatch.setattr(session, "start", launch)


class SharedSession:
    """A session that stays open from test to test: whoever opens one on that master has it."""

    def __init__(self) -> None:
        self._open: ExitStack | None = None

    def start(self) -> None:
        """Opens it, unless it is open."""
        if self._open is None:
            pytest.importorskip("pyspark")
            with ExitStack() as stack:
                stack.enter_context(session.open_session(SHARED))
                self._open = stack.pop_all()

    def stop(self) -> None:
        """Closes it, and ends its Java."""
        if self._open is not None:
            self._open.close()
            self._open = None


JAVA = SharedSession()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Closes the shared session after the last test of this folder."""
    if nextitem is None or HERE not in nextitem.path.parents:
        JAVA.stop()


@pytest.fixture(scope="module")
def shared_java() -> None:
    """The shared session is open."""
    JAVA.start()


@pytest.fixture(scope="module")
def no_shared_java() -> None:
    """There is no session, but for those that the tests of the module open."""
    JAVA.stop()


@pytest.fixture(scope="module")
def one_session(shared_java: None) -> Iterator[None]:
    """The session is there for all runs of a module, also where they ask for a longer silence."""
    with holding():
        yield


@pytest.fixture
def nothing_in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small levels, too, are left to tasks."""
    monkeypatch.setattr(local_prefix, "LIGHT", -1)
