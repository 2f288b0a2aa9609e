"""A command reads and types each file once, however many checks it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.language import library, typed_module
from checker.language.typecheck import checks

SPEC = """
protocol Counting {
  state count : 0..2 = 0
  upon condition count < 2 { count := count + 1 }
  property never_three: always forall p in Proc: p.count <= 2
}

check one of Counting { n = 1 prove never_three }
check two of Counting { n = 2 prove never_three }
check three of Counting { n = 3 prove never_three }
"""


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("check FILE -q --no-explain", 3),
        ("check FILE FILE::two -q --no-explain", 3),
        ("check FILE -q --no-explain --set links=fifo", 6),
        ("test FILE", 3),
        ("show FILE", 3),
        ("prove FILE -q", 3),
        ("sweep FILE::one --grid n=1..3 -q", 3),
        ("sweep FILE::one --grid links={perfect,fifo} -q", 5),
    ],
)
def test_a_file_is_read_and_its_checks_are_typed_once(
    command: str, typed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"open_source": 0, "check_of": 0}
    library.prelude()  # its files are read, too, once for all specs
    places = (library, "open_source"), (checks, "check_of"), (typed_module, "check_of")
    for module, name in places:
        whole = getattr(module, name)

        def counted(*given: object, name: str = name, whole: object = whole) -> object:
            calls[name] += 1
            return whole(*given)  # type: ignore[operator]

        monkeypatch.setattr(module, name, counted)
    path = tmp_path / "telling.bcast"
    path.write_text(SPEC, encoding="utf-8")
    assert main([word.replace("FILE", str(path)) for word in command.split()]) == 0
    assert calls == {"open_source": 1, "check_of": typed}
