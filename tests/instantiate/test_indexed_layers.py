"""Families of layers: one instance for each index, as many as are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.instantiate.tables import WAYS, Case, compare

SLOT = """
interface Slots { request put(m: Msg)  indication hand(p: Proc, m: Msg) }
protocol OneSlot implements Slots {
  message A(m: Msg)
  state full = false
  upon request put(m) when not full { full := true  send A(m) to all }
  upon receive A(m) from p { hand(p, m) }
}
"""

CASES = [
    Case(
        "each instance has its own state, and there are as many as are used",
        f"""{SLOT}
        protocol Top implements Out {{
          uses slot[Nat] : Slots
          message B(m: Msg)
          state next : Nat = 0
          upon request go(m) {{ slot[next].put(B(m))  next += 1 }}
          upon slot[k].hand(p, B(m)) {{ note(k)  deliver(p, m) }}
          property arrive : forall p in Proc, m in Msg: m in goed(p) ~> (p, m) in delivered(p)
          property three : always forall p in Proc: 3 not in noted(p)
          property four : always forall p in Proc: 4 not in noted(p)
        }}
        check c of Top {{ n = 1  clients {{ p1 go a, b, c, d }}  prove arrive, three, four }}
        """,
        "arrive holds, three violated, four holds",
    ),
    Case(
        "one instance serves once",
        f"""{SLOT}
        protocol Top implements Out {{
          uses slot[0..1] : Slots
          message B(m: Msg)
          upon request go(m) {{ slot[1].put(B(m)) }}
          upon slot[0].hand(p, B(m)) {{ note(0) }}
          upon slot[1].hand(p, B(m)) {{ note(1)  deliver(p, m) }}
          property once : always forall p in Proc: #delivered(p) <= 1
          property zero : always forall p in Proc: 0 not in noted(p)
          property arrive : forall p in Proc, m in Msg: m in goed(p) ~> (p, m) in delivered(p)
        }}
        check c of Top {{ n = 1  clients {{ p1 go a, b }}  prove once, zero, arrive  allow unused }}
        """,
        "once holds, zero holds, arrive violated",
    ),
    Case(
        "a call goes to the instance that its index means at that moment",
        """
        interface Low { request put(m: Msg)  indication back(m: Msg) }
        protocol Echo implements Low { upon request put(m) { back(m) } }
        protocol Top implements Out {
          uses low[Nat] : Low
          message B(k: 0..9)
          state i : Nat = 0
          upon condition i == 0 {
            low[i].put(B(5))  note(1)  i += 1
            low[i].put(B(6))  note(2)  i += 1
            low[2 * i].put(B(7))
          }
          upon low[k].back(B(x)) { note(if k == 4 then 9 else x - k) }
          property order : always forall p in Proc: #noted(p) > 0 => noted(p) == [5, 1, 5, 2, 9]
        }
        check c of Top { n = 1  prove order }
        """,
        "order holds",
        2,
    ),
    Case(
        "an index beyond the author's range is a run-time error",
        f"""{SLOT}
        protocol Top implements Out {{
          uses slot[0..1] : Slots
          message B(m: Msg)
          state next : 0..9 = 0
          upon request go(m) {{ slot[next].put(B(m))  next += 2 }}
          upon slot[k].hand(p, B(m)) {{ deliver(p, m) }}
          property few : always forall p in Proc: #delivered(p) <= 9
        }}
        check c of Top {{ n = 1  clients {{ p1 go a, b }}  prove few }}
        """,
        "few error",
    ),
    Case(
        "families within families",
        """
        interface Low { request put(m: Msg)  indication back(m: Msg) }
        protocol Once implements Low {
          state used = false
          upon request put(m) when not used { used := true  back(m) }
        }
        protocol Pair implements Low {
          uses one[0..1] : Once
          message Y(m: Msg)
          upon request put(m) { one[0].put(Y(m)) one[1].put(Y(m)) }
          upon one[j].back(Y(m)) { back(m) }
        }
        protocol Top implements Out {
          uses low[0..1] : Pair
          message B(k: 0..9)
          state go : 0..3 = 0
          upon condition go < 3 { low[go mod 2].put(B(go))  go += 1 }
          upon low[k].back(B(x)) { note(4 * k + x) }
          property order : always forall p in Proc:
            #noted(p) > 2 => noted(p) == [0, 0, 5, 5]
        }
        check c of Top { n = 1  prove order }
        """,
        "order holds",
        4,
    ),
    Case(
        "timers of instances are their own",
        """
        interface Low { request put(m: Msg)  indication back(m: Msg) }
        protocol Wait implements Low {
          state kept : option<Msg> = none
          upon request put(m) { kept := some(m)  start t after 2 }
          upon timeout t { back(get(kept)) }
        }
        protocol Top implements Out {
          uses low[Nat] : Wait
          message B
          state i : 0..2 = 0
          upon timeout when i < 2 { low[i].put(B)  i += 1 }
          upon low[k].back(B) { note(k) }
          property order : always forall p in Proc: #noted(p) == 2 => noted(p) == [0, 1]
          property both : forall p in Proc: p.i == 0 ~> 1 in noted(p)
        }
        check c of Top { n = 1  timing synchronous  prove order, both }
        """,
        "order holds, both holds",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name[:60])
def test_families(case: Case, engine: str, fine: bool, tmp_path: Path) -> None:
    compare(tmp_path, case, engine, fine)
