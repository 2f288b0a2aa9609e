"""Prints a transition system as readable text."""

from __future__ import annotations

from typing import Any, assert_never

from checker.model import ir
from checker.model.ir import Block, Expr, TransitionSystem
from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
    cardinality,
    universe,
)

_INFIX = {
    ir.Op.EQ, ir.Op.LT, ir.Op.LE, ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.DIV, ir.Op.MOD,
    ir.Op.IN, ir.Op.UNION, ir.Op.INTERSECT, ir.Op.MINUS, ir.Op.SUBSET,
}  # fmt: skip


def dump(system: TransitionSystem) -> str:
    """Returns variables, initial block, actions, monitor and properties of ``system`` as text."""
    lines = [f"system {system.name}", f"processes {', '.join(system.processes)}", ""]
    for variable in system.variables:
        lines.append(f"{variable.kind} {variable.name} : {type_text(variable.type)}")
    lines += ["", "init {", *_block(system.init, 1), "}"]
    for action in system.actions:
        lines += ["", *_action(action)]
    if system.monitor:
        lines += ["", "after every transition {", *_block(system.monitor, 1), "}"]
    for justice in system.justice:
        lines += ["", f"infinitely often {text(justice.holds)}"]
    for prop in system.properties:
        lines += ["", f"{prop.kind} {prop.name}", *_question(prop)]
        lines.append(f"  vacuous unless {text(prop.premise)}")
        if prop.given is not None:
            lines.append(f"  vacuous unless some fair run satisfies {prop.given.text}")
    return "\n".join(lines) + "\n"


def _question(prop: ir.Property) -> list[str]:
    if prop.formula is None or prop.automaton is None:
        return [f"  bad when {text(prop.bad)}"]
    lines = [f"  for {p.name} in {_domain(p.domain)} when {text(p.where)}" for p in prop.params]
    lines += [f"  #{i} is {text(holds)}" for i, holds in enumerate(prop.propositions)]
    lines.append(f"  asked {formula_text(prop.formula)}")
    for edge in prop.automaton.edges:
        reads = [f"#{i}" for i in sorted(edge.yes)] + [f"not #{i}" for i in sorted(edge.no)]
        lines.append(f"  refuted {edge.source} -> {edge.target} on {' and '.join(reads) or 'all'}")
    sets = (", ".join(str(q) for q in sorted(one)) for one in prop.automaton.accepting)
    return [*lines, *(f"  refuted infinitely often in {one}" for one in sets)]


def formula_text(formula: ir.Formula) -> str:
    """Returns a temporal formula with its propositions by number."""
    match formula:
        case ir.Holds(index):
            return f"#{index}"
        case ir.Connective("not", (part,)):
            return f"not {formula_text(part)}"
        case ir.Connective(op, parts):
            shown = f" {op} ".join(formula_text(part) for part in parts)
            return f"({shown})" if parts else ("true" if op == "and" else "false")
        case ir.Modal(op, part):
            return f"{op} {formula_text(part)}"
        case _:
            assert_never(formula)


def _action(action: ir.Action) -> list[str]:
    lines = [f"action {action.name} ({action.kind})"]
    for param in action.params:
        lines.append(f"  for {param.name} in {_domain(param.domain)} when {text(param.where)}")
    lines.append(f"  when {text(action.guard)}")
    lines.append(f"  promised when {text(action.promised)}")
    if action.promised != ir.FALSE:
        fairness = ir.fairness_of(action)
        key = ", ".join(text(k) for k in fairness.key)
        lines.append(f"  {fairness.kind} {fairness.group} ({key})")
    return [*lines, "{", *_block(action.body, 1), "}"]


def type_text(type_: Type) -> str:
    """Returns a type in the syntax of the language."""
    match type_:
        case BoolT():
            return "bool"
        case IntT(lo, hi):
            return f"{lo}..{hi}"
        case AtomT(name, labels):
            return f"{name}{{{', '.join(labels)}}}"
        case TupleT(items, names):
            if not names:
                return f"({', '.join(type_text(t) for t in items)})"
            fields = zip(names, items, strict=True)
            return f"record {{ {', '.join(f'{n}: {type_text(t)}' for n, t in fields)} }}"
        case OptionT(item):
            return f"option<{type_text(item)}>"
        case SetT(item):
            return f"set<{type_text(item)}>"
        case MapT(key, value):
            return f"map<{type_text(key)}, {type_text(value)}>"
        case SeqT(item, cap):
            return f"seq<{type_text(item)}, max {cap}>"
        case BagT(item, cap):
            return f"bag<{type_text(item)}, max {cap}>"
        case VariantT(_, cases):
            return " | ".join(_case(c) for c in cases)
        case _:
            assert_never(type_)


def _case(case: Any) -> str:
    fields = ", ".join(f"{n}: {type_text(t)}" for n, t in case.fields)
    return f"{case.name}({fields})" if fields else str(case.name)


