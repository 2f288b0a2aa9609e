"""Diagnostic codes of specs: S syntax, N names and types."""

from __future__ import annotations

from checker.diagnostics.entry import Entry

SYNTAX = {
    "S001": Entry(
        "a word that can't stand here",
        "The text can't be read any further at this word. What could stand there is listed. The "
        "item around the word (a handler, a declaration, a part of a check) is then left out and "
        "the rest of the file is read, so that one run shows up to 20 such errors.",
    ),
    "S002": Entry(
        "a character that can't stand here",
        "No word of the language begins with this character. Operators are written in words: "
        "`and`, `or`, `not`, `forall`, `in`.",
    ),
    "S003": Entry(
        "a bracket or a string without its partner",
        "Every `{`, `(` and `[` is closed by its partner, and a string ends on the line on which "
        "it begins.",
    ),
    "S004": Entry(
        "too many levels",
        "Expressions, blocks, types and imported modules nest only so deep. A long formula can be "
        "taken apart with `let`.",
    ),
    "S005": Entry(
        "a number that is too large",
        "Numbers are at most 1000000000. A model with larger ones could not be explored anyway; "
        "small numbers show the same errors.",
    ),
    "S006": Entry(
        "a word of the language as a name",
        "Where this word stands alone something else begins, such as a statement: what is called "
        "like that could be declared, and never be assigned or called.",
    ),
}
NAMES = {
    "N001": Entry(
        "not supported yet",
        "This is part of the language, but the tool does not have it yet. It refuses the spec "
        "rather than read it in another sense.",
    ),
    "N002": Entry(
        "an unknown name",
        "Nothing that can be seen here has this name. Names are those of patterns and binders "
        "around it, of the protocol's state, parameters, messages, roles and types, and the "
        "labels of its enums.",
    ),
    "N003": Entry(
        "the wrong type",
        "The value has one type and another is needed. Every expression has a type before "
        "anything runs; any number may stand where a number is needed, and its range is checked "
        "during the run.",
    ),
    "N004": Entry(
        "a name with two meanings",
        "A name means one thing wherever it can be seen. A binder, a `let` or a pattern does not "
        "hide a name of the protocol: in a pattern that could be meant as a comparison.",
    ),
    "N005": Entry(
        "a type that can't be told",
        "The type of `none`, of an empty set, and of a number that can be negative can't be told "
        "from the value alone. State variables get a type after a colon.",
    ),
    "N006": Entry(
        "the wrong number of arguments",
        "A message has as many arguments as it has fields, a request or an indication as many as "
        "the interface says, a tuple's pattern as many as the tuple has parts.",
    ),
    "N007": Entry(
        "an operation that this type does not have",
        "The operator, the index or the field is not there for values of this type. Processes, "
        "for one, are opaque: they can be compared and be members of sets, but have no order and "
        "no arithmetic, so that all of them can be treated alike.",
    ),
    "N008": Entry(
        "a name that could mean several things",
        "Several enums have this label, or several roles have this variable, and what stands "
        "around it does not tell which is meant.",
    ),
    "N009": Entry(
        "this can't be assigned",
        "Only state variables of the process itself, and shared state, can be assigned. "
        "Parameters and names that a pattern, a binder or `let` has bound are fixed.",
    ),
    "N010": Entry(
        "the state of another process",
        "A process sees only its own state and what it receives. Properties may look at the state "
        "of all: `p.v`. Models with variables that every process sees declare `shared state`.",
    ),
    "N011": Entry(
        "an unknown type",
        "Types are `bool`, `lo..hi`, `Nat`, `enum { … }`, `Proc`, `Msg`, tuples, records, "
        "`option`, `set`, `map`, `seq`, `bag`, and the names declared with `type`.",
    ),
    "N012": Entry(
        "an unknown message",
        "The protocol declares no message of this name. Only messages can be received and asked "
        "for with `received`.",
    ),
    "N013": Entry(
        "an unknown interface or layer",
        "No interface (or no layer) of this name can be seen. Interfaces come from the file, from "
        "its imports, and with the tool; layers are declared with `uses`.",
    ),
    "N014": Entry(
        "a layer without one protocol",
        "`uses x : I` means the one protocol that implements `I`: of the file and its imports, "
        "otherwise of those that come with the tool. Where there is none, or there are several, "
        "a check says what stands for the layer: `given x as Q`, or `given x as oracle`. The "
        "protocol can also be named where the layer is declared: `uses x : Q`.",
    ),
    "N015": Entry(
        "a circle of layers or imports",
        "A protocol can't be a layer below itself, and a file can't import itself, directly or "
        "through others.",
    ),
    "N016": Entry(
        "an import that can't be read",
        """
        The path of an import is relative to the file that it stands in.

        The file is a spec, whose name ends in `.bcast`.
        """,
    ),
    "N017": Entry(
        "an unknown request or indication",
        "The interface has no request or no indication of this name. Requests of a layer are "
        "called as `layer.op(…)`, own indications as `op(…)`, both as statements.",
    ),
    "N018": Entry(
        "only properties can say this",
        "Histories (`delivered(p)`), `correct(p)` and temporal operators speak of whole runs. A "
        "process does not know them, so protocol code can't use them.",
    ),
    "N019": Entry(
        "a property that does not say when",
        "A property is built from `always e`, `eventually e` and `e ~> e`. Around and inside of "
        "these there may be `not`, `and`, `or`, `=>`, and `forall` and `exists` over sets that do "
        "not change during a run. Without such an operator it would not be clear at which states "
        "the formula is to hold.",
    ),
    "N020": Entry(
        "not a message of the protocol",
        "What a protocol sends, or gives to the layer below, are its own messages. A payload from "
        "above is wrapped: `message DATA(m: Msg)`, then `DATA(m)`.",
    ),
    "N021": Entry(
        "there is no `self` here",
        "`self` is the process that runs a handler. Properties and shared state belong to no "
        "process.",
    ),
    "N022": Entry(
        "this needs an interface",
        "Requests, indications and histories are those of the interface that the protocol "
        "implements: `protocol P implements I`.",
    ),
    "N023": Entry(
        "this is not known before the run",
        "Sizes, settings and initial values are fixed before the run starts, so they can't read "
        "state. `init choose` may read what was chosen before it.",
    ),
    "N024": Entry(
        "a pattern or binder of the wrong form",
        "Binders are names or tuples of names, each `in` a set (the next one's where it has none). "
        "A map is written `{ k -> value for k in K }` with all keys of its type.",
    ),
    "N025": Entry(
        "this belongs into a role",
        "A protocol with roles has its handlers and its local state in them, as there is no "
        "process outside of all roles.",
    ),
    "N026": Entry(
        "a coin that can't be flipped here",
        "`flip()` is tossed once, when the statement that it stands in is run: in an assignment, a "
        "`let`, the condition of an `if`, and what is sent, called or performed. A guard may be "
        "asked any number of times, and a formula does not act, so they can't toss coins.",
    ),
    "N027": Entry(
        "a timer that is not both started and waited for",
        "A timer has a name, a `start` somewhere and an `upon timeout` for it in the same role. "
        "Where one of them is missing, the other does nothing. The timer without a name, "
        "`upon timeout { … }`, is not started: it always runs.",
    ),
    "N028": Entry(
        "a `yield` in a place where it can't split the handler",
        "What follows a `yield` is a step of its own. It stands between the statements of the "
        "handler itself, not inside of a branch, a loop or `atomic`, nor in `upon init`.",
    ),
    "N029": Entry(
        "a layer and its index",
        "`uses x[Nat] : I` declares a family of layers, one for each number from 0 on; every "
        "request to it and every indication of it says which: `x[k].propose(v)`. A layer that is "
        "declared without an index is used without one.",
    ),
    "N030": Entry(
        "an invariant with a temporal operator",
        "`invariant NAME : expr` is a lemma: what its author holds to be true in every state. "
        "`always` is meant and not written. What is about whole runs (`eventually`, `~>`) is a "
        "`property`.",
    ),
    "N031": Entry(
        "`may` before an event that is no process's own",
        "`may upon condition` and `may upon timeout` make a handler that a process may run and "
        "never has to. Messages, requests and indications come from others, and `upon init` and "
        "`upon recover` have their time: a process can't leave them.",
    ),
    "N210": Entry(
        "a formula that only properties may use",
        "This expression speaks of the history of a run and stands where there is none.",
    ),
    "N212": Entry(
        "`correct` in a place where it can't be decided",
        "Whether a process is correct is known at the end of a run only. In an `always` formula "
        "`correct(p)` may stand in a premise; use `~>`, or `crashed(p)` for what is so by now.",
    ),
    "N213": Entry(
        "a formula that becomes too large",
        "Temporal formulas are turned into automata. A `forall` at the outside costs little, as "
        "each value is asked separately; one inside of a temporal operator is written out for all "
        "values, and the automaton grows with their number.",
    ),
}
