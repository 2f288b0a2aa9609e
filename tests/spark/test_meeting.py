"""The tasks of an attempt exchange their addresses by messages in the run's folder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checker.engines.spark import meeting
from checker.engines.spark.meeting import meet
from checker.engines.spark.mesh import Address

PLACES: list[Address] = [("127.0.0.1", 4000), ("127.0.0.2", 4001), ("127.0.0.1", 4002)]


class Folder:
    """The messages of a run's folder."""

    writer = "one"

    def __init__(self) -> None:
        self.said = dict[str, dict[str, Any]]()

    def say(self, name: str, document: dict[str, Any]) -> None:
        self.said[name] = document

    def read_message(self, name: str) -> dict[str, Any] | None:
        return self.said.get(name)


def together(folder: Any, places: list[Address]) -> list[list[Address]]:
    with ThreadPoolExecutor(len(places)) as pool:
        each = enumerate(places)
        found = [pool.submit(meet, folder, i, len(places), place) for i, place in each]
        return [one.result(60) for one in found]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_have_the_addresses_of_all(size: int) -> None:
    assert together(Folder(), PLACES[:size]) == [PLACES[:size]] * size


def test_what_an_earlier_attempt_has_said_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is there when the tasks come again, the last one long after the others."""
    folder, before = Folder(), [(host, port + 100) for host, port in PLACES]
    assert together(folder, before) == [before] * 3
    waited = list[float]()
    with ThreadPoolExecutor(3) as pool:

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 20:
                last.append(pool.submit(meet, folder, 2, 3, PLACES[2]))  # type: ignore[arg-type]

        last: list[Any] = []
        monkeypatch.setattr(meeting, "time", SimpleNamespace(sleep=sleep))
        some: Any = folder
        first = [pool.submit(meet, some, i, 3, PLACES[i]) for i in range(2)]
        assert [one.result(60) for one in first] == [PLACES] * 2
        assert last[0].result(60) == PLACES


def test_other_attempts_have_other_messages(tmp_path: Path) -> None:
    folder = Folder()
    together(folder, PLACES[:2])
    folder.writer = "two"
    assert together(folder, PLACES[1:]) == [PLACES[1:]] * 2
    assert len(folder.said) == 4
