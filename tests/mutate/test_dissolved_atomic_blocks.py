"""A mutant dissolves an ``atomic`` block: its statements stay."""

from __future__ import annotations

from pathlib import Path

from checker.language.mutation.mutants import mutants
from tests.mutate.test_mutate_command import fates, judged, spec_in

SPEC = """\
protocol Transfer {
  shared state left : 0..1 = 1
  shared state right : 0..1 = 0
  upon condition left == 1 as moves {
    atomic { // both or none
      left := 0
      right := 1 // }
    }
  }
  property kept "Nothing is lost." : always left + right == 1
}
check one of Transfer { n = 1 WORLD prove kept }
"""
LABEL = "not atomic: `atomic { // both or none left := 0 right := 1 // } }`"


def dissolved(path: Path) -> list[str]:
    return [each.text for each in mutants(path) if each.kind == "not atomic"]


def test_the_statements_stay(tmp_path: Path) -> None:
    path = spec_in(tmp_path, SPEC.replace("WORLD ", ""))
    (text,) = dissolved(path)
    before, after = path.read_text("utf-8"), " ".join(text.split())
    assert before.count("atomic") == 1 and "atomic" not in text
    assert "as moves { left := 0 right := 1 }" in after


def test_a_crash_between_the_statements_kills_it(tmp_path: Path) -> None:
    path = spec_in(tmp_path, SPEC.replace("WORLD", "faults crash <= 1"))
    assert fates(judged(path))[LABEL] == "killed"


def test_without_a_crash_it_is_the_same_code(tmp_path: Path) -> None:
    path = spec_in(tmp_path, SPEC.replace("WORLD ", ""))
    assert fates(judged(path))[LABEL] == "equivalent here"


def test_blocks_in_blocks_are_dissolved_one_at_a_time(tmp_path: Path) -> None:
    inner = SPEC.replace("right := 1 // }", "if left == 0 { atomic { right := 1 } }")
    texts = dissolved(spec_in(tmp_path, inner.replace("WORLD ", "")))
    assert sorted(text.count("atomic") for text in texts) == [1, 1]
    assert len({*texts}) == 2
