"""Random protocols within the fragment, as text."""

from __future__ import annotations

from random import Random

STAGES = 3


def _count(random: Random) -> str:
    counted = random.choice(("#received(A)", "#received(B(1))", "#received(B(_))"))
    if counted.endswith("(_))") and random.random() < 0.5:
        counted = "#received(A) + #received(B(0))"
    operator = random.choice((">=", ">=", ">", "<", "=="))
    bound = random.choice(("1", "2", "n - f", "f + 1", "n div 2", "n"))
    return f"{counted} {operator} {bound}"


def _action(random: Random, stage: int, depth: int = 0) -> str:
    what = random.randrange(8 if depth < 2 else 4)
    later = random.randint(stage, STAGES)
    match what:
        case 0:
            return f"stage := {later}"
        case 1:
            return random.choice(("send A to all", "send A to Proc minus {self}"))
        case 2:
            return f"send B({stage % 2}) to all"
        case 3:
            return random.choice(("flag := true", f"decide({stage % 2})"))
        case 4:
            one, other = _action(random, stage, depth + 1), _action(random, stage, depth + 1)
            return f"either {{ {one} }} or {{ {other} }}"
        case 5:
            one, other = _action(random, stage, depth + 1), _action(random, stage, depth + 1)
            return f"if {_count(random)} {{ {one} }} else {{ {other} }}"
        case _:
            actions = [_action(random, stage, depth + 1) for _ in range(2)]
            return "  ".join(actions)


def _handler(random: Random) -> str:
    stage = random.randint(0, STAGES - 1)
    body = _action(random, stage)
    if random.random() < 0.7:
        body = f"stage := {stage + 1}  {body}".replace(f"stage := {stage}  ", "")
    when = random.choice((f"stage == {stage}", f"stage == {stage}", f"stage == {stage} and flag"))
    match random.randrange(5):
        case 0:
            return f"upon receive A from p when {when} {{ {body} }}"
        case 1:
            message = random.choice(("B(v)", "B(0)", "B(_)"))
            return f"upon receive {message} from p when {when} {{ {body} }}"
        case 2:
            return f"upon condition {when} {{ {body} }}"
        case _:
            return f"upon condition {_count(random)} when {when} {{ {body} }}"


def spec(seed: int) -> str:
    """A protocol with a check of every n and f, that asks for safety and liveness."""
    random = Random(seed)
    handlers = [_handler(random) for _ in range(random.randint(2, 4))]
    if random.random() < 0.5:
        handlers.append(f"upon request propose(v) {{ send {random.choice(('A', 'B(v)'))} to all }}")
    else:
        handlers.append("upon request propose(v) { flag := true }")
    if random.random() < 0.3:
        handlers.append(f"upon init {{ {random.choice(('send A to all', 'flag := true'))} }}")
    links = ["perfect", "perfect", "stubborn"]
    faults = random.choice(("crash", "crash", "byzantine"))
    kinds = f"authenticated, {random.choice(links)}" if faults == "byzantine" else links[seed % 3]
    client = random.choice(("p1 proposes 0", "all proposes 1", "p1 proposes 0  p2 proposes 1"))
    inputs = "init choose flag" if random.random() < 0.4 else ""
    body = "\n  ".join(handlers)
    return f"""protocol Random implements UniformConsensus {{
  message A
  message B(v: 0..1)
  state stage : 0..{STAGES} = 0
  state flag = false
  {inputs}
  {body}
  property one : always forall p in Proc: correct(p) => p.stage < {STAGES}
  property two : always forall p, q in Proc: p.stage == {STAGES} and q.stage == 1 => p.flag
  property three : forall p in Proc: correct(p) ~> p.stage >= 2
  property four : forall p, q in Proc: correct(p) and correct(q) and p.stage >= 1 ~> q.stage >= 1
  property five : forall p in Proc: correct(p) and (exists v in decided(p): true)
    ~> exists q in Proc: q.stage >= 2 and correct(q)
}}
check every of Random {{
  for all n, f
  faults {faults} <= f
  links {kinds.replace(", perfect", "")}
  clients {{ {client} }}
  allow unused
  prove one, two, three, four, five, uniform_consensus_agreement
}}
"""
