"""`allow unused` lets a check hold of which little happens: the report says what was not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.session.pipeline import Options, run_check

IDLE = """
import "broadcast/eager_reliable"
variant Quiet of EagerReliableBroadcast { upon condition n > 7 as idles { } }
check quiet of Quiet {
  n = 3  faults crash <= 1  allow unused  clients { p1 broadcasts a }  prove no_creation
}
"""


@pytest.mark.parametrize(
    ("reduce", "said"),
    [
        (
            "auto",
            (
                "not seen in this search, whose reductions may hide it (`--reduce none` decides):"
                " idles (line 3) never ran",
            ),
        ),
        ("none", ()),
    ],
)
def test_a_reduced_search_says_what_it_has_not_seen(
    reduce: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "idle.bcast"
    path.write_text(IDLE, encoding="utf-8")
    report = run_check(str(path), "quiet", Options(engine="native", reduce=reduce))
    assert tuple(note for note in report.notes if note.startswith("not seen")) == said
    assert report.never == (("idles (line 3) never ran",) if reduce == "none" else ())
