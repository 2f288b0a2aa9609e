"""Writes a transition system as a C program, and the process in Promela by which SPIN searches it.

The process has one state and many options: option *k* leads to successor *k* of the node that the
C program computes.  A node is a packed state, or, for liveness, a node of the product of the
state graph with a Büchi automaton and the fairness constraints (Choueka 1974 for the conditions one
after another).  The generated C is all that depends on the system, so SPIN's verifier is compiled
once for each size of nodes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from checker.model import ir
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.model.types import Type
from scripts.second_opinion.code import Coder
from scripts.second_opinion.layout import Untranslatable, cells, flat, offsets

HERE = Path(__file__).parent
PROMELA = """
c_decl {{
  extern int so_has(unsigned char *, int, int);
  extern void so_take(unsigned char *, int);
  extern int so_accepting(unsigned char *);
  \\#define ACCEPTING so_accepting(now.P)
  \\#define H(k) so_has(now.P, k, {many})
{macros}
}}
c_state "unsigned char P[{bytes}]" "Global"
active proctype system_() {{
end:
  do
{options}
  od
}}
"""
OPTION = "  :: d_step {{ c_expr {{ H{k} }} -> c_code {{ so_take(now.P, {k}); }} }}"
MACRO = "\\#define H{k} H({k})"
"""SPIN admits no calls in `c_expr`."""
CLAIM = """
never {
wait:
  if
  :: c_expr { !ACCEPTING } -> goto wait
  :: c_expr { ACCEPTING } -> goto accept_it
  fi;
accept_it:
  if
  :: c_expr { !ACCEPTING } -> goto wait
  :: c_expr { ACCEPTING } -> goto accept_it
  fi
}
"""


def promela(bytes_: int, options: int, *, liveness: bool) -> str:
    """Returns the process for nodes of ``bytes_`` bytes with at most so many successors."""
    lines = "\n".join(OPTION.format(k=k) for k in range(options))
    macros = "\n".join(MACRO.format(k=k) for k in range(options))
    return PROMELA.format(bytes=bytes_, options=lines, macros=macros, many=options) + (
        CLAIM if liveness else ""
    )


def size_of_node(system: TransitionSystem) -> int:
    """Returns the number of bytes of a packed state and what precedes it."""
    return 1 + _bytes(system)


def program(system: TransitionSystem) -> str:
    """Returns the C program; raises :class:`Untranslatable`."""
    if system.view is not None:
        raise Untranslatable("a view: which states are kept depends on the order of the search")
    if len(system.justice) > 30:
        raise Untranslatable("more than 30 conditions of justice")
    coder = Coder(system)
    monitor = system.monitor
    begin = coder.function("begin", lambda: coder.block(system.init + monitor, {}))
    groups: dict[str, int] = {}
    actions = [
        coder.function("act", partial(_action, coder, action, monitor, groups))
        for action in system.actions
    ]
    justice = coder.function(
        "just", lambda: _bits(coder, [j.holds for j in system.justice], {}, "just_now")
    )
    bad = [coder.function("bad", partial(_bad, coder, prop)) for prop in system.properties]
    props = [coder.function("prop", partial(_propositions, coder, p)) for p in system.properties]
    ranges = [cell for v in system.variables for cell in cells(v.type)]
    start = [cell for v in system.variables for cell in flat(v.type, v.initial)]
    tables = [
        _table("int", "LEAST", [lo for lo, _ in ranges]),
        _table("int", "WIDE", [(hi - lo).bit_length() for lo, hi in ranges]),
        _table("int", "START", start),
        f"#define begin {begin}\n#define justice {justice}\n",
        f"static void (*action[])(void)={{{','.join([*actions, '0'])}}};\n",
        f"static void (*bad[])(void)={{{','.join([*bad, '0'])}}};\n",
        f"static void (*propositions[])(void)={{{','.join([*props, '0'])}}};\n",
        *_automata(system),
    ]
    head = (
        f"#define CELLS {coder.cells}\n#define BYTES {_bytes(system)}\n"
        f"#define ACTIONS {len(actions)}\n"
        f"#define PROPERTIES {len(bad)}\n#define JUSTICE {len(system.justice)}\n"
        "static int S[CELLS+1];\n"
    )
    structs = "".join(f"typedef struct{{int c[{w}];}}V{w};\n" for w in sorted(coder.widths))
    runtime = (HERE / "values.h").read_text("utf-8"), (HERE / "runtime.c").read_text("utf-8")
    return "".join((runtime[0], head, structs, *coder.functions, *tables, runtime[1]))


def _bytes(system: TransitionSystem) -> int:
    ranges = [cell for v in system.variables for cell in cells(v.type)]
    return max(1, -(-sum((hi - lo).bit_length() for lo, hi in ranges) // 8))


def _table(type_: str, name: str, values: list[int]) -> str:
    return f"static const {type_} {name}[]={{{','.join(map(str, [*values, 0]))}}};\n"


def _action(coder: Coder, action: ir.Action, monitor: ir.Block, groups: dict[str, int]) -> str:
    """Returns the statements of one instance of an action, its parameters chosen."""
    names: dict[str, tuple[str, Type]] = {}
    text = "".join(coder.choose(param, names) for param in action.params)
    fairness = ir.fairness_of(action)
    group = groups.setdefault(fairness.group, len(groups))
    strong = int(fairness.kind is ir.FairnessKind.STRONG)
    key, places = "", offsets([part.type for part in fairness.key])
    for part, at in zip(fairness.key, places, strict=False):
        key += coder.store(part.type, f"key+{at}", coder.value(part, names))
    if places[-1] > 60:
        raise Untranslatable("a fairness constraint with a large key")
    subject = f"int key[64]={{0}};{key}subject({group},{strong},key,{places[-1]});"
    text += f"if(!({coder.value(action.guard, names)}))removed();\n"
    text += f"if({coder.value(action.promised, names)}){{{subject}}}\n"
    return text + coder.block(action.body + monitor, names)


def _bad(coder: Coder, prop: Property) -> str:
    return f"if({coder.value(prop.bad, {})})hit=1;"


def _propositions(coder: Coder, prop: Property) -> str:
    names: dict[str, tuple[str, Type]] = {}
    text = "".join(coder.choose(param, names) for param in prop.params)
    return text + _bits(coder, [*prop.propositions], names, "true_now")


def _bits(coder: Coder, exprs: list[ir.Expr], names: dict[str, tuple[str, Type]], to: str) -> str:
    if len(exprs) > 62:
        raise Untranslatable("more than 62 propositions")
    return "".join(f"{to}|=(long)!!({coder.value(e, names)})<<{i};\n" for i, e in enumerate(exprs))


def _automata(system: TransitionSystem) -> list[str]:
    """Returns the Büchi automata of the properties as tables."""
    found, readings, accepting, counts = [], [], [], []
    for i, prop in enumerate(system.properties):
        automaton = prop.automaton if prop.kind is PropertyKind.LIVENESS else None
        edges = () if automaton is None else automaton.edges
        sets = () if automaton is None else automaton.accepting
        if automaton is not None and automaton.states > 62:
            raise Untranslatable("an automaton of more than 62 states")
        rows = [f"{{{e.source},{e.target},{_mask(e.yes)},{_mask(e.no)}}}" for e in edges]
        found.append(f"static const Reading R{i}[]={{{','.join([*rows, '{-1,0,0,0}'])}}};\n")
        found.append(_table("unsigned long", f"A{i}", [_mask(one) for one in sets]))
        readings.append(f"R{i}")
        accepting.append(f"A{i}")
        counts.append(len(sets))
    found.append(f"static const Reading*readings[]={{{','.join([*readings, '0'])}}};\n")
    found.append(f"static const unsigned long*accepts[]={{{','.join([*accepting, '0'])}}};\n")
    return [*found, _table("int", "accepting_sets", counts)]


def _mask(members: frozenset[int]) -> int:
    return sum(1 << member for member in members)
