"""What can be forced, what has to be awaited, and what is beyond reach: said before anything
starts."""

from __future__ import annotations

from collections.abc import Sequence

from .acts import (
    Act,
    Await,
    Break,
    Crash,
    Cut,
    Fire,
    Forge,
    Learn,
    Lose,
    Mend,
    Pause,
    Receive,
    Recover,
    Request,
    Resume,
    Stay,
)

FORCED, AWAITED, BEYOND = "forced", "awaited", "beyond reach"


def with_cuts(acts: Sequence[Act]) -> list[Act]:
    """Returns the acts for a system whose messages are not held: a link on which the run delivers
    nothing of what it sends is cut from the start, until the connection breaks or an end learns
    that it is gone."""
    arrive = {(act.sender, act.process) for act in acts if isinstance(act, Receive)}
    sent = {
        (act.process, to): None
        for act in acts for sends in act.sends for to in sends.to if to != act.process
    }  # fmt: skip
    cuts = list[Cut]()
    for sender, to in sent:
        if (sender, to) not in arrive and not any(to in cut.apart for cut in cuts
                                                  if sender in cut.others):  # fmt: skip
            one_way = (to, sender) in arrive
            cuts.append(Cut(acts[0].number, "", apart=(sender,), others=(to,), one_way=one_way))
    found: list[Act] = [*cuts]
    for act in acts:
        found.append(act)
        pair = {act.first, act.second} if isinstance(act, Break) else set[str]()
        if isinstance(act, Learn):
            pair = {act.process, act.peer}
        if pair:
            found += [
                Mend(act.number, "", apart=cut.apart, others=cut.others, one_way=cut.one_way)
                for cut in cuts
                if {*cut.apart, *cut.others} == pair
            ]
    return found


def plan(
    acts: Sequence[Act], level: int, own_copies: bool, fires: bool, held: bool = True
) -> list[str]:
    """Returns a line for each act.

    ``level``: of the hooks; ``own_copies``: whether a node's copies to itself are on the wire;
    ``fires``: whether there is a hook for timers; ``held``: whether messages are held.
    """
    width = len(str(max((act.number for act in acts), default=0)))
    lines = []
    for act in acts:
        how, why = _of(act, level, own_copies, fires, held)
        if act.beyond and how == FORCED:
            why = "; ".join(filter(None, [why, f"{BEYOND}: {act.beyond}"]))
        elif act.beyond:
            how, why = BEYOND, act.beyond
        remark = f" ({why})" if why else ""
        lines.append(f"{act.number:>{width}}  {how:<12}  {in_words(act)}{remark}")
    return lines


def in_words(act: Act) -> str:
    """Returns what happens in a step: ``p2 receives DATA(p1, a) from p1``."""
    match act:
        case Request():
            return f"{act.process} is asked: {act.name}({', '.join(act.values)})"
        case Receive():
            again = " again" if act.again else ""
            return f"{act.process} receives {act.message} from {act.sender}{again}"
        case Forge():
            claimed = f" in the name of {act.claimed}" if act.claimed else ""
            return f"{act.sender} makes {act.process} receive {act.message}{claimed}"
        case Lose():
            fate = "stays on its way" if isinstance(act, Stay) else "is lost"
            return f"{act.message} from {act.sender} to {act.receiver} {fate}"
        case Crash():
            return f"{act.process} crashes"
        case Recover():
            return f"{act.process} recovers"
        case Pause():
            return f"{act.process} pauses"
        case Resume():
            return f"{act.process} goes on"
        case Fire():
            return f"{act.timer or 'a timer'} of {act.process} expires"
        case Cut():
            to = "to" if act.one_way else "and"
            links = f"{', '.join(act.apart)} {to} {', '.join(act.others)}"
            return f"the links are {'whole again' if isinstance(act, Mend) else 'cut'}: {links}"
        case Break():
            return f"connections between {act.first} and {act.second} break"
        case Learn():
            return f"{act.process} learns that its connection to {act.peer} is gone"
    lines = ", ".join(map(str, act.lines))
    return f"{act.process or 'the network'} takes a step{f': {lines}' if lines else ''}"


def _of(act: Act, level: int, own_copies: bool, fires: bool, held: bool) -> tuple[str, str]:
    """Returns which of the three an act is, and a remark."""
    match act:
        case Receive() | Lose() if not held:
            return AWAITED, "messages are not held"
        case Receive(again=True) if level < 2:
            return BEYOND, "a message is repeated only where messages stand alone: hook `encode`"
        case Receive() if act.sender == act.process and not own_copies:
            return AWAITED, "a node keeps its own copy to itself"
        case Receive():
            together = f"together with step {act.with_step}" if act.with_step else ""
            along = (
                "with all that is on the link: hook `frames` tells messages apart",
                "what came before it on the connection goes first", "",
            )[level]  # fmt: skip
            return FORCED, ", ".join(filter(None, [together, along]))
        case Forge() if level < 2:
            return BEYOND, "nobody can write the message: hook `encode`"
        case Stay():
            return FORCED, "it is never released"
        case Lose() if level < 2:
            return BEYOND, "a message is left out only where messages stand alone: hook `encode`"
        case Fire() if not fires:
            return AWAITED, "hook `fire` would make it expire"
        case Crash():
            when = "all that it has sent is held" if held else "nothing is under way"
            before = f"; before that it may do: {act.cut}" if act.cut else ""
            return FORCED, f"SIGKILL, when {when}{before}"
        case Await():
            return AWAITED if act.lines or act.sends else BEYOND, ""
        case Learn():
            return AWAITED, ""
        case Pause():
            return FORCED, "SIGSTOP"
        case Resume():
            return FORCED, "SIGCONT"
    return FORCED, ""
