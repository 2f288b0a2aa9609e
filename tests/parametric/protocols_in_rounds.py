"""A small protocol in rounds, as text, that tests share and change."""

from __future__ import annotations

ROUNDS = """\
protocol Votes(T: Nat, last: Nat, decides: Nat = n - T, adopts: Nat = n - 2 * T) {
  message VOTE(round: 1..last, v: bool)
  state round : 1..last = 1
  state value = false
  init choose value
  state phase : enum { begin, voted, over } = begin
  state decision : option<bool> = none

  upon condition phase == begin {
    phase := voted
    send VOTE(round, value) to all
  }

  upon condition phase == voted and #received(VOTE(round, _)) >= n - T {
    if #received(VOTE(round, true)) >= decides { decision := some(true) }
    else if #received(VOTE(round, false)) >= decides { decision := some(false) }
    if #received(VOTE(round, true)) >= adopts { value := true }
    else if #received(VOTE(round, false)) >= adopts { value := false }
    if round < last {
      round += 1
      phase := begin
    } else {
      phase := over
    }
  }

  property agreement: always forall p, q in Proc:
    not (p.decision == some(true) and q.decision == some(false))
}
check every of Votes {
  for all n, T, last when n > 3 * T
  prove agreement
}
"""
"""A process that decides has heard n - T votes for a value, of which all others hear n - 2T, more
than of the other value; so all vote for it from then on, if n > 3T.  (After B. Charron-Bost,
A. Schiper: The Heard-Of model, Distributed Computing 2009, algorithm OneThirdRule.)"""
