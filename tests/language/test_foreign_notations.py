"""What is said of notations of other languages: what they are, and what is written here.

In the specs, what has to be underlined stands between « and ».
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.language.notations import TABLE, markdown
from tests.language.test_common_mistakes import diagnostics, places, spec

PAGE = Path(__file__).resolve().parents[2] / "docs/notations.md"


def in_property(formula: str) -> str:
    return spec(f"  property x : {formula}")


def guarded(guard: str) -> str:
    return spec().replace("from p {", f"from p when {guard} {{")


NOTATIONS = {
    "TLA+": {
        "and": (guarded("m in seen «/\\» true"), "write `and`"),
        "or": (guarded("m in seen «\\/» true"), "write `or`"),
        "not": (guarded("«~»(m in seen)"), "write `not e`"),
        "forall": (in_property("always «\\A» p \\in Proc : true"), "write `forall x in S: e`"),
        "exists": (in_property("always «\\E» p \\in Proc : true"), "write `exists x in S: e`"),
        "in": (guarded("m «\\in» seen"), "write `x in S`"),
        "not in": (guarded("m «\\notin» seen"), "write `x not in S`"),
        "union": (spec(request="seen := seen «\\cup» {m}"), "write `S union T`"),
        "intersect": (spec(request="seen := seen «\\cap» {m}"), "write `S intersect T`"),
        "minus": (spec(request="seen := seen «\\» {m}"), "write `S minus T`"),
        "subset": (guarded("seen «\\subseteq» {m}"), "write `S subset T`, which includes `S == T`"),
        "concatenation": (spec(request="let a = [m] «\\o» [m]"), "write `a ++ b`"),
        "# for !=": (guarded("m «#» m"), "write `a != b`"),
        "/= for !=": (guarded("m «/=» m"), "write `a != b`"),
        "always": (in_property("«[]» (forall p in Proc: true)"), "write `always e`"),
        "always, a bracket less": (in_property("«[]»true"), "write `always e`"),
        "eventually": (in_property("«<>» (forall p in Proc: true)"), "write `eventually e`"),
        "a formula that is asked": (
            spec(check="prove «[]»(forall p in Proc: true)"),
            "name it, `property x : always e`, and write `prove x` in a check",
        ),
        "a tuple": (
            guarded("«<<m, p>>» \\notin seen"), "write `(a, b)`, or `[a, b]` for a sequence"
        ),
        "a prime": (spec(request="«seen' =» seen union {m}"), "write `x := e`"),
        "unchanged": (
            spec(request="«UNCHANGED <<seen>>»"),
            "leave it out: variables that a handler does not assign keep their values",
        ),
        "extends": (spec("  «EXTENDS» Naturals"), "leave it out: there is nothing to import"),
        "a constant in a check": (
            spec(check="«CONSTANT» k = 3"),
            "a check sets `n = 3`; a protocol has parameters, `protocol P(k: Nat)`, and constants, "
            "`const K = 3`",
        ),
        "variables": (spec("  «VARIABLES» x, y"), "a variable is declared with `state v : T = e`"),
        "constraint": (spec("  «CONSTRAINT» Small"), "write `bound e` in a check"),
        "view": (spec("  «VIEW» Seen"), "write `view e` in a check"),
        "assume": (spec("  «ASSUME» n > 3"), "write `protocol P requires e`"),
        "fairness": (
            spec(check="fairness «WF_vars»(Next)"),
            "leave it out: fairness is derived from the faults, links and timing of the check; for"
            " one condition, `may upon condition … as a`, a check says `fair a` or"
            " `strongly fair a`",
        ),
        "if": (spec(request="let a = «IF» m in seen THEN 1 ELSE 2"), "write `if c then a else b`"),
        "let": (spec(request="«LET» x == m IN skip"), "write `let x = e`"),
        "except": (spec(request="seen := [seen «EXCEPT» ![m] = true]"), "write `m[k] := e`"),
        "a function": (
            spec(request="let a = «[x \\in Proc |-> 0]»"), "write `{ x -> e for x in S }`"
        ),
        "a record": (spec(request="let a = [x «|->» 0]"), "write `record(a = e)`"),
        "a comprehension": (
            spec(request="let a = «{x \\in seen : x == m}»"), "write `{ x for x in S when e }`"
        ),
        "choose": (
            spec(request="let a = «CHOOSE» x \\in seen : true"), "write `choose x in S when e`"
        ),
        "subsets": (spec(request="let a = «SUBSET» seen"), "write `subsets(S)`"),
        "a comment": (spec(request="seen += m «\\*» kept"), "a comment begins with `//`"),
        "enabled": (
            in_property("always «ENABLED» Next"),
            "write the condition of the handler: a property reads the state",
        ),
        "symmetry": (
            spec(check="«SYMMETRY» Perms"),
            "leave it out: symmetry is found by itself (`--reduce`)",
        ),
        "deadlock": (
            spec("  «CHECK_DEADLOCK» FALSE"),
            "a run may end; to forbid that, write `eventually …` for what has to happen",
        ),
        "a module": (
            "«---- MODULE Reliable ----»\nprotocol P { state s = 0 }", "write `protocol P { … }`"
        ),
        "the initial states": (
            spec("  «Init == seen = {}»"),
            "write `upon init { … }`, or an initial value, `state v : T = e`",
        ),
        "the actions": (
            spec("  «Next == Send»"), "write a handler for each action: `upon … { … }`"
        ),
    },
    "Promela": {
        "send": (spec(request="«ch !» DATA(m)"), "write `send M(x) to q`"),
        "send to one of several": (spec(request="«ch[0]!»DATA(m)"), "write `send M(x) to q`"),
        "receive": (spec(request="«ch?»DATA(m)"), "write `upon receive M(x) from p { … }`"),
        "if": (
            spec(request="«if ::» m in seen -> deliver(self, m) :: else -> skip fi"),
            "write `either when c { … } or { … }`",
        ),
        "do": (
            spec(request="«do ::» m in seen -> deliver(self, m) od"),
            "write a handler for each: `upon condition c { … }`",
        ),
        "int": (
            spec("  «int» k = 0;"),
            "a number is declared as `state v : 0..9 = 0`, or with the type `Nat`",
        ),
        "byte behind state": (
            spec("  state «byte» k = 0"),
            "a number is declared as `state v : 0..9 = 0`, or with the type `Nat`",
        ),
        "bool": (
            spec("  «bool» done = false"), "a truth value is declared as `state x : bool = false`"
        ),
        "a channel": (
            spec("  «chan» c = [2] of { byte }"),
            "leave it out: every process has a link to every other",
        ),
        "mtype": (
            spec("  «mtype» = { A, B }"), "write `message A`, or `type T = enum { a, b }`"
        ),
        "proctype": (
            "«active [2] proctype» P() { skip }\nprotocol P { state s = 0 }",
            "write `protocol P { … }`; the check sets the number of processes: `n = 3`",
        ),
        "run": (
            spec(request="«run» P(1)"), "leave it out: all `n` processes start by themselves"
        ),
        "assert": (
            spec(request="«assert» m in seen"),
            "write `invariant x : e` or `property x : always e` beside the handlers",
        ),
        "d_step": (
            spec(request="«d_step» { skip }"),
            "a handler is one step; `atomic { … }` rules out crashes inside it",
        ),
        "ltl": (spec("  «ltl» p1 { [] true }"), "write `property p : …`"),
        "goto": (
            spec(request="«goto» again"),
            "there are no jumps: assign a variable that the handlers' guards test",
        ),
        "select": (spec(request="«select» (i : 0..3) skip"), "write `choose x in 0..3`"),
    },
    "P": {
        "a machine": (
            "«machine» Server { }\nprotocol P { state s = 0 }", "write `protocol M { … }`"
        ),
        "a state": (
            spec("  «start state Init» { entry { skip } }"),
            "a handler is not a state: use a variable, `state at : enum { idle, busy } = idle`",
        ),
        "entry": (spec("  «entry» { skip }"), "write `upon init { … }`"),
        "on … do": (
            spec("  «on DATA do» (m: Msg) { skip }"), "write `upon receive M(x) from p { … }`"
        ),
        "send": (spec(request="«send q,» DATA, m"), "write `send M(x) to q`"),
        "raise": (
            spec(request="«raise» done"),
            "write the statements here, or set a variable and use `upon condition`",
        ),
        "announce": (
            spec(request="«announce» done"), "a property reads histories: `delivered(p)`"
        ),
        "an event": (
            "«event eData» : int\nprotocol P { state s = 0 }", "write `message M(x: T)`"
        ),
        "a spec": (
            "«spec» Safety observes eData { }\nprotocol P { state s = 0 }",
            "write `property x : always e`",
        ),
        "defer": (spec("  «defer» DATA"), "a message that no handler receives is discarded"),
        "foreach": (
            spec(request="«foreach» (q in Proc) { skip }"), "write `for x in S { … }`"
        ),
        "seq": (spec("  state q : «seq[»Msg] = []"), "write `seq<T>`, `set<T>`"),
        "map": (spec("  state q : «map[»Proc, Nat] = 0"), "write `map<K, V>`"),
    },
    "the pseudocode of CGR": {
        "trigger": (
            spec(request="«trigger» deliver(self, m)"),
            "leave it out: a call is written `deliver(p, m)` or `beb.broadcast(M(x))`",
        ),
        "trigger, in angles": (
            spec(request="«trigger» <rb, Deliver | self, m>"),
            "leave it out: a call is written `deliver(p, m)` or `beb.broadcast(M(x))`",
        ),
        "an event": (
            spec("  upon «event <beb, Deliver | p, [DATA, s, m]>» do { skip }"),
            "write `upon beb.deliver(p, m)`; from above: `upon request broadcast(m)`",
        ),
        "an event in angles": (
            spec("  upon «⟨beb, Deliver | p, m⟩» do { skip }"),
            "write `upon beb.deliver(p, m)`; from above: `upon request broadcast(m)`",
        ),
        "a crash": (
            spec("  upon «event <P, Crash | p>» { skip }"),
            "write `upon fd.suspect(p)`, and `uses fd : FailureDetector`",
        ),
        "a suspicion": (
            spec("  upon «⟨◇P, Suspect | p⟩» do { skip }"),
            "write `upon fd.suspect(p)`, and `uses fd : FailureDetector`",
        ),
        "the end of a suspicion": (
            spec("  upon «event <◇P, Restore | p>» do { skip }"), "write `upon fd.restore(p)`",
        ),
        "a leader": (
            spec("  upon «event <Omega, Trust | p>» do { skip }"),
            "write `upon omega.trust(p)`, and `uses omega : LeaderDetector`",
        ),
        "the beginning": (spec("  upon «event <rb, Init>» do { skip }"), "write `upon init { … }`"),
        "a loop with forall": (
            spec(request="«forall» q in correct do { skip }"), "a loop is `for q in S { … }`"
        ),
        "a loop with for all": (
            spec(request="«for all» q in Proc minus {self} {\n skip }"),
            "a loop is `for q in S { … }`",
        ),
        "a loop over pairs": (
            spec("  state from : map<Proc, set<(Proc, Msg)>> = {}",
                 request="«for all» (s, x) in from[self] do skip"),
            "a loop is `for q in S { … }`",
        ),
        "a loop with for each": (
            spec(request="«for each» q ∈ Π do skip"), "a loop is `for q in S { … }`"
        ),
        "a guard with exists": (
            spec("  upon «exists» m in seen: m in seen { skip }"),
            "write `upon condition exists x in S: e`, and `choose x in S when e` in the handler",
        ),
        "a guard with exists … such that": (
            spec("  upon «exists (s, m) in seen such that» true { skip }"),
            "write `upon condition exists x in S: e`, and `choose x in S when e` in the handler",
        ),
        "a condition with exists … such that": (
            spec("  upon condition «exists m in seen such that» true { skip }"),
            "write `upon condition exists x in S: e`, and `choose x in S when e` in the handler",
        ),
        "exists … such that": (
            in_property("eventually exists p in Proc «such that» correct(p)"),
            "write `exists x in S: e`",
        ),
        "such that": (
            spec("  upon condition m in seen «such that» true { skip }"), "write `when e`"
        ),
        "implements": (
            "«Implements:» ReliableBroadcast\nprotocol P { state s = 0 }",
            "write `protocol P implements ReliableBroadcast`",
        ),
        "uses": (spec("  «Uses:» beb"), "write `uses beb : BestEffortBroadcast`"),
        "wait until": (
            spec(request="«wait until» m in seen"),
            "write a guard, `upon receive M(x) when e`, `upon condition e`, or `await e` inside a"
            " handler",
        ),
    },
    "Quint": {
        "a module": ("«module» M { }\nprotocol P { state s = 0 }", "write `protocol M { … }`"),
        "var": (spec("  «var» k: Nat"), "a variable is declared with `state v : T = e`"),
        "pure def": (
            spec("  «pure def» f(x) = x"),
            "write `let x = e` in a handler, or `define f(x: T) : T = e`",
        ),
        "an action": (spec("  «action» step = skip"), "write a handler: `upon … { … }`"),
        "any": (spec(request="«any »{ skip }"), "write `either { … } or { … }`"),
        "nondet": (spec(request="«nondet» x = Proc"), "write `choose x in S`"),
        "forall": (
            guarded("seen«.forall»(x => x == m)"),
            "write `forall x in S: e`, `exists x in S: e`",
        ),
        "union": (
            spec(request="seen := seen«.union»({m})"), "write `S union T`, `S intersect T`"
        ),
        "in": (guarded("m«.in»(seen)"), "write `x in S`"),
        "implies": (guarded("m in seen «implies» true"), "write `a => b`"),
        "iff": (guarded("m in seen «iff» true"), "write `(a) == (b)`"),
        "temporal": (spec("  «temporal» p = true"), "write `property p : e`"),
    },
    "mathematics": {
        sign: (guarded(f"m «{sign}» seen"), f"write `{word}`")
        for sign, word in {
            "∈": "in", "∉": "not in", "∧": "and", "∨": "or", "≤": "<=", "≥": ">=", "≠": "!=",
            "∪": "union", "∩": "intersect", "⊆": "subset", "∖": "minus", "⇒": "=>",
        }.items()
    }
    | {
        sign: (in_property(f"always «{sign}» p"), f"write `{word}`")
        for sign, word in {
            "∀": "forall", "∃": "exists", "¬": "not", "∅": "{}", "Π": "Proc", "□": "always",
            "◇": "eventually",
        }.items()
    }
    | {
        "⊥": (guarded("m == «⊥»"), "write `none`, of a type `option<T>`"),
        "→": (spec(request="let a = { x «→» 0 for x in Proc }"), "write `->`"),
        "←": (spec(request="seen «←» {}"), "write `:=`"),
        "⟨⟩": (guarded("«⟨m, p⟩» in seen"), "write `(a, b)`"),
    },
    "other languages": {
        "&&": (guarded("m in seen «&&» true"), "write `and`"),
        "||": (guarded("m in seen «||» true"), "write `or`"),
        "!": (guarded("«!»(m in seen)"), "write `not e`"),
        "<>": (guarded("m «<>» m"), "write `a != b`"),
        "%": (guarded("n «%» 2 == 0"), "write `a mod b`"),
        "/": (guarded("#seen > n «/» 2"), "integer division is written `a div b`"),
        "++": (spec(request="seen«++»"), "write `x += 1`"),
        "--": (spec(request="seen«--»"), "write `x -= 1`"),
        "a comment": (spec(request="skip «/* nothing */»"), "a comment begins with `//`"),
        "list": (spec("  state l : «list»<Msg> = []"), "write `seq<T>`"),
        "array": (spec("  state l : «array»<Msg> = []"), "write `seq<T>`, or `map<K, V>`"),
        "Set": (spec("  state s : «Set»<Msg> = {}"), "write `set<T>`"),
        "Map": (spec("  state s : «Map»<Proc, Nat> = 0"), "write `map<K, V>`"),
        "elif": (
            spec(request="if m in seen { skip } «elif» m not in seen { skip }"),
            "write `else if c`",
        ),
        "do": (
            spec(request="for q in Proc «do» skip"), "blocks use braces: leave `do` out"
        ),
        "while": (
            spec(request="«while» m in seen { skip }"),
            "write `for x in S { … }` or `while some x in S when c { … }`; what goes on until "
            "something is true is `upon condition c { … }`",
        ),
        "for": (
            spec(request="«for» (int i = 0; i < 3; i++) { skip }"), "write `for x in S { … }`"
        ),
        "return": (
            spec(request="«return»"),
            "a handler ends with its block; guard the rest with `if … { … }`",
        ),
    },
}  # fmt: skip
CASES = [
    pytest.param(language, text, hint, id=f"{language}: {name}")
    for language, cases in NOTATIONS.items()
    for name, (text, hint) in cases.items()
]


@pytest.mark.parametrize(("language", "text", "hint"), CASES)
def test_a_notation_is_underlined_and_translated(language: str, text: str, hint: str) -> None:
    whole, marked = places(text)
    found = diagnostics(whole)[0]
    assert found.span is not None
    assert [(found.span.line, found.span.column, found.span.end_column)] == marked
    line, start, end = marked[0]
    written = whole.split("\n")[line - 1][start - 1 : end - 1].strip()
    assert (found.code, found.message) == ("S007", f"`{written}` is a notation of {language}")
    assert hint in ("", found.hint)


NAMES = {
    "FALSE": (spec("  state ok = «FALSE»"), "write `true`, `false` and `bool`"),
    "BOOLEAN": (spec("  state ok : «BOOLEAN» = false"), "write `true`, `false` and `bool`"),
    "Cardinality": (guarded("«Cardinality(seen)» > 1"), "write `#S`"),
    "len": (guarded("«len(seen)» > 1"), "write `#S`"),
    "size, of the set": (guarded("«seen.size()» > 1"), "write `#S`"),
    "contains, of the set": (guarded("«seen.contains(m)»"), "write `x in S`"),
    "append": (spec(request="let a = «Append([], m)»"), "write `q + x`"),
    "a set": (spec(request="seen := «Set(m)»"), "write `{a}` for a set, `[a]` for a sequence"),
    "filter": (guarded("«seen.filter(x => x == m)» != {}"), "write `{ x for x in S when e }`"),
    "to": (spec(request="for x in («1.to(5)») { skip }"), "write `1..5`"),
    "new": (
        spec(request="let a = «new» Server(1)"),
        "leave it out: all `n` processes start by themselves",
    ),
    "default": (spec(request="let a = «default(m)»"), "write the value itself: `0`, `{}`, `none`"),
    "exclude": (spec(request="seen := «seen.exclude({m})»"), "write `S minus T`"),
    "put": (spec(request="seen := «seen.put(m, true)»"), "write `m[k] := v`"),
    "boolean": (spec("  state ok : «boolean» = false"), "write `bool`"),
    "string": (
        spec("  state ok : «string» = 0"),
        "write `lo..hi` or `Nat`; payloads are `Msg`, labels `enum { a, b }`",
    ),
    "starttimer": (spec(request="«starttimer»(t)"), "write `start t after e`"),
    "head": (spec(request="let a = «Head([m])»"), "write `head(q)`, `tail(q)`"),
    "this": (spec(request="deliver(«this», m)"), "write `self`"),
    "_pid": (spec(request="deliver(«_pid», m)"), "write `self`, or `rank(self)` for its number"),
    "null": (guarded("m == «null»"), "write `none`, of a type `option<T>`"),
    "assert": (
        spec(request="«assert»(m in seen)"),
        "write `invariant x : e` or `property x : always e` beside the handlers",
    ),
    "correct": (
        spec("  property done : eventually forall p in «correct»: p.x >= 1\n  state x = 0"),
        "write `forall p in Proc: correct(p) => …`",
    ),
    "deadlock": (
        spec("  property x : always not «deadlock»"),
        "a run may end; to forbid that, write `eventually …` for what has to happen",
    ),
    "ENABLED": (
        in_property("always «ENABLED(seen)»"),
        "write the condition of the handler: a property reads the state",
    ),
    "printf": (spec(request="«printf»(m)"), "leave it out: the trace shows every step"),
    "int": (
        spec("  state k : «int» = 0"),
        "a number is declared as `state v : 0..9 = 0`, or with the type `Nat`",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_name_is_translated(name: str) -> None:
    text, hint = NAMES[name]
    whole, marked = places(text)
    found = diagnostics(whole)[0]
    assert found.span is not None
    assert (found.span.line, found.span.column) == marked[0][:2]
    assert found.hint == hint


def test_every_notation_is_tested() -> None:
    """What a table says is in a test: the pattern finds it, or the name is looked up."""
    hints = {found.hint for text, _ in NAMES.values() for found in diagnostics(places(text)[0])}
    for language, notations in TABLE.items():
        texts = [places(text)[0] for text, _ in NOTATIONS[language].values()]
        said = {found.hint for text in texts for found in diagnostics(text)} | hints
        assert not [each.written for each in notations if each.instead not in said]


def test_the_page_has_the_tables() -> None:
    assert markdown() in PAGE.read_text(encoding="utf-8")


def test_what_is_right_needs_no_translation() -> None:
    """Words of other languages may be names of variables here."""
    words = "trigger, assert, await, list, event, machine, module, val"
    declared = "\n".join(f"  state {word.strip()} = 0" for word in words.split(","))
    assert diagnostics(spec(declared, request="trigger := 1  list +="))[0].code == "S001"
