"""Diagnostic codes of checks: C."""

from __future__ import annotations

from checker.diagnostics.entry import Entry

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
        "all? Over `processings`: is something performed twice, or not at all? Over `effects`: "
        "does the world change twice, idempotent acts counting once? A protocol may keep one and "
        "break the others, so the check says which it asks. The protocol must have what the "
        "question is about: indications, acts, or one request with one payload.",
    ),
    "C019": Entry(
        "what a scenario can't claim",
        "A scenario ends with what is true of its run: `then agreement violated` or `then "
        "agreement holds` for properties that the check asks for, and `then it ends` (nothing that "
        "the world promises is left to do), `then it continues` (something is) or `then it fails` "
        "(some next step meets an error).",
    ),
    "C020": Entry(
        "what a check can't be about every value of",
        "`for all n, T, f when …` names `n`, `f` and those parameters of the protocol that are "
        "numbers, each without a value in the check: the question is about all of them.",
    ),
    "C021": Entry(
        "what a check about all sizes can't have",
        "A scenario, and the numbers `states`, `depth` and `trace`, belong to one finite system. A "
        "check with `for all` has none: it asks about the systems of all sizes.",
    ),
    "C022": Entry(
        "an oracle that says nothing about liars",
        "An oracle keeps the properties of its interface. Most interfaces are made for processes "
        "that crash, and say of any process what it must have requested before others hear of it: "
        "such an oracle would keep Byzantine processes from lying. So where there are any, a "
        "layer can be an oracle only if each property of its interface demands of all processes "
        "whose requests it speaks of that they are correct, as those of "
        "`ByzantineConsistentBroadcast` and `ByzantineReliableBroadcast` do. The classes of "
        "failure detectors are about crashes, too.",
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
    "C205": Entry(
        "a check about all sizes, to be explored",
        "A check with `for all` is about the systems of all sizes, and only a finite one can be "
        "explored. `bivalence prove` answers for all of them at once. With a value for each name "
        "(`--set n=4 --set f=1`) it is an ordinary check of that one system.",
    ),
}
