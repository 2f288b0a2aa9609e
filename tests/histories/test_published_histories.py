"""Published histories with known verdicts, where they lie beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "histories"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the published histories are not there")

TEXT = """
object Text<V> {
  state text : seq<V> = []
  operation get(): seq<V> { return text }
  operation put(v: V) { text := [v] }
  operation append(v: V) { text := text + v }
}
"""


def code_of(*arguments: str) -> int:
    return main(["judge", *arguments, "--timeout", "10", "--quiet"])


def test_histories_of_etcd() -> None:
    lines = (DATA / "etcd" / "verdicts.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for line in lines:
        name, verdict = line.split("\t")
        expected = 0 if verdict == "true" else 1
        assert code_of(str(DATA / "etcd" / name), "--as", "CompareAndSwap") == expected, name


def test_histories_of_compare_and_swap() -> None:
    for verdict, expected in (("good", 0), ("bad", 1)):
        for file in sorted((DATA / "cas-register" / verdict).glob("*.edn")):
            assert code_of(str(file), "--as", "CompareAndSwap") == expected, file.name


def test_histories_of_a_map_of_texts(tmp_path: Path) -> None:
    spec = tmp_path / "text.bcast"
    spec.write_text(TEXT, encoding="utf-8")
    for file in sorted((DATA / "kv").glob("*.txt")):
        expected = 0 if file.stem.endswith("ok") else 1
        assert code_of(str(file), "--as", f"{spec}::Text", "--by", "key") == expected, file.name
