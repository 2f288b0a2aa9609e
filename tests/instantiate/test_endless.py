"""What grows without end is seen, and what only grows large is explored."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.results.verdict import Word
from tests.instantiate.tables import run, words

AGAIN = """
interface Order {
  request broadcast(m: Msg)
  indication deliver(m: Msg)
  property prefix : always forall p, q in Proc, i in (0..1):
    i < #delivered(p) and i < #delivered(q) => delivered(p)[i] == delivered(q)[i]
}
protocol Over implements Order {
  uses low : Order
  message M(m: Msg)
  upon request broadcast(m) { low.broadcast(M(m)) }
  upon low.deliver(M(m)) { deliver(m) }
}
check c of Over { n = 2  given low as oracle  clients { p1 broadcasts a }  prove prefix
  allow unused }
"""
MORE = """
protocol Pass {
  message TOKEN
  state had = false
  upon init { if rank(self) == 1 { send TOKEN to self } }
  upon receive TOKEN { had := true  if flip() { send TOKEN to all } else { send TOKEN to self } }
  property comes : forall p in Proc: eventually p.had
}
check c of Pass { n = 3  prove comes }
"""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (AGAIN, "`low.@indication.deliver` grows without bound: after "),
        (MORE, "copies of one message are in flight, without a bound"),
    ],
    ids=["a history", "messages under way"],
)
def test_what_comes_back_with_more_has_no_end(text: str, what: str, tmp_path: Path) -> None:
    report = run(tmp_path, text)
    assert [v.word for v in report.verdicts] == [Word.UNKNOWN]
    assert report.stopped is not None
    assert what in report.stopped
    assert report.distinct_states < 200_000
    assert report.forecast is None, "there is no number of states to foretell"


def test_what_a_bound_of_the_check_ends_is_explored(tmp_path: Path) -> None:
    report = run(
        tmp_path,
        """
protocol Ticks {
  state ticks : Nat = 0
  upon condition true { ticks += 1 }
  property positive : always forall p in Proc: p.ticks >= 0
}
check c of Ticks { n = 1  bound p.ticks <= 300  expect positive holds within }
""",
    )
    assert [v.word for v in report.verdicts] == [Word.WITHIN]
    assert report.distinct_states == 302


LARGE = [
    ("state held : Nat = 0", "held < 200", "held := held + 1"),
    ("state held : Nat = 0", "held < 1000", "held := held + 1"),
    ("state held : Nat = 0", "held != 700", "while some x in {1} when held < 700 { held += x }"),
    ("state held : seq<bool> = []", "#held < 40", "held := held + true"),
    ("state held : bag<0..1> = {| |}", "#held < 40", "held += 0"),
]


@pytest.mark.parametrize(("state", "while_", "does"), LARGE)
def test_what_a_handler_bounds_is_explored(
    state: str, while_: str, does: str, tmp_path: Path
) -> None:
    text = f"""
    protocol P {{
      {state}
      state over = false
      upon condition {while_} {{ {does} }}
      property never : always forall p in Proc: not p.over
    }}
    check c of P {{ n = 1  prove never }}
    """
    assert words(run(tmp_path, text)) == {"never": "holds"}


def test_what_was_seen_before_is_told(tmp_path: Path) -> None:
    """A violation is one, whatever grows behind it."""
    text = MORE.replace("prove comes", "prove shy").replace(
        "property comes : forall p in Proc: eventually p.had",
        "property shy : always exists p in Proc: not p.had",
    )
    assert words(run(tmp_path, text)) == {"shy": "violated"}


@pytest.mark.parametrize("links", ["persistent", "stubborn"])
def test_links_that_keep_messages_hold_each_of_them_once(links: str, tmp_path: Path) -> None:
    """A step that is taken again sends nothing new there, however many messages there are."""
    text = f"""
    protocol P {{
      message NUMBER(a: 0..40, b: 0..40)
      state got = false
      upon condition not got {{ choose k in (0..16)  send NUMBER(k, 0) to self }}
      upon receive NUMBER(k, 40) {{ got := true }}
      property never : always forall p in Proc: not p.got
    }}
    check c of P {{ n = 1  links {links}  prove never  allow unused }}
    """
    report = run(tmp_path, text, reduce="none")
    assert words(report) == {"never": "holds"}
    assert report.distinct_states == 2**17
