"""Diagnostic codes of what can't be proved for every number of processes: T."""

from __future__ import annotations

from checker.diagnostics.entry import Entry

FRAGMENT = {
    "T001": Entry(
        "not one role of processes",
        "A proof for every number of processes counts how many of them are where. All of them "
        "have the same handlers, so there is one role, and its size is a sum of parameters, as "
        "`n` is. Several roles, shared state and layers below can't be counted that way.",
    ),
    "T002": Entry(
        "links that a proof for every n does not know",
        "What a process has received is read off from what has been sent. That needs links on "
        "which every message between correct processes arrives: `perfect`, `stubborn`, `fifo` or "
        "`duplicating`, without a bound. Where processes may be Byzantine links are "
        "`authenticated` as well, for otherwise one liar speaks for everybody.",
    ),
    "T003": Entry(
        "faults that a proof for every n does not know",
        "Processes crash and stay down, or are Byzantine from the start, or some do this and "
        "others that. Processes that come back, omit messages, or are cut off by a partition "
        "can't be counted that way.",
    ),
    "T004": Entry(
        "time in a proof for every n",
        "Processes are asynchronous: no timeouts, no rounds, no clocks, no failure detectors.",
    ),
    "T005": Entry(
        "a state that grows with the number of processes",
        "For every n there are the same places in which a process can be, so its variables have "
        "finitely many values, however many processes there are: `bool`, `enum`, ranges with "
        "numbers at both ends, `Msg`, and options, tuples and sets of these. What was received is "
        "counted by `#received(M)`.",
    ),
    "T006": Entry(
        "a statement that a proof for every n does not know",
        "Handlers assign, send, indicate, choose and branch. Loops over processes, timers, acts "
        "on the outside world and `yield` can't be counted that way.",
    ),
    "T007": Entry(
        "an expression that is no count",
        "What a process knows of others is how many of them it has received a message from: "
        "`#received(M(v))`, added up with linear terms over the parameters and compared with "
        "them. Who these processes are can't be asked, but for one with a name, such as `sender`.",
    ),
    "T008": Entry(
        "a term that is not linear",
        "Thresholds are linear: sums and differences, products with a number, and `div` or `mod` "
        "by a number. Products of parameters or of counts are not.",
    ),
    "T009": Entry(
        "a process that has no name",
        "All processes without a name are alike, so that it is enough to count them. Which of "
        "them one is can't be stored, sent, indicated or compared. Those that a check names, by a "
        "parameter of type `Proc` or by its clients, have a name.",
    ),
    "T010": Entry(
        "a message that is not for all",
        "Messages are sent to all, or to all but the process itself. Then it is enough to count "
        "how many have sent them.",
    ),
    "T011": Entry(
        "a process that can come back to where it was",
        "Each process goes forward only: it can't come back to a state in which it was before. "
        "Then every run ends, and it is known how often guards can turn true. A protocol in "
        "rounds is looked at round by round.",
    ),
    "T012": Entry(
        "too many places for a process",
        "The places in which a process can be are its state and what it remembers of the guards "
        "that it has passed. There are more of them than can be asked about.",
    ),
    "T013": Entry(
        "a property that can't be counted",
        "A proof for every n asks `always F`, `eventually F` and `F ~> G`, under `forall` where "
        "there is any, where F and G speak of state variables, histories, payloads and "
        "`correct(p)`. Formulas with other temporal operators inside, or about what "
        "was received or performed, can't be asked.",
    ),
    "T014": Entry(
        "`~>` over what may become false again",
        "`F ~> G` is decided on what is so in the end. That is right where F and G, once they are "
        "true of some processes, stay true: of variables that are set and never reset, and of "
        "histories, which grow.",
    ),
    "T015": Entry(
        "a size that is not known",
        "Parameters without a value are those that `for all` names. Every other one has a default "
        "or is set, to a linear term over them.",
    ),
    "T016": Entry(
        "a variable that may leave its range",
        "The handler can assign a value that is outside of the declared range, or take something "
        "that is not there. In a run that would be an error.",
    ),
}
