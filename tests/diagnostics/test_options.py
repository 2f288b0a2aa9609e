"""A wrong value of an option is underlined in the option; the spec is not to blame."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main

SPEC = """protocol P(leader: Proc, eager: bool = false) {
  state done = false
  upon condition not done { done := true }
  property quiet "Nothing happens." : always forall p in Proc: not p.done
}
check c of P { n = 2  links fair_loss  expect quiet violated }
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nn=4", "error[E003]: there is no parameter `nn`"),
        ("n=0", "error[E003]: the protocol has 0 processes"),
        ("n=many", "error[E003]: `n` needs a number, not `many`"),
        ("f=7", "error[E003]: f = 7 exceeds the 2 processes"),
        ("leader=p9", "error[E003]: `leader` needs a process"),
        ("eager=1", "error[E003]: `eager` is `true` or `false`, not `1`"),
        ("crash=x", "error[N002]: nothing is called `x`"),
        ("crash=5", "error[E003]: crash <= 5 is impossible with 2 processes"),
        ("links=foo", "error[C004]: no kind of link `foo`"),
        ("recover=perhaps", "error[E030]: `recover` can't be set to `perhaps`"),
    ],
)
def test_a_setting_is_underlined(
    given: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(SPEC, encoding="utf-8")
    assert main(["check", str(path), "--set", given]) == 2
    shown = capsys.readouterr().err.split("\n")[:3]
    assert shown == [message, f"  --set {given}", " " * 8 + "^" * len(given)]
