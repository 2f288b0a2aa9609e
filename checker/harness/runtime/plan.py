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
    """Returns the acts for a system whose messages are not held: a link is cut before the first
    message on it is sent, if the run delivers nothing that it sends there."""
    arrive = {(act.sender, act.process) for act in acts if isinstance(act, Receive)}
    done: set[tuple[str, str]] = set()
    found: list[Act] = []
    for act in acts:
        for sends in act.sends:
            for to in sends.to:
                link, back = (act.process, to), (to, act.process)
                if to != act.process and not {link, back} & done and link not in arrive:
                    done.add(link)
                    one_way = back in arrive
                    ends = (act.process,), (to,)
                    found.append(
                        Cut(act.number, "", apart=ends[0], others=ends[1], one_way=one_way)
                    )
        found.append(act)
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
        how, why = _of(act, level, own_copies, fires)
        if isinstance(act, Receive | Lose) and not held:
            how, why = AWAITED, "messages are not held"
        if act.beyond:
            how, why = (BEYOND, act.beyond) if how != FORCED else (how, f"{why}; {act.beyond}")
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
    lines = ", ".join(map(str, act.lines))
    return f"{act.process or 'the network'} takes a step{f': {lines}' if lines else ''}"


def _of(act: Act, level: int, own_copies: bool, fires: bool) -> tuple[str, str]:
    """Returns which of the three an act is, and a remark."""
    match act:
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
            held = "SIGKILL, when all that it has sent is held"
            return FORCED, f"{held}; before that it may do: {act.cut}" if act.cut else held
        case Await():
            return AWAITED if act.lines or act.sends else BEYOND, ""
        case Pause():
            return FORCED, "SIGSTOP"
        case Resume():
            return FORCED, "SIGCONT"
    return FORCED, ""
