"""Small threshold automata, as text, that tests share."""

from __future__ import annotations

BROADCAST = """\
/* each process that has the value sends it; who hears it from T + 1 accepts */
skel Broadcast {
  local pc;
  shared sent;
  parameters N, T, F;
  define ENOUGH == T + 1;
  assumptions (0) { N > 3 * T; T >= F; F >= 0; }
  locations (0) { no: [0]; yes: [1]; told: [2]; done: [3]; }
  inits (0) { (no + yes) == N - F; told == 0; done == 0; sent == 0; }
  rules (0) {
  0: yes -> told when (true) do { sent' == sent + 1; };
  1: no -> told when (sent >= ENOUGH - F) do { sent' == sent + 1; };
  2: told -> done when (sent >= N - T - F) do { unchanged(sent); };
  3: told -> told when (true) do { };
  }
  specifications (0) {
    unforgeable: (yes == 0) -> [](done == 0);
    nobody: [](done == 0);
    odd: []((yes == 0) -> <>(told == 0));
  }
}
"""

CRASHES = """\
skel Crashes {
  local pc;
  shared x, crashed;
  parameters N, F;
  assumptions (0) { N > F; F >= 1; }
  locations (0) { a: [0]; b: [1]; c: [2]; }
  inits (0) { a == N; b == 0; c == 0; x == 0; crashed == 0; }
  rules (0) {
  0: a -> b when (x < 1) do { x' == x + 1; };
  1: a -> c when (crashed < F) do { crashed' == crashed + 1; };
  2: b -> c when (crashed < F) do { crashed' == crashed + 1; };
  }
  specifications (0) {
    alone: [](b <= 1);
    bounded: [](c <= F);
    fewer: [](c < F);
    order: []((c != 0) -> [](b == 0));
  }
}
"""
"""One process at most passes a guard that falls, and at most F crash."""

ROUNDS = """\
/* everybody votes for its value, waits for all votes, and prefers 0 in the next round */
skel Rounds {
  local pc;
  shared zeros, votes, left;
  parameters N;
  assumptions (0) { N >= 1; }
  locations (0) { zero: [0]; one: [1]; wait: [2]; low: [3]; high: [4]; }
  inits (0) { (zero + one) == N; wait == 0; low == 0; high == 0;
              zeros == 0; votes == 0; left == 0; }
  rules (0) {
  0: zero -> wait when (true) do { zeros' == zeros + 1; votes' == votes + 1; };
  1: one -> wait when (true) do { votes' == votes + 1; };
  2: wait -> low when (votes >= N && zeros >= 1) do { left' == left + 1; };
  3: low -> zero when (left >= N) do { zeros' == 0; votes' == 0; left' == 0; };
  4: low -> zero when (left < 1) do { };
  5: wait -> high when (votes >= N && zeros < 1) do { left' == left + 1; };
  6: high -> one when (left >= N) do { zeros' == 0; votes' == 0; left' == 0; };
  7: high -> one when (left < 1) do { };
  }
  specifications (0) {
    same: [](low == 0 || high == 0);
    never: (zero == 0) -> [](low == 0);
    again: []((low != 0) -> [](zero == 0));
    later: <>[](high == 0 && low == 0);
  }
}
"""
"""Several rounds with one set of variables: the first who leaves a round resets them."""


def changed(text: str, old: str, new: str) -> str:
    """``text`` with ``new`` for ``old``, which is in it."""
    assert old in text
    return text.replace(old, new)
