"""Where a crash can fall inside a handler, and what is forgotten and what stays visible."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

CASES = [
    Case(
        "between the deliveries of a loop",
        """
        protocol P implements Out {
          message A(m: Msg)
          state done = false
          upon request go(m) { send A(m) to all }
          upon receive A(m) when not done { done := true  for q in Proc { deliver(q, m) } }
          property whole: always forall p in Proc, m in Msg:
            (exists q in Proc: (q, m) in delivered(p)) => forall q in Proc: (q, m) in delivered(p)
        }
        check c of P { n = 2  faults crash <= 1  clients { p1 go a }  prove whole }
        """,
        "whole violated",
    ),
    Case(
        "between a send and a delivery",
        """
        protocol P implements Out {
          message A
          state started = false
          upon condition not started { started := true  send A to all  note(1) }
          upon receive A { note(2) }
          property sender_knows: always forall q in Proc:
            2 in noted(q) => exists p in Proc: 1 in noted(p)
        }
        check c of P { n = 2  faults crash <= 1  prove sender_knows }
        """,
        "sender_knows violated",
    ),
    Case(
        "a delivery before its send is never missed",
        """
        protocol P implements Out {
          message A
          state started = false
          upon condition not started { started := true  note(1)  send A to all }
          upon receive A { note(2) }
          property sender_knows: always forall q in Proc:
            2 in noted(q) => exists p in Proc: 1 in noted(p)
        }
        check c of P { n = 2  faults crash <= 1  prove sender_knows }
        """,
        "sender_knows holds",
    ),
    Case(
        "in the midst of init",
        """
        protocol P(a: Proc) implements Out {
          message A
          upon init at a { send A to all  note(1) }
          upon receive A { note(2) }
          property noted_first: always forall p in Proc: 2 in noted(p) => 1 in noted(a)
        }
        check c of P { n = 2  faults crash <= 1  prove noted_first }
        """,
        "noted_first violated",
    ),
    Case(
        "no crash, no midst",
        """
        protocol P(a: Proc) implements Out {
          message A
          upon init at a { send A to all  note(1) }
          upon receive A { note(2) }
          property noted_first: always forall p in Proc: 2 in noted(p) => 1 in noted(a)
        }
        check c of P { n = 2  prove noted_first }
        """,
        # each of two copies is received or not
        "noted_first holds",
        4,
    ),
    Case(
        "before the first effect, seen through local state",
        """
        protocol P implements Out {
          state v = false
          upon condition not v { v := true  note(1) }
          property noted: always forall p in Proc: p.v => 1 in noted(p)
          property noted_alive: always forall p in Proc: p.v and correct(p) => 1 in noted(p)
        }
        check c of P { n = 1  faults crash <= 1  prove noted, noted_alive }
        """,
        # fresh, done, each crashed, and done with its note cut off
        "noted violated, noted_alive holds",
        5,
    ),
    Case(
        "no crash between a request and what is assigned before the first effect",
        """
        protocol P implements Out {
          message M(m: Msg)
          state asked = false
          state told = false
          upon request go(m) { asked := true  send M(m) to all  told := true }
          property noticed : always forall p in Proc, m in Msg: m in goed(p) => p.asked
          property in_the_end : forall p in Proc: (exists m in goed(p): true) ~> p.asked
          property told_it : always forall p in Proc, m in Msg: m in goed(p) => p.told
        }
        check c of P {
          n = 2  faults crash <= 1  clients { p1 go a }
          prove noticed, in_the_end, told_it
        }
        """,
        "noticed holds, in_the_end holds, told_it violated",
    ),
    Case(
        "a handler is seen before or after, never in its midst",
        """
        protocol P implements Out {
          state v = false
          upon condition not v { v := true  note(1)  note(2) }
          property both: always forall p in Proc:
            (p.v => 1 in noted(p)) and (1 in noted(p) => 2 in noted(p))
          property done: forall p in Proc: p.v ~> p.v and 2 in noted(p)
        }
        check c of P { n = 2  prove both, done }
        """,
        "both holds, done holds",
        4,
    ),
    Case(
        "between two indications",
        """
        protocol P implements Out {
          state v = false
          upon condition not v { v := true  note(1)  note(2) }
          property both: always forall p in Proc: 1 in noted(p) => 2 in noted(p)
        }
        check c of P { n = 1  faults crash <= 1  prove both }
        """,
        "both violated",
    ),
    Case(
        "a crash falls inside a handler that assigns shared state, too",
        """
        protocol P(a: Proc) implements Out {
          message A  message B
          shared state count : 0..1 = 0
          upon init at a { send A to self  send B to self }
          upon receive A { note(1)  note(2) }
          upon receive B { count := 1  note(3)  note(4) }
          property plain: always forall p in Proc: 1 in noted(p) => 2 in noted(p)
          property touching: always forall p in Proc: 3 in noted(p) => 4 in noted(p)
        }
        check c of P { n = 1  faults crash <= 1  prove plain, touching }
        """,
        "plain violated, touching violated",
    ),
    Case(
        "bounded links: half a multicast, seen by what still fits",
        """
        protocol P(a: Proc) implements Out {
          message A
          state sent = false
          upon condition not sent at a { sent := true  send A to all }
          upon receive A { note(1) }
          property some: always forall p, q in Proc: 1 in noted(p) and correct(q) => 1 in noted(q)
          property all_or_none: forall p, q in Proc:
            1 in noted(p) and correct(p) and correct(q) ~> 1 in noted(q)
        }
        check c of P { n = 3  links bounded 1  faults crash <= 1  prove some, all_or_none }
        """,
        "some violated, all_or_none violated",
    ),
    *(
        Case(
            f"no more than {most} of three crash{recover}",
            f"""
            protocol P {{
              state done = false
              upon condition not done {{ done := true }}
              property fewer_than_two: always forall p, q in Proc:
                crashed(p) and crashed(q) => p == q
              property not_all: always exists p in Proc: not crashed(p)
            }}
            check c of P {{
              n = 3  faults crash <= {most}{recover}  prove fewer_than_two, not_all
            }}
            """,
            f"fewer_than_two {one}, not_all {all_}",
        )
        for recover in ("", ", recover")
        for most, one, all_ in (
            (1, "holds", "holds"),
            (2, "violated", "holds"),
            (3, "violated", "violated"),
        )
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_crash_points(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)


SWITCHED_OFF = Case(
    "switched off",
    """
    protocol P implements Out {
      state v = false
      upon condition not v { v := true  note(1)  note(2) }
      property both: always forall p in Proc: 1 in noted(p) => 2 in noted(p)
    }
    check c of P {
      n = 1  faults crash <= 1  crash points between_handlers  prove both
    }
    """,
    "both holds",
    4,
)


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_crash_points_switched_off(engine: str, tmp_path: Path) -> None:
    compare(tmp_path, SWITCHED_OFF, engine, False)