def value_text(type_: Type, value: Any) -> str:
    """Returns a value of ``type_`` in the syntax of the language."""
    match type_:
        case BoolT():
            return "true" if value else "false"
        case IntT():
            return str(value)
        case AtomT(_, labels, first):
            return str(labels[value - first])
        case TupleT(items):
            shown = (value_text(t, v) for t, v in zip(items, value, strict=True))
            return f"({', '.join(shown)})"
        case OptionT(item):
            return "none" if value is None else f"some({value_text(item, value[0])})"
        case SetT(item):
            if len(value) == cardinality(item):
                return f"all {type_text(item)}"
            return f"{{{', '.join(sorted(value_text(item, v) for v in value))}}}"
        case MapT(key, item):
            pairs = zip(universe(key), value, strict=True)
            inner = (f"{value_text(key, k)} -> {value_text(item, v)}" for k, v in pairs)
            return f"{{{', '.join(inner)}}}"
        case SeqT(item) | BagT(item):
            return f"[{', '.join(value_text(item, v) for v in value)}]"
        case VariantT(_, cases):
            case = cases[value[0]]
            parts = zip(case.fields, value[1:], strict=True)
            fields = ", ".join(value_text(t, v) for (_, t), v in parts)
            return f"{case.name}({fields})" if fields else case.name
        case _:
            assert_never(type_)


def _domain(domain: ir.Domain) -> str:
    match domain:
        case ir.Universe(item):
            return type_text(item)
        case ir.Members(of):
            return text(of)
        case ir.Subsets(of):
            return f"subsets({text(of)})"
        case _:
            assert_never(domain)


def text(expr: Expr) -> str:
    """Returns an expression on one line."""
    match expr:
        case ir.Const(type_, value):
            return value_text(type_, value)
        case ir.Local(_, name):
            return name
        case ir.Read(_, variable):
            return variable
        case ir.Index(_, base, key):
            return f"{text(base)}[{text(key)}]"
        case ir.Item(_, base, position):
            return f"{text(base)}.{position}"
        case ir.Apply():
            return _apply(expr)
        case ir.Make(type_, case, args):
            assert isinstance(type_, VariantT)
            return f"{type_.cases[case].name}({', '.join(text(a) for a in args)})"
        case ir.IsCase(base, case):
            assert isinstance(base.type, VariantT)
            return f"{text(base)} is {base.type.cases[case].name}"
        case ir.CaseField(_, base, case, position):
            assert isinstance(base.type, VariantT)
            return f"{text(base)}.{base.type.cases[case].fields[position][0]}"
        case ir.Let(_, name, value, body):
            return f"(let {name} = {text(value)}: {text(body)})"
        case ir.Quant(kind, name, domain, body):
            return f"({kind} {name} in {_domain(domain)}: {text(body)})"
        case ir.Comprehension(type_, name, domain, where, item):
            inner = f"{text(item)} for {name} in {_domain(domain)} when {text(where)}"
            return f"[{inner}]" if isinstance(type_, SeqT) else f"{{{inner}}}"
        case ir.MapOf(type_, name, body):
            assert isinstance(type_, MapT)
            return f"{{{name} -> {text(body)} for {name} in {type_text(type_.key)}}}"
        case _:
            assert_never(expr)


def _apply(expr: ir.Apply) -> str:
    args = [text(a) for a in expr.args]
    match expr.op:
        case ir.Op.NOT:
            return f"not {args[0]}"
        case ir.Op.AND | ir.Op.OR:
            return f"({f' {expr.op} '.join(args)})"
        case ir.Op.ITE:
            return f"(if {args[0]} then {args[1]} else {args[2]})"
        case op if op in _INFIX:
            return f"({args[0]} {op} {args[1]})"
        case op:
            return f"{op}({', '.join(args)})"


def _target(target: ir.Target) -> str:
    steps = "".join(
        f"[{text(step.key)}]" if isinstance(step, ir.Key) else f".{step.position}"
        for step in target.path
    )
    return target.name + steps


def _block(block: Block, depth: int) -> list[str]:
    lines: list[str] = []
    for stmt in block:
        lines.extend("  " * depth + line for line in _statement(stmt))
    return lines


def _statement(stmt: ir.Stmt) -> list[str]:
    match stmt:
        case ir.Assign(target, value):
            return [f"{_target(target)} := {text(value)}"]
        case ir.Declare(name, type_, value):
            return [f"var {name} : {type_text(type_)} = {text(value)}"]
        case ir.If(condition, then, otherwise):
            lines = [f"if {text(condition)} {{", *_block(then, 1), "}"]
            if otherwise:
                lines[-1:] = ["} else {", *_block(otherwise, 1), "}"]
            return lines
        case ir.For(name, domain, body):
            return [f"for {name} in {_domain(domain)} {{", *_block(body, 1), "}"]
        case ir.While(condition, body, limit):
            return [f"while {text(condition)} (at most {limit}) {{", *_block(body, 1), "}"]
        case ir.Choose(name, domain, where):
            said = f"choose {name} in {_domain(domain)} when {text(where)}"
            return [said if stmt.weight is None else f"{said} by chance {text(stmt.weight)}"]
        case ir.Assume(condition):
            return [f"assume {text(condition)}"]
        case ir.Fault(code, message):
            return [f"fault {code} {message!r}"]
        case ir.Emit(effect, args):
            return [f"emit {effect}({', '.join(text(a) for a in args)})"]
        case ir.Mark(mark, args):
            return [f"mark {mark}({', '.join(text(a) for a in args)})"]
        case _:
            assert_never(stmt)
