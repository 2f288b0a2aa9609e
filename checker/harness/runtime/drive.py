"""One try: the nodes are started behind proxies, and driven through the steps of the trace."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from .acts import (
    Act,
    Break,
    Crash,
    Cut,
    Fire,
    Forge,
    Line,
    Lose,
    Mend,
    Message,
    Pause,
    Receive,
    Recover,
    Request,
    Resume,
    Sends,
    Stay,
)
from .failures import AnotherWay, CannotRun
from .hook_process import Hooks
from .links import Frame, Links
from .node_logs import NodeLog
from .plan import in_words
from .processes import Program, free_ports, is_running, listening

T = TypeVar("T")
TICK = 0.003
"""Seconds between two looks at what has happened."""
LOOK = 0.02
"""The same while a node starts."""
ASKED = 20.0
"""Seconds that a command has to get an answer from a node."""
SETTLED = 0.05
"""Seconds without anything new, after which a released message counts as handled."""
RESTED = 0.3
"""Seconds without anything new, after which messages that are not held have arrived."""
QUIET, MOST = 0.5, 20.0
"""Seconds without anything new after which a run is over, and seconds at most."""


@dataclass
class Outcome:
    """How far a try came.

    ``steps``: that were taken, of ``of``; ``another_way``: what was missing for the next one;
    ``others``: lines and messages until then that the trace does not have; ``logs``: of the nodes.
    """

    steps: int = 0
    of: int = 0
    another_way: str = ""
    others: list[str] = field(default_factory=list)
    logs: list[Path] = field(default_factory=list)


class Try:
    """One try, in ``folder``.

    ``patience``: seconds without anything new, after which a step is given up; ``fair``: whether
    all that is still held is released after the last step, as the trace is a whole
    run.
    """

    def __init__(
        self,
        acts: Sequence[Act],
        processes: Sequence[str],
        puppets: Sequence[str],
        hooks: Hooks,
        folder: Path,
        patience: float,
        fair: bool,
    ) -> None:
        self.acts, self.hooks, self.folder = acts, hooks, folder
        self.patience, self.fair = patience, fair
        names = hooks.nodes()
        if len(names) != len(processes):
            have = f"{len(processes)} processes in the trace, {len(names)} nodes"
            raise CannotRun("E135", f"{hooks.file.name}: nodes(): {have}")
        self.names = dict(zip(processes, names, strict=True))
        self.live = [process for process in processes if process not in puppets]
        found = free_ports((1 + ("dialer" in hooks.has)) * len(processes), hooks.ports)
        self.listening = dict(zip(processes, found, strict=False))
        known_at = dict(zip(processes, found[len(processes) :], strict=False))
        self.links = Links(hooks, self.names, self.listening, known_at)
        self.logs = {each: NodeLog(folder / hooks.log(self.names[each])) for each in self.live}
        self.programs: dict[str, Program] = {}
        self.asked: list[Program] = []
        self.down: set[str] = set()
        self.waiting: list[tuple[Receive, Frame | None]] = []
        self.outcome = Outcome(of=acts[-1].number if acts else 0)

    async def play(self) -> Outcome:
        """Starts the nodes, takes the steps, ends the nodes, and says what happened.

        Raises :class:`CannotRun` where a hook, a port or a node does not do for a start.
        """
        await self.links.start()
        try:
            await asyncio.gather(*map(self.begin, self.live))
            await self.steps()
            await self.quiet(SETTLED)
            self.outcome.others = [*self.other_lines(), *self.other_messages()]
            await self.finish()
        finally:
            for program in (*self.programs.values(), *self.asked):
                program.kill()
            self.links.stop()
        if isinstance(self.links.problem, CannotRun):
            raise self.links.problem
        self.outcome.logs = [log.path for log in self.logs.values() if log.path.exists()]
        return self.outcome

    def other_lines(self) -> Iterator[str]:
        """Yields the lines of logs that no step has waited for."""
        kinds = self.hooks.settings["LOGGED"]
        for process, log in self.logs.items():
            yield from (f"{process}, {line}" for line in log.others(kinds))

    def other_messages(self) -> Iterator[str]:
        """Yields the messages that came more often than the steps taken have sent them."""
        came = Counter(
            (stream.sender, stream.receiver, frame.text)
            for stream in self.links.streams()
            for frame in stream.frames
            if frame.name
        )
        for act in self.acts:
            if act.number <= self.outcome.steps:
                for sends in act.sends:
                    came.subtract((act.process, to, str(sends.message)) for to in sends.to)
        for (sender, receiver, text), count in sorted(came.items()):
            if count > 0:
                yield f"{sender} has sent {text} to {receiver}"

    async def steps(self) -> None:
        """Takes the steps, until one is another way."""
        for act in self.acts:
            try:
                await self.take(act)
            except AnotherWay as problem:
                missing = f"{problem}{self.of_its_request(act)}"
                self.outcome.another_way = f"step {act.number} ({in_words(act)}): {missing}"
                return
            self.outcome.steps = act.number

    # ---- nodes ----------------------------------------------------------------------------

    async def begin(self, process: str) -> None:
        """Starts a node, and waits until it is ready.  Raises :class:`CannotRun`: E137 where it
        ends or does not become ready, E138 where it listens elsewhere or its port is taken."""
        node, port = self.names[process], self.listening[process]
        ports = {self.names[other]: at for other, at in self.links.ports[process].items()}
        command = self.hooks.command("command", node, port, ports)
        program = Program(node, command, self.folder, self.folder / f"{node}.out")
        self.programs[process] = program
        self.down.discard(process)
        asks = self.hooks.words("ready", node, port)
        patience = float(self.hooks.settings["START"])
        until = time.monotonic() + patience
        while not await self.is_ready(program, port, asks):
            await asyncio.sleep(LOOK)
            await self.links.pass_on()
            if said := program.ended():
                raise CannotRun("E137", f"{node} ended at its start: {said}")
            if time.monotonic() > until:
                raise CannotRun("E137", f"{node} is not ready after {patience:.0f} s")
        await self.links.pass_on()

    async def is_ready(self, program: Program, port: int, asks: list[str] | None) -> bool:
        """Whether a node listens on its port only, and the command ``asks`` exits with 0."""
        found = listening(program.pid)
        own = range(port, port + self.hooks.ports)
        for address, number in found:
            if number not in own or not address.startswith(("127.", "::ffff:127.")):
                here = f"and not on 127.0.0.1:{port}"
                raise CannotRun("E138", f"{program.name} listens on {address}:{number}, {here}")
        if asks is None:
            return any(number == port for _, number in found)
        return await self.run(program.name, asks) == ""

    async def run(self, name: str, command: Sequence[str]) -> str:
        """Runs a short command; returns how it failed, or nothing."""
        asked = Program(name, command, self.folder, self.folder / "requests.out")
        self.asked.append(asked)
        until = time.monotonic() + ASKED
        while not asked.ended():
            if time.monotonic() > until:
                asked.kill()
                return f"takes longer than {ASKED:.0f} s"
            await asyncio.sleep(TICK)
        return asked.failed()

    def of_its_request(self, act: Act) -> str:
        """How the request failed that ``act`` has made; empty where it did not."""
        if not isinstance(act, Request) or not self.asked:
            return ""
        said = self.asked[-1].failed()
        return f"; the request ended with {said}" if said else ""

    def up(self, process: str) -> Program:
        """Returns the program of a process that is up; raises :class:`AnotherWay` if it is not."""
        program = self.programs.get(process)
        if program is None or process in self.down:
            raise AnotherWay(f"{process} is down")
        return program

    # ---- steps ----------------------------------------------------------------------------

    async def take(self, act: Act) -> None:
        """Takes one step.  Raises :class:`AnotherWay` where the system does not."""
        if isinstance(act, Receive) and act.with_step and self.hooks.held:
            self.waiting.append((act, await self.frame_of(act)))
            return
        await self.bring_about(act)
        for each in (*(first for first, _ in self.waiting), act):
            await self.await_lines(each)
        self.waiting.clear()
        if isinstance(act, Crash):
            await self.kill(act.process)

    async def bring_about(self, act: Act) -> None:
        """Does what makes the step happen; the others are waited for."""
        match act:
            case Request():
                self.up(act.process)
                node, port = self.names[act.process], self.listening[act.process]
                command = self.hooks.command("request", node, port, act.name, list(act.values))
                said = self.folder / "requests.out"
                self.asked.append(Program(f"request {act.name}", command, self.folder, said))
            case Receive() if self.hooks.held:
                last = await self.frame_of(act)
                for frame in (*(first for _, first in self.waiting), last):
                    if frame is not None:
                        await self.links.release(frame)
            case Forge() if self.hooks.level == 2:
                fields = dict(act.message.fields)
                claimed = self.names[act.claimed or act.sender]
                data = self.hooks.encode(claimed, act.message.name, fields)
                await self.links.forge(act.sender, act.process, data)
            case Lose() if self.hooks.held and (self.hooks.level == 2 or isinstance(act, Stay)):
                lost = Receive(act.number, act.receiver, message=act.message, sender=act.sender)
                if (frame := await self.frame_of(lost)) is not None:
                    frame.lost = True
            case Recover():
                await self.begin(act.process)
            case Pause():
                self.up(act.process).signal(signal.SIGSTOP)
            case Resume():
                self.up(act.process).signal(signal.SIGCONT)
            case Fire() if "fire" in self.hooks.has:
                node = self.names[act.process]
                if failed := await self.run(node, self.hooks.command("fire", node, act.timer)):
                    raise AnotherWay(f"the hook `fire`: {failed}")
            case Cut():
                pairs = {(a, b) for a in act.apart for b in act.others}
                both = pairs if act.one_way else pairs | {(b, a) for a, b in pairs}
                if isinstance(act, Mend):
                    self.links.cut -= both
                    await self.links.pass_on()
                else:
                    self.links.cut |= both
            case Break():
                await self.rest()
                self.links.break_between(act.first, act.second)

    async def kill(self, process: str) -> None:
        """Kills a process; its log gets the line ``crash``."""
        await self.rest()
        self.up(process).kill()
        self.down.add(process)
        await asyncio.sleep(SETTLED)  # what it had sent arrives
        self.links.crashes[process] = self.links.crashes.get(process, 0) + 1
        self.logs[process].write_crash(self.names[process])

    async def frame_of(self, act: Receive) -> Frame | None:
        """Waits for the frame that ``act`` receives; ``None`` where it is not on the wire."""
        if act.sender == act.process and not self.hooks.settings["OWN_COPIES"]:
            return None

        def found() -> Frame | None:
            frames = self.links.frames(act.sender, act.process, act.message)
            if act.again and self.hooks.level == 2:
                return next((frame for frame in frames if frame.released), None)
            taken = [frame for _, frame in self.waiting]
            held = (f for f in frames if not f.released and not f.lost and f not in taken)
            return next(held, None)

        return await self.until(found, f"{act.sender} has not sent {act.message} to {act.process}")

    async def await_lines(self, act: Act) -> None:
        """Waits for the lines of a step, and until all is held that it sends."""
        logged = self.hooks.settings["LOGGED"]
        log = self.logs.get(act.process)
        lines = list(act.lines)
        if isinstance(act, Receive) and not act.taken:
            await self.quiet(SETTLED)
        elif isinstance(act, Receive | Forge):
            sender = act.claimed or act.sender if isinstance(act, Forge) else act.sender
            lines.insert(0, Line("receive", act.message.name, act.message.fields, sender))
        for line in lines:
            if log is not None and line.kind in logged:
                what = f"the log of {act.process} has no line `{line}`"
                await self.until(partial(log.find, line), what, act.process)
        for sends in act.sends if self.hooks.held else ():
            await self.await_sent(act, sends)

    async def await_sent(self, act: Act, sends: Sends) -> None:
        """Waits until the copies of a message are held."""
        for receiver in sends.to:
            if receiver == act.process and not self.hooks.settings["OWN_COPIES"]:
                continue
            count = self._sent(act, sends.message, receiver)

            def arrived(receiver: str = receiver, count: int = count) -> bool:
                frames = self.links.frames(act.process, receiver, sends.message)
                return len(frames) >= count

            what = f"{act.process} has not sent {sends.message} to {receiver}"
            await self.until(arrived, what, act.process)

    def _sent(self, act: Act, message: Message, receiver: str) -> int:
        """How often the trace has sent a message on a link, up to and with ``act``; 1 where bytes
        are not told apart."""
        if not self.hooks.level:
            return 1
        return sum(
            sends.message == message and receiver in sends.to
            for each in self.acts
            if each.process == act.process and each.number <= act.number
            for sends in each.sends
        )

    async def until(self, found: Callable[[], T | None], what: str, of: str = "") -> T:
        """Waits for what ``found`` finds, as long as something happens; raises
        :class:`AnotherWay` with ``what`` if nothing does, and where the process ``of`` ends."""
        seen, began = -1, time.monotonic()
        since = began
        while not (result := found()):
            if isinstance(self.links.problem, CannotRun):
                raise self.links.problem
            if of and of not in self.down and of in self.programs:
                if said := self.programs[of].ended():
                    self.down.add(of)
                    raise AnotherWay(f"{of} has ended: {said}")
            now = time.monotonic()
            if (activity := self.activity()) != seen or self.is_busy():
                seen, since = activity, now
            elif now - since > self.patience or now - began > 4 * self.patience:
                raise AnotherWay(what)
            await asyncio.sleep(TICK)
        return result

    async def rest(self) -> None:
        """Where messages are not held, waits until what is under way has arrived: nothing is sent
        any more, and nobody who asks something runs."""
        seen, began = -1, time.monotonic()
        since = began
        while not self.hooks.held and (now := time.monotonic()) - since < RESTED:
            busy = any(is_running(program.pid) for program in self.asked)
            if busy or seen != (activity := self.links.activity + self.activity()):
                seen, since = (seen if busy else activity), now
            if now - began > self.patience:
                return
            await asyncio.sleep(TICK)

    def activity(self) -> int:
        """A counter of events; it also counts logged lines if messages are not held."""
        logged = sum(log.read() for log in self.logs.values())
        return logged + (self.links.activity if self.hooks.held else 0)

    def is_busy(self) -> bool:
        """Whether a node is running, or waits for a processor or a disk: something may come of it,
        however slow the machine is.  Nodes whose messages are not held never rest."""
        return self.hooks.held and any(
            is_running(program.pid)
            for process, program in self.programs.items()
            if process not in self.down
        )

    # ---- the end --------------------------------------------------------------------------

    async def finish(self) -> None:
        """Lets a run that is fair go on to its end, and ends the nodes in an orderly way."""
        began = time.monotonic()
        for process, program in self.programs.items():
            if process not in self.down:
                program.signal(signal.SIGCONT)
        while self.fair and time.monotonic() - began < MOST:
            rest = self.deliverable()
            for frame in rest[: 1 if self.hooks.level == 2 else None]:
                with contextlib.suppress(AnotherWay):
                    await self.links.release(frame)
                frame.released = True
            end = QUIET if self.hooks.held else self.patience  # nobody sees whether they rest
            await self.quiet(SETTLED if rest else end)
            if not rest and not self.deliverable():
                break
        else:
            await self.quiet(SETTLED)
        for process, program in self.programs.items():
            if process not in self.down:
                await asyncio.to_thread(program.stop)

    def deliverable(self) -> list[Frame]:
        """What a fair run still delivers: all that is held for processes that are up."""
        return [frame for frame in self.links.rest() if frame.stream.receiver in self.programs
                and frame.stream.receiver not in self.down]  # fmt: skip

    async def quiet(self, seconds: float) -> None:
        """Waits until nothing has happened and no node has run for that long."""
        began = since = time.monotonic()
        seen = -1
        while (now := time.monotonic()) - since < seconds and now - began < MOST:
            if (activity := self.activity()) != seen or self.is_busy():
                seen, since = activity, now
            await asyncio.sleep(TICK)
