"""The table of docs/mutation.md: its rows add up, and the README says what they add up to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checker import resources

ROOT = resources.specs().parent
PAGE = (ROOT / "docs" / "mutation.md").read_text(encoding="utf-8")
ROW = re.compile(r"\| (?:`(?P<file>[\w/]+\.bcast)`|all) \| (?P<numbers>.*) \| (?P<score>\d+) % \|")


def rows() -> Iterator[tuple[str | None, list[int], int]]:
    """The file of each row, ``None`` for the total, its numbers and its score."""
    for found in ROW.finditer(PAGE):
        numbers = [int(each) for each in re.findall(r"\d+", found["numbers"])]
        yield found["file"], numbers, int(found["score"])


def test_each_row_is_consistent() -> None:
    assert len([*rows()]) == PAGE.count(" % |\n") > 50
    for file, numbers, score in rows():
        judged, known, killed, survived, accepted, unknown, equivalent, stillborn = numbers
        assert file is None or (resources.specs() / file).exists()
        parts = (killed, survived, accepted, unknown, equivalent, stillborn)
        assert sum(parts) == judged <= known, file
        assert score == 100 * killed // (killed + survived + unknown), file


def test_the_total_is_that_of_the_rows() -> None:
    *found, (total, numbers, score) = rows()
    files = [file for file, _, _ in found]
    assert total is None and None not in files and len({*files}) == len(files)
    assert numbers == [sum(column) for column in zip(*(n for _, n, _ in found), strict=True)]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = f"{numbers[0]:,} of {numbers[1]:,} mutants of {len(files)} files: {score} %"
    assert said in " ".join(readme.split())
