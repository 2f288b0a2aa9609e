"""The codes of all diagnostics: S syntax, N names and types, C checks, R errors of a run,
E settings, engines and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A code's title and its explanation in a few sentences."""

    title: str
    explanation: str


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
        "The path of an import is relative to the file that it stands in.",
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
    "N210": Entry(
        "a formula that only properties may use",
        "This expression speaks of the history of a run and stands where there is none.",
    ),
    "N212": Entry(
        "`correct` in a place where it can't be decided",
        "Whether a process is correct is known at the end of a run only. In an `always` formula "
        "`correct(p)` may stand in a premise; use `~>`, or `crashed(p)` for what is so by now.",
    ),
}
CHECKS = {
    "C001": Entry(
        "an unknown protocol",
        "The check is of a protocol that neither the file nor its imports nor the tool have.",
    ),
    "C002": Entry(
        "an unknown parameter",
        "A check sets `n`, `f` and the parameters that the protocol declares.",
    ),
    "C003": Entry(
        "links that contradict each other",
        "Kinds of links can be combined unless one promises what the other breaks: perfect links "
        "do not lose or duplicate, a set of persistent messages has no order; and a lossy link "
        "promises nothing, where a fair-loss link promises that of infinitely many copies "
        "infinitely many arrive, and a stubborn link that every message does, again and again.",
    ),
    "C004": Entry(
        "an unknown kind of link, fault, timing or detector",
        "Links are `perfect`, `fifo`, `lossy`, `fair_loss`, `stubborn`, `duplicating`, "
        "`persistent`, `authenticated` or `bounded`; faults are `crash`, `recover`, `omission`, "
        "`byzantine` and `partition`; timing is `asynchronous`, `synchronous`, `partial` or "
        "`clocks`; detectors are `P`, `S` (or `eventually` one of these) or `Omega`.",
    ),
    "C005": Entry(
        "an unknown process or role",
        "Processes are p1, p2, …; those of a role are called by its initial, as c1 of "
        "`coordinator`, or by its whole name where two roles share an initial. `all` is every "
        "process. `links a -> b` is about two roles of the protocol.",
    ),
    "C006": Entry(
        "an unknown request of a client",
        "A client's verb is a request of the protocol's interface with an s: `p1 broadcasts a`.",
    ),
    "C007": Entry(
        "an unknown property",
        "Properties are the protocol's own, its interface's, and those of interfaces with the same "
        "requests and indications.",
    ),
    "C008": Entry(
        "an unknown expectation",
        "A property is expected to be `holds`, `violated`, `vacuous` or `unknown`; `states`, "
        "`depth` and `trace` are expected to be a number.",
    ),
    "C009": Entry(
        "something is said twice",
        "Each setting, each kind of link and each expectation is given once, so that it is clear "
        "which of them counts.",
    ),
    "C010": Entry(
        "a part of a check has a wrong value",
        "The setting is known, and its value is missing or of another kind.",
    ),
    "C011": Entry(
        "clients without requests",
        "Clients make the requests of the protocol's interface, and this protocol has none.",
    ),
    "C012": Entry(
        "recovery without crashes",
        "`recover` lets crashed processes come back. How often a crash may happen is said beside "
        "it: `faults crash <= 2, recover`. Without that bound nothing could crash.",
    ),
    "C013": Entry(
        "timeouts without time",
        "The protocol waits for timeouts, and what those mean depends on the world: with "
        "`timing asynchronous` a timeout may come at any time, also too early; with "
        "`timing synchronous` it tells that something did not happen. The check has to say which.",
    ),
    "C014": Entry(
        "a failure detector without a class",
        "A layer `FailureDetector` or `LeaderDetector` is an oracle, and how good it is decides "
        "what can be solved with it: `detector P`, `detector eventually S`, `detector Omega`. A "
        "protocol can play it as well: `given fd as Heartbeats`.",
    ),
    "C015": Entry(
        "a detector that nobody asks",
        "The check declares a failure detector, and no layer of the protocol is one (or a protocol "
        "is given for each). It would have no effect.",
    ),
    "C016": Entry(
        "`given` for a layer that is not there, or not like that",
        "`given x as Q` says what stands for a layer: its name, at any depth, or the name of its "
        "interface. `Q` implements the interface that the layer is declared with; `oracle` "
        "is whatever keeps the properties of that interface.",
    ),
    "C017": Entry(
        "what only matters to processes that come back",
        "This is a warning. `stable state` and `upon recover` make a difference to processes that "
        "crash and come back. In this check a process that crashes is gone for ever, so it "
        "says nothing about them.",
    ),
    "C018": Entry(
        "at most once, at least once, exactly once: of what?",
        "There are three questions. Over `deliveries`: does an indication come twice, or not at "
        "all? Over `processings`: is something performed twice, or not at all? Over `effects`: does "
        "the world change twice, idempotent acts counting once? A protocol may keep one and break "
        "the others, so the check says which it asks. The protocol must have what the question is "
        "about: indications, acts, or one request with one payload.",
    ),
    "C200": Entry(
        "a size without a value",
        "Sizes, bounds and parameters are numbers that the check fixes; one of them is missing, or "
        "can't be computed.",
    ),
    "C201": Entry(
        "a layer without anything to carry",
        "A layer below carries messages of the protocol above it, and the protocol has none.",
    ),
    "C202": Entry(
        "an operation on a set with too many possible members",
        "Sets over very many possible members are kept as lists, and have only those operations "
        "that add, remove and ask for single members.",
    ),
    "C203": Entry(
        "a request without a handler",
        "A client makes a request that the protocol has no `upon request` for.",
    ),
    "C204": Entry(
        "a client's argument that is not possible",
        "What a client gives is a constant within the range that the interface declares.",
    ),
}
RUN = {
    "R001": Entry(
        "a value outside of its range",
        "During the run a number left its range. Nothing wraps and nothing is cut: the run ends "
        "here, and its trace is shown. Either the range is too small, or the protocol counts "
        "further than was thought.",
    ),
    "R002": Entry(
        "a capacity is reached",
        "A seq, a bag or a link was given more than its declared capacity. The run ends here.",
    ),
    "R003": Entry(
        "no such entry",
        "A seq was asked for an entry behind its end, or a map for a key that it does not have.",
    ),
    "R004": Entry(
        "nothing there",
        "`get` of `none`, `head`, `last` or `tail` of an empty seq, `min` or `max` of an empty "
        "set, or a division by zero.",
    ),
    "R005": Entry(
        "a loop that does not end",
        "A `while` loop came back to a state in which it had been before, so it would go on for "
        "ever.",
    ),
}
SETTINGS = {
    "E001": Entry(
        "a file that can't be read",
        "The file is not there, is no file, is too large, or is not UTF-8 text.",
    ),
    "E002": Entry(
        "no such check",
        "The file has no check of this name, or no check at all.",
    ),
    "E003": Entry(
        "a parameter with an impossible value",
        "The numbers of the check do not go together: no processes, more faults than processes, an "
        "empty range, a process that is not there.",
    ),
    "E005": Entry(
        "a trace of another version",
        "The trace was written by a version of the tool whose format this one does not read.",
    ),
    "E006": Entry(
        "not a trace file",
        "The file is not a trace that the tool has written.",
    ),
    "E007": Entry(
        "the engine can't take this",
        "The engine that was asked for does not support something that the check needs. Another "
        "engine, or the default, does.",
    ),
    "E008": Entry(
        "an unknown engine or value of an option",
        "The option has no such value; those that it has are listed.",
    ),
    "E009": Entry(
        "a trace that the spec does not follow",
        "The steps of the trace are not a run of the spec as it is now: the spec or its parameters "
        "have changed since it was written.",
    ),
}

CODES: dict[str, Entry] = {**SYNTAX, **NAMES, **CHECKS, **RUN, **SETTINGS}
"""Every code that a diagnostic can have."""


def page(code: str) -> str:
    """The page about ``code`` (in any case): explanation, example, message, in Markdown.

    Raises ``KeyError`` where there is no such code.
    """
    from checker import resources

    known = code.strip().upper()
    if known not in CODES:
        raise KeyError(code)
    return (resources.pages() / f"{known}.md").read_text(encoding="utf-8")
