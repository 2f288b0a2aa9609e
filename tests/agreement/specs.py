"""Random small specs: a broadcast protocol made of handlers that run once or now and then, in a
world with all kinds of links and faults."""

from __future__ import annotations

import random

from checker.resources import specs

LINKS = (
    "perfect", "perfect", "perfect", "fifo", "lossy", "fair_loss", "duplicating", "stubborn",
    "persistent", "fifo, lossy", "lossy, bounded 1", "fair_loss, bounded 1", "authenticated",
    "authenticated, stubborn", "connected",
)  # fmt: skip
FAULTS = (
    "", "", "crash <= 1", "crash <= 1", "crash <= 2", "crash <= 1, recover", "omission <= 1",
    "byzantine <= 1", "byzantine <= 1", "partition <= 1",
)  # fmt: skip
PROPERTIES = ("validity", "no_duplication", "no_creation", "agreement", "uniform_agreement")


class Spec:
    """Draws the text of a spec from ``draw``."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.stable = False
        self.layered = self.chance(20)
        self.suspects = self.chance(12)

    def chance(self, percent: int) -> bool:
        return self.draw.randrange(100) < percent

    def text(self) -> str:
        """A protocol and a check of it."""
        draw, faults = self.draw, self.draw.choice(FAULTS)
        self.stable = "recover" in faults
        kept = "stable " if self.stable and self.chance(60) else ""
        n = draw.choice((2, 2, 3))
        imports = [f'import "{specs() / "detectors" / "trivial.bcast"}"'] if self.suspects else []
        uses = ["  uses beb : BestEffortBroadcast"] if self.layered else []
        uses += ["  uses fd : FailureDetector"] if self.suspects else []
        lines = [
            *imports,
            "protocol Random implements ReliableBroadcast {",
            *uses,
            "  message ONE(m: Msg)",
            "  message TWO(origin: Proc, m: Msg)",
            "  state flag = false",
            "  state late = false",
            "  state last : option<Msg> = none",
            f"  {kept}state seen : set<(Proc, Msg)> = {{}}",
            "  state done : set<Msg> = {}",
            f"  {'shared ' if self.chance(12) else ''}state common : set<Msg> = {{}}",
            "  state heard : set<Proc> = {}",
            "  state votes : map<Msg, set<Proc>> = {}",
            f"  upon request broadcast(m) {{ {self.body('self', 'm', request=True)} }}",
            *self.handlers(),
            "}",
            "check c of Random {",
            f"  n = {n}",
        ]
        if faults:
            lines.append(f"  faults {faults}")
        if self.layered and self.chance(40):
            lines.append("  given beb as oracle")
        else:
            lines.append(f"  links {self.links(faults)}")
        if self.suspects:
            lines.append(f"  detector {draw.choice(('P', 'eventually P noise 1'))}")
        if self.chance(70):
            lines.append("  allow unused")
        if any("timeout" in line for line in lines):
            timings = ("asynchronous", "synchronous")
            connected = "  links connected" in lines
            lines.append(f"  timing {draw.choice(timings[: 1 if connected else 2])}")
        clients = ["p1 broadcasts a"]
        if self.chance(35):
            clients.append(draw.choice(("p2 broadcasts b", "p2 broadcasts a", "p1 broadcasts b")))
        lines.append(f"  clients {{ {'  '.join(clients)} }}")
        asked = draw.sample(PROPERTIES, 1 + draw.randrange(len(PROPERTIES)))
        lines += [f"  prove {', '.join(asked)}", "}"]
        return "\n".join(lines) + "\n"

    def links(self, faults: str) -> str:
        """The kinds of links; with connections there are no faults of messages."""
        found = self.draw.choice(LINKS)
        apart = "omission" in faults or "byzantine" in faults
        return "fifo" if found == "connected" and apart else found

    def handlers(self) -> list[str]:
        draw, found = self.draw, list[str]()
        found.append(self.handler("ONE(m)", "p", "p"))
        if self.chance(70):
            found.append(self.handler("TWO(s, m)", "p", "s"))
        if self.chance(30):
            guard = draw.choice(("flag", "#heard >= 2", "#seen >= 1", "self in heard"))
            what = draw.choice(("deliver(self, m)", self.say("ONE(m)"), "heard += self"))
            inner = f"for m in done {{ {what} }}" if what != "heard += self" else what
            found.append(f"  upon condition {guard} and not late {{ late := true {inner} }}")
        if self.suspects:
            what = draw.choice(("heard += q", "late := true", "for m in done { deliver(q, m) }"))
            found.append(f"  upon fd.suspect(q) when q not in heard {{ heard += q {what} }}")
        if self.chance(12):
            guard = draw.choice(("", " when flag", " when not late"))
            what = draw.choice(("heard += self", f"for m in done {{ {self.say('ONE(m)')} }}"))
            found.append(f"  upon timeout{guard} {{ {what} }}")
        return found

    def say(self, what: str) -> str:
        return f"beb.broadcast({what})" if self.layered else f"send {what} to Proc"

    def handler(self, pattern: str, sender: str, origin: str) -> str:
        guards = ("not flag", "not late", f"({origin}, m) not in seen", "m not in done",
                  "m not in common", f"{sender} not in heard", f"{sender} != self")  # fmt: skip
        weights = (4, 2, 6, 4, 1, 2, 1)
        chosen = self.draw.choices(guards, weights, k=self.draw.choice((0, 1, 1, 2)))
        when = f" when {' and '.join(dict.fromkeys(chosen))}" if chosen else ""
        what = f"receive {pattern} from {sender}"
        if self.layered:
            what = f"beb.deliver({sender}, {pattern})"
        return f"  upon {what}{when} {{ {self.body(origin, 'm', sender)} }}"

    def body(self, origin: str, m: str, sender: str = "self", request: bool = False) -> str:
        """Statements; what is sent is sent once."""
        draw = self.draw
        plain = [
            "flag := true", "late := true", f"seen += ({origin}, {m})", f"done += {m}",
            f"heard += {sender}", f"votes[{m}] += {sender}", f"common += {m}", f"last := some({m})",
            f"if last == some({m}) {{ late := true }}", "heard := {}", "flag := false",
        ]  # fmt: skip
        said = draw.choice((f"ONE({m})", f"TWO({origin}, {m})"))
        to = draw.choice(("Proc", "Proc", "Proc minus {self}", sender))
        send, deliver = f"send {said} to {to}", f"deliver({origin}, {m})"
        if self.layered:
            send = f"beb.broadcast({said})"
        once = (
            f"if {m} not in done {{ done += {m} {send} }}",
            f"if not flag {{ flag := true {send} {deliver} }}",
            f"if ({origin}, {m}) not in seen {{ seen += ({origin}, {m}) {deliver} {send} }}",
            f"votes[{m}] += {sender} if #votes[{m}] >= 2 and not late {{ late := true {deliver} }}",
            f"if {m} not in done {{ done += {m} {deliver} }}",
            deliver,
        )
        weights = [8] * 9 + [2, 2]
        parts = draw.choices(plain, weights, k=draw.randrange(3))
        parts += draw.sample(once, 1 + draw.randrange(2))
        draw.shuffle(parts)
        if request:
            parts.append(send)
        return "  ".join(parts)


def random_spec(seed: int) -> str:
    """A spec with one check, ``c``; it need not be one that the language takes."""
    return Spec(random.Random(seed)).text()
