"""The notations of other languages, and what is written here instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Notation:
    """A notation of another language, as people write it, and what is written here ``instead``.

    ``pattern`` finds it within a line; its first group, where it has one, is what is underlined.
    Without a pattern the notation itself is looked for.  ``names``: of functions and constants,
    which are read without an error and then not known.
    """

    written: str
    instead: str
    pattern: str = ""
    names: tuple[str, ...] = ()

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.pattern or _exactly(self.written), re.M)


def _exactly(written: str) -> str:
    before = r"(?<!\w)" if written[0].isalnum() else ""
    after = r"(?!\w)" if written[-1].isalnum() else ""
    return before + re.escape(written) + after


def _event(names: str) -> str:
    """Returns the pattern of an event of CGR that is called by one of ``names``."""
    return rf"\bupon\s+((?:event\b\s*)?[<⟨][^|>⟩\n]*,\s*(?:{names})\b[^>⟩\n]*[>⟩]?)"


_NEVER = r"(?!)"
"""The pattern of a notation that only names tell."""
_VARIABLE = "a variable is declared with `state v : T = e`"
_FAIRNESS = (
    "leave it out: fairness is derived from the faults, links and timing of the check; for one"
    " condition, `may upon condition … as a`, a check says `fair a` or `strongly fair a`"
)
_CALL = "leave it out: a call is written `deliver(p, m)` or `beb.broadcast(M(x))`"
_INVARIANT = "write `invariant x : e` or `property x : always e` beside the handlers"
_GUARD = (
    "write a guard, `upon receive M(x) when e`, `upon condition e`, or `await e` inside a handler"
)
_DEADLOCK = "a run may end; to forbid that, write `eventually …` for what has to happen"
_LOOP = "a loop is `for q in S { … }`"
_CONDITION = "write `upon condition exists x in S: e`, and `choose x in S when e` in the handler"
_SET = "write `{ x for x in S when e }`"
_SIZE = "write `#S`"
_TRUTH = "write `true`, `false` and `bool`"
_SEND = "write `send M(x) to q`"
_RECEIVE = "write `upon receive M(x) from p { … }`"
_NUMBER = "a number is declared as `state v : 0..9 = 0`, or with the type `Nat`"
_CONTROL = "a handler is not a state: use a variable, `state at : enum { idle, busy } = idle`"
_GOTO = "there are no jumps: assign a variable that the handlers' guards test"
_CONSTANT = (
    "a check sets `n = 3`; a protocol has parameters, `protocol P(k: Nat)`, and constants, "
    "`const K = 3`"
)
_INIT = "write `upon init { … }`, or an initial value, `state v : T = e`"
_QUANTIFIED = "write `forall x in S: e`, `exists x in S: e`"

TLA = (
    Notation("/\\", "write `and`"),
    Notation("\\/", "write `or`"),
    Notation("~e", "write `not e`", r"~(?!>)"),
    Notation("\\A x \\in S : e", "write `forall x in S: e`", r"(\\A)\b"),
    Notation("\\E x \\in S : e", "write `exists x in S: e`", r"(\\E)\b"),
    Notation("x \\in S", "write `x in S`", r"\\in\b"),
    Notation("x \\notin S", "write `x not in S`", r"\\notin\b"),
    Notation("S \\cup T", "write `S union T`", r"\\(?:cup|union)\b"),
    Notation("S \\cap T", "write `S intersect T`", r"\\(?:cap|intersect)\b"),
    Notation("S \\subseteq T", "write `S subset T`, which includes `S == T`", r"\\subseteq\b"),
    Notation("S \\ T", "write `S minus T`", r"\\(?=[\s{(])"),
    Notation("a \\o b", "write `a ++ b`", r"\\o\b"),
    Notation("a # b", "write `a != b`", r"(?<=[\w)] )#(?= )"),
    Notation("a /= b", "write `a != b`", "/="),
    Notation("[]e", "write `always e`", r"\[\](?:\[\w*\]_\w+)?"),
    Notation("<>e", "write `eventually e`", "<>"),
    Notation(
        "prove []e",
        "name it, `property x : always e`, and write `prove x` in a check",
        r"\bprove\s+(\[\]|<>|always\b|eventually\b|forall\b)",
    ),
    Notation("<<a, b>>", "write `(a, b)`, or `[a, b]` for a sequence", r"<<[^<>\n]*(?:>>)?"),
    Notation("x' = e", "write `x := e`", r"\w+'\s*=(?!=)"),
    Notation(
        "UNCHANGED x",
        "leave it out: variables that a handler does not assign keep their values",
        r"UNCHANGED\b(?:\s*<<[^>\n]*>>)?",
    ),
    Notation("EXTENDS Naturals", "leave it out: there is nothing to import", r"(EXTENDS)\b[^\n]*"),
    Notation("CONSTANT N", _CONSTANT, r"CONSTANTS?\b"),
    Notation("VARIABLE x", _VARIABLE, r"VARIABLES?\b"),
    Notation("CONSTRAINT e", "write `bound e` in a check", r"CONSTRAINTS?\b"),
    Notation("VIEW e", "write `view e` in a check", r"VIEW\b"),
    Notation("ASSUME e", "write `protocol P requires e`", r"ASSUME\b"),
    Notation("Init == e", _INIT, r"\bInit\s*==.*"),
    Notation("Next == e", "write a handler for each action: `upon … { … }`", r"\bNext\s*==.*"),
    Notation(
        "WF_v(A), SF_v(A)", _FAIRNESS, r"(?:\bfairness\s+)?([WS]F_\w+)", ("WF_vars", "SF_vars")
    ),
    Notation("IF c THEN a ELSE b", "write `if c then a else b`", r"\b(IF)\b[^\n]*\bTHEN\b"),
    Notation("LET x == e IN", "write `let x = e`", r"\b(LET)\b"),
    Notation("[m EXCEPT ![k] = e]", "write `m[k] := e`", r"\[\w+\s+(EXCEPT)\b[^\n]*"),
    Notation("[x \\in S |-> e]", "write `{ x -> e for x in S }`", r"\[\s*\w+\s*\\in\b[^\]\n]*\]"),
    Notation("[a |-> e]", "write `record(a = e)`", r"\|->"),
    Notation("{x \\in S : e}", _SET, r"\{\s*\w+\s*\\in\b[^}\n]*\}"),
    Notation("CHOOSE x \\in S : e", "write `choose x in S when e`", r"\b(CHOOSE)\s+\w[^\n]*"),
    Notation("SUBSET S", "write `subsets(S)`", r"\b(SUBSET)\s+\w+"),
    Notation("Cardinality(S)", _SIZE, _NEVER, ("Cardinality", "Len")),
    Notation("Append(q, x)", "write `q + x`", _NEVER, ("Append",)),
    Notation("Head(q), Tail(q)", "write `head(q)`, `tail(q)`", _NEVER, ("Head", "Tail")),
    Notation("TRUE, FALSE, BOOLEAN", _TRUTH, _NEVER, ("TRUE", "FALSE", "BOOLEAN")),
    Notation("\\* a comment", "a comment begins with `//`", r"\\\*|\(\*.*"),
    Notation(
        "ENABLED A",
        "write the condition of the handler: a property reads the state",
        r"\bENABLED\b",
        ("ENABLED",),
    ),
    Notation(
        "deadlock, CHECK_DEADLOCK",
        _DEADLOCK,
        r"\bCHECK_DEADLOCK\b",
        ("deadlock", "Deadlock", "deadlocked"),
    ),
    Notation(
        "SYMMETRY S", "leave it out: symmetry is found by itself (`--reduce`)", r"\bSYMMETRY\b"
    ),
    Notation("---- MODULE M ----", "write `protocol P { … }`", r"-{4,}[^\n]*|={4,}"),
)
PROMELA = (
    Notation(
        "ch!M(x)",
        _SEND,
        r"\b(?!(?:if|when|and|or|not|in|require|condition|always|eventually|then|else)\b)"
        r"\w+(?:\[[^\]\n]*\])?\s*!!?(?=\s*\w)",
    ),
    Notation("ch?M(x)", _RECEIVE, r"\w+(?:\[[^\]\n]*\])?\s*\?\??"),
    Notation("if :: c -> … fi", "write `either when c { … } or { … }`", r"\bif\s*::"),
    Notation("do :: c -> … od", "write a handler for each: `upon condition c { … }`", r"\bdo\s*::"),
    Notation(
        "int x, byte x",
        _NUMBER,
        r"(?<!\w)(int|byte|short|bit|unsigned)\b(?=\s+\w)",
        ("int", "byte", "short", "bit", "unsigned"),
    ),
    Notation(
        "bool x",
        "a truth value is declared as `state x : bool = false`",
        r"(?:^|[{;]|\bstate)\s*(bool)\s+\w",
    ),
    Notation("chan c", "leave it out: every process has a link to every other", r"chan\b"),
    Notation("mtype = { A, B }", "write `message A`, or `type T = enum { a, b }`", r"mtype\b"),
    Notation(
        "proctype P()",
        "write `protocol P { … }`; the check sets the number of processes: `n = 3`",
        r"\b(?:active\s*(?:\[[^\]\n]*\]\s*)?)?proctype\b|\bactive\b",
    ),
    Notation("run P()", "leave it out: all `n` processes start by themselves", r"run\b"),
    Notation("assert(e)", _INVARIANT, r"assert\b", ("assert",)),
    Notation(
        "d_step { … }",
        "a handler is one step; `atomic { … }` rules out crashes inside it",
        "d_step",
    ),
    Notation("ltl p { … }", "write `property p : …`", r"\b(ltl)\s+\w+"),
    Notation("goto L, break", _GOTO, r"\b(?:goto|break|continue)\b"),
    Notation("select (x : 0..3)", "write `choose x in 0..3`", r"\b(select)\s*\([^\n)]*"),
    Notation("_pid", "write `self`, or `rank(self)` for its number", _NEVER, ("_pid",)),
    Notation("len(q)", _SIZE, _NEVER, ("len", "size", "sizeof", "length")),
    Notation("printf(…)", "leave it out: the trace shows every step", _NEVER, ("printf", "print")),
)
P = (
    Notation("machine M { … }", "write `protocol M { … }`", r"\b(machine)\s+\w+"),
    Notation("start state S { … }", _CONTROL, r"\b((?:start\s+|hot\s+|cold\s+)?state\s+\w+)\s*\{"),
    Notation("entry { … }", "write `upon init { … }`", "entry"),
    Notation("on e do (x: T) { … }", _RECEIVE, r"\bon\s+\w+\s+(?:do|goto)\b"),
    Notation("send q, e, x", _SEND, r"\bsend\s+\w+\s*,"),
    Notation(
        "raise e", "write the statements here, or set a variable and use `upon condition`", "raise"
    ),
    Notation("announce e", "a property reads histories: `delivered(p)`", "announce"),
    Notation("new M()", "leave it out: all `n` processes start by themselves", _NEVER, ("new",)),
    Notation("event e : T", "write `message M(x: T)`", r"\b(event\s+\w+)\s*[:;]"),
    Notation("spec S observes e", "write `property x : always e`", r"\b(spec)\s+\w+"),
    Notation(
        "defer e, ignore e", "a message that no handler receives is discarded", "defer|ignore"
    ),
    Notation("foreach (x in S)", "write `for x in S { … }`", r"\b(foreach)\b\s*(?:\([^)\n]*\))?"),
    Notation("seq[T], set[T]", "write `seq<T>`, `set<T>`", r"\b(?:seq|set)\s*\["),
    Notation("map[K, V]", "write `map<K, V>`", r"\bmap\s*\["),
    Notation("this", "write `self`", _NEVER, ("this",)),
    Notation("default(T)", "write the value itself: `0`, `{}`, `none`", _NEVER, ("default",)),
)
CGR = (
    Notation("trigger <beb, Broadcast | m>", _CALL, r"\b(trigger)\s+(?=[<⟨\w])[<⟨]?"),
    Notation(
        "upon event <P, Crash | p>",
        "write `upon fd.suspect(p)`, and `uses fd : FailureDetector`",
        _event("Crash|Suspect"),
    ),
    Notation("upon event <◇P, Restore | p>", "write `upon fd.restore(p)`", _event("Restore")),
    Notation(
        "upon event <Ω, Trust | p>",
        "write `upon omega.trust(p)`, and `uses omega : LeaderDetector`",
        _event("Trust|Leader"),
    ),
    Notation("upon event <rb, Init>", "write `upon init { … }`", _event("Init")),
    Notation(
        "upon event <beb, Deliver | p, m> do",
        "write `upon beb.deliver(p, m)`; from above: `upon request broadcast(m)`",
        r"\bupon\s+((?:event\b\s*)?[<⟨][^>⟩\n]*[>⟩]?|event\b)",
    ),
    Notation(
        "upon exists x in S such that e",
        _CONDITION,
        r"\bupon\s+(?:condition\s+(?=exists\b[^:\n{]*\bsuch\s+that))?"
        r"(exists\b(?:[^:\n{]*?\bsuch\s+that)?)",
    ),
    Notation(
        "exists x in S such that e",
        "write `exists x in S: e`",
        r"\b(?:exists|∃)[^:\n{]*?\b(such\s+that)",
    ),
    Notation(
        "forall q in S do",
        _LOOP,
        r"\b(?:forall|for\s+(?:all|each))\b(?=[^:\n]*(?:\bin\b|∈)[^:\n]*(?:\bdo\b|\{|$))",
    ),
    Notation("such that e", "write `when e`", r"such\s+that"),
    Notation("Implements:", "write `protocol P implements ReliableBroadcast`", r"Implements\s*:"),
    Notation("Uses:", "write `uses beb : BestEffortBroadcast`", r"Uses\s*:"),
    Notation("starttimer(t)", "write `start t after e`", _NEVER, ("starttimer",)),
    Notation("wait until e", _GUARD, r"wait\s+until\b"),
    Notation(
        "for all p in correct",
        "write `forall p in Proc: correct(p) => …`",
        _NEVER,
        ("correct", "Correct"),
    ),
)
QUINT = (
    Notation("module M { … }", "write `protocol M { … }`", "module"),
    Notation("var x: T", _VARIABLE, "var"),
    Notation(
        "val x = e, def f(x) = e",
        "write `let x = e` in a handler, or `define f(x: T) : T = e`",
        r"\b(?:pure\s+)?(?:val|def)\b",
    ),
    Notation("action a = all { … }", "write a handler: `upon … { … }`", r"\baction\b"),
    Notation("any { a, b }", "write `either { … } or { … }`", r"\bany\s*(?=\{)"),
    Notation("nondet x = oneOf(S)", "write `choose x in S`", "nondet", ("oneOf",)),
    Notation("S.forall(x => e)", _QUANTIFIED, r"\.(?:forall|exists)\b", ("forall", "exists")),
    Notation("S.filter(x => e), S.map(x => e)", _SET, _NEVER, ("filter", "map")),
    Notation("S.union(T)", "write `S union T`, `S intersect T`", r"\.(?:union|intersect)\b"),
    Notation("S.exclude(T)", "write `S minus T`", _NEVER, ("exclude",)),
    Notation("S.contains(x), x.in(S)", "write `x in S`", r"\.in\b", ("contains",)),
    Notation("q.append(x)", "write `q + x`", _NEVER, ("append",)),
    Notation("m.set(k, v), m.put(k, v)", "write `m[k] := v`", _NEVER, ("put",)),
    Notation("a implies b", "write `a => b`", r"\bimplies\b"),
    Notation("a iff b", "write `(a) == (b)`", r"\biff\b"),
    Notation("temporal p = e", "write `property p : e`", "temporal"),
    Notation(
        "Set(a), List(a)", "write `{a}` for a set, `[a]` for a sequence", _NEVER, ("Set", "List")
    ),
    Notation("1.to(5)", "write `1..5`", _NEVER, ("to",)),
)
MATHEMATICS = (
    Notation("∀", "write `forall`"),
    Notation("∃", "write `exists`"),
    Notation("∈", "write `in`"),
    Notation("∉", "write `not in`"),
    Notation("∧", "write `and`"),
    Notation("∨", "write `or`"),
    Notation("¬", "write `not`"),
    Notation("≤", "write `<=`"),
    Notation("≥", "write `>=`"),
    Notation("≠", "write `!=`"),
    Notation("∪", "write `union`"),
    Notation("∩", "write `intersect`"),
    Notation("⊆", "write `subset`"),
    Notation("∖", "write `minus`"),
    Notation("∅", "write `{}`"),
    Notation("⊥", "write `none`, of a type `option<T>`"),
    Notation("Π", "write `Proc`"),
    Notation("□", "write `always`"),
    Notation("◇", "write `eventually`"),
    Notation("⇒", "write `=>`"),
    Notation("→", "write `->`"),
    Notation("←", "write `:=`"),
    Notation("⟨a, b⟩", "write `(a, b)`", "⟨[^⟩\n]*⟩?"),
)
OTHERS = (
    Notation("&&", "write `and`", "&&?"),
    Notation("||", "write `or`", r"\|\|?(?![}-])"),
    Notation("!e", "write `not e`", "!(?!=)"),
    Notation("a <> b", "write `a != b`", r"(?<=[\w)])\s+(<>)"),
    Notation("a % b", "write `a mod b`", "%"),
    Notation("a / b", "integer division is written `a div b`", r"/(?![/\\=*])"),
    Notation("x++", "write `x += 1`", r"\+\+(?=\s*(?:[};]|$))"),
    Notation("x--", "write `x -= 1`", r"--(?!-)"),
    Notation("/* a comment */", "a comment begins with `//`", r"/\*.*?(?:\*/|$)"),
    Notation("list<T>", "write `seq<T>`", r"\b(?:list|List)\b(?=\s*[<\[])", ("list",)),
    Notation("array<T>", "write `seq<T>`, or `map<K, V>`", r"\barray\b", ("array",)),
    Notation("Set<T>", "write `set<T>`", r"\bSet\b(?=\s*[<\[])"),
    Notation("Map<K, V>", "write `map<K, V>`", r"\bMap\b(?=\s*[<\[])", ("Map",)),
    Notation("elif c", "write `else if c`", r"\b(?:elif|elsif)\b"),
    Notation("do …", "blocks use braces: leave `do` out", r"\bdo\b"),
    Notation(
        "while c { … }",
        "write `for x in S { … }` or `while some x in S when c { … }`; what goes on until "
        "something is true is `upon condition c { … }`",
        r"(?<![a-z] )\b(while)\s+(?!some\b)[\w(][^\n]*\{",
    ),
    Notation("for (i = 0; …)", "write `for x in S { … }`", r"\b(for)\s*\([^)\n]*[=;]"),
    Notation(
        "return",
        "a handler ends with its block; guard the rest with `if … { … }`",
        r"\breturn\b",
    ),
    Notation("null", "write `none`, of a type `option<T>`", _NEVER, ("null", "nil", "None")),
    Notation("True, False", _TRUTH, _NEVER, ("True", "False")),
    Notation("boolean", "write `bool`", _NEVER, ("boolean", "Bool", "Boolean")),
    Notation(
        "Int, string",
        "write `lo..hi` or `Nat`; payloads are `Msg`, labels `enum { a, b }`",
        _NEVER,
        ("Int", "string", "String"),
    ),
)
