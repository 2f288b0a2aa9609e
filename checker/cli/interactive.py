"""The commands of interactive stepping."""

from __future__ import annotations

import random
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from checker.cli import console
from checker.cli.console import print_view
from checker.diagnostics.english import count
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.results.alternatives import Alternatives
from checker.results.values_when_down import values_when_down
from checker.simulate.alternatives import alternatives_of, other_choices
from checker.simulate.choices import Choice
from checker.simulate.inspect import variables
from checker.simulate.phrase_matching import Unclear, match_choice
from checker.simulate.session import NotPossible, SteppingSession
from checker.simulate.why_not import why_not
from checker.words.steps import outcome_texts

if TYPE_CHECKING:
    from checker.results.trace import Trace

HELP = """\
NUMBER or its words   take that step
u, undo / r, redo     undo or redo one step, or more: `undo 3`
jump N                go to step N of the run; 0 is the start
crash P               crash P
drop N                lose the message of step N in the list (on lossy links)
random, random K      take 1 or K random steps
show                  show the run, and the possible steps
state, state P        the variables of all processes, or of P
deliveries            the indications of each process
messages              the messages in flight
why not WORDS         why that step is impossible now
alternatives          the number of other possible steps, at each step of the run
alternatives N        the other possible steps at step N
instead N K           undo to before step N, then take alternative K (or its words)
save NAME             save the run as a scenario, in NAME.scenario
?, help / q, quit     show this help / quit"""

RATE = 0.1
"""The probability of a fault in a random step in which one is enabled."""

SHORT = {
    "u": "undo",
    "r": "redo",
    "?": "help",
    "h": "help",
    "s": "show",
    "a": "alternatives",
}
"""Abbreviations of commands."""

LISTED = 100
"""The largest number of alternatives to a step that are listed."""

FOUND = 20
"""The largest number of random steps that are printed one by one."""


class Exploring:
    """An interactive session."""

    def __init__(
        self,
        session: SteppingSession,
        *,
        diagrams: bool = True,
        still_open: Callable[[State], str] | None = None,
    ) -> None:
        """Starts with ``session``; ``diagrams``: the execution is drawn after each step;
        ``still_open``: says what can still be decided in a state, where that is wanted."""
        self._session, self._still_open = session, still_open
        self._diagrams = diagrams
        self._chance: random.Random | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "jump": self._jump,
            "crash": self._crash,
            "drop": self._drop,
            "random": self._random,
            "show": self._show,
            "state": self._state,
            "deliveries": self._deliveries,
            "messages": self._messages,
            "why": self._why,
            "alternatives": self._alternatives,
            "instead": self._instead,
            "save": self._save,
            "help": self._help,
        }

    def do(self, line: str) -> bool:
        """Executes the command ``line``; returns False where it ends the session."""
        words = line.strip()
        first, _, rest = words.partition(" ")
        verb = SHORT.get(first, first)
        if not words:
            return True
        if verb in ("q", "quit", "exit"):
            return False
        try:
            if first.isdigit() and not rest:
                self._take(self._choice_of_number(first))
            elif verb in self._commands:
                self._commands[verb](rest.strip())
            else:
                self._words(words)
        except NotPossible as why:
            console.print_line(str(why))
        except RunFault as fault:
            console.print_line(f"the run meets an error: {fault.message} ({fault.code})")
        return True

    # ---- steps ------------------------------------------------------------------------------

    @property
    def _ways(self) -> list[Choice]:
        """Returns the choices in the order of their numbers."""
        return [way for own in self._session.choices.by_process().values() for way in own]

    def _choice_of_number(self, number: str) -> Choice:
        ways = self._ways
        if not number.isdigit() or not 1 <= int(number) <= len(ways):
            if not ways:
                raise NotPossible("no step is possible; `u` undoes one")
            raise NotPossible(f"choose a step from 1 to {len(ways)}; `show` lists them")
        return ways[int(number) - 1]

    def _take(self, choice: Choice) -> None:
        self._session.pick(choice)
        self._tell(choice)
        self.show()

    def _tell(self, choice: Choice) -> None:
        console.print_line(f"step {len(self._session.steps_taken) - 1}: {choice.text}")

    def _words(self, words: str) -> None:
        found = match_choice(words, self._ways)
        if isinstance(found, Choice):
            self._take(found)
            return
        near = get_close_matches(words.split()[0], [*self._commands, "quit"], 1, 0.7)
        if near and " " not in words:
            raise NotPossible(f"did you mean `{near[0]}`? `?` lists the commands")
        self._unclear(found)

    def _unclear(self, unclear: Unclear) -> None:
        if not unclear.choices:
            raise NotPossible(f"{unclear.message}; `show` lists possible steps, `?` the commands")
        numbers = {way.text: number for number, way in enumerate(self._ways, start=1)}
        lines = [f"  {numbers.get(text, 0):>3}  {text}" for text in unclear.choices]
        raise NotPossible("\n".join([f"{unclear.message}; there is", *lines]))

    def _undo(self, rest: str) -> None:
        for _ in range(_count(rest)):
            console.print_line(f"undone: {self._session.undo().text}")
        self.show()

    def _redo(self, rest: str) -> None:
        for _ in range(_count(rest)):
            self._tell(self._session.redo())
        self.show()

    def _jump(self, rest: str) -> None:
        if not rest.isdigit():
            raise NotPossible("`jump` needs the number of a step, such as `jump 2`")
        self._session.jump(int(rest))
        self.show()

    def _crash(self, rest: str) -> None:
        crashes = [way for way in self._ways if way.kind == "crash"]
        for way in crashes:
            if way.process == rest:
                self._take(way)
                return
        if not crashes:
            raise NotPossible("no process can crash here: the check allows no (more) crashes")
        can = ", ".join(way.process for way in crashes)
        raise NotPossible(f"`crash` needs a process that can crash: {can}")

    def _drop(self, rest: str) -> None:
        losses = [way for way in self._ways if way.kind == "lose"]
        if not losses:
            raise NotPossible("no message can be lost here: the links lose none, or are empty")
        if not rest.isdigit():
            numbers = ", ".join(str(self._ways.index(way) + 1) for way in losses)
            raise NotPossible(f"`drop` needs the number of a step with a message: {numbers}")
        chosen = self._choice_of_number(rest)
        self._take(chosen if chosen.kind == "lose" else _loss_of(chosen, losses))

    def _random(self, rest: str) -> None:
        if self._chance is None:
            seed = random.SystemRandom().randrange(1_000_000)
            self._chance = random.Random(seed)
            console.print_line(f"seed {seed}")
        if not self._session.steps_taken:
            self._session.pick(self._chance.choice(self._ways))
            self._tell(self._session.steps_taken[0])
        for number in range(_count(rest)):
            transitions = {id(way.transition): way for way in self._session.moving()}
            ways = [w.transition for w in transitions.values() if w.transition is not None]
            chosen = self._session.draw(ways, self._chance, RATE)
            if chosen is None:
                console.print_line(
                    "the system is quiescent: no fairness assumption requires another step"
                )
                break
            way = transitions[id(chosen)]
            self._session.pick(way)
            if number < FOUND:
                self._tell(way)
        self.show()

    # ---- output -----------------------------------------------------------------------------

    def show(self) -> None:
        """Prints the execution so far, and the choices."""
        if self._session.steps_taken:
            if self._diagrams and len(self._session.steps_taken) > 1:
                from checker.render.terminal.spacetime import spacetime

                console.print_line()
                print_view(spacetime(self._session.trace()))
            self._standing()
        console.print_line()
        self._menu()

    def _show(self, rest: str) -> None:
        self.show()

    def _standing(self) -> None:
        """Prints which properties are violated, and whether the execution could stay here."""
        if self._still_open is not None and self._session.state is not None:
            console.print_line(f"still open: {self._still_open(self._session.state)}")
        for prop in self._session.violated_invariants():
            console.print_line(f"VIOLATED: {prop.asked}")
        if self._session.ends():
            console.print_line(
                "The run could end here: no fairness assumption requires another step."
            )
        elif self._session.stays():
            console.print_line("The run could stay here forever, by steps that change nothing.")
        else:
            return
        how = "ends" if self._session.ends() else "stays"
        for broken in self._session.open():
            console.print_line(f"VIOLATED if it {how} here: {broken.text}")

    def _menu(self) -> None:
        groups = self._session.choices.by_process()
        if not groups:
            beyond = self._session.beyond()
            said = f"{beyond[0].upper()}{beyond[1:]}." if beyond else "No step is possible."
            console.print_line(f"{said} `u` undoes a step, `q` quits.")
        number, likely = 0, self._session.odds()
        for process, ways in groups.items():
            console.print_line(
                process or ("the start" if not self._session.steps_taken else "the world")
            )
            for way in ways:
                number += 1
                idle = "  (changes nothing)" if way.idle else ""
                odds = f"  (probability {likely[way.text]})" if way.text in likely else ""
                said = f"{way.text}{idle}{odds}{self._open(way.successor)}"
                console.print_line(f"  {number:>3}  {said}")
        for failing in self._session.faults():
            assert failing.fault is not None
            during = failing.action.name
            console.print_line(f"error in {during}: {failing.fault.message} ({failing.fault.code})")

    def _open(self, state: State) -> str:
        """Returns what can still be decided in a state, where that is known."""
        return "" if self._still_open is None else f"   {self._still_open(state)}"

    def _trace(self) -> Trace:
        if not self._session.steps_taken:
            raise NotPossible("choose an initial state first")
        return self._session.trace()

    def _state(self, rest: str) -> None:
        state = self._session.state
        if state is None:
            raise NotPossible("choose an initial state first")
        system = self._session.system
        if rest and rest not in system.processes:
            raise NotPossible(f"there is no process {rest}: {', '.join(system.processes)}")
        down = values_when_down(self._session.trace())
        for process, title, text in sorted(variables(system, state), key=lambda row: row[0]):
            if not rest or process == rest:
                shown = down.get((process, title), text)
                console.print_line(f"  {process or 'shared':<6} {title} = {shown}")

    def _deliveries(self, rest: str) -> None:
        for fate in self._trace().fates:
            down = " (down)" if fate.crashed else ""
            console.print_line(f"  {fate.process}{down}: {', '.join(fate.deliveries) or 'nothing'}")

    def _waiting(self) -> list[str]:
        return [message.text for message in self._trace().in_flight]

    def _messages(self, rest: str) -> None:
        waiting = self._waiting()
        console.print_line("\n".join(f"  {text}" for text in waiting) or "  no messages in flight")

    def _why(self, rest: str) -> None:
        words = rest.removeprefix("not").strip()
        if not words:
            raise NotPossible("`why not` needs a step, such as `why not p1 crashes`")
        found = match_choice(words, self._ways)
        if isinstance(found, Choice):
            console.print_line(f"it can: {self._ways.index(found) + 1}  {found.text}")
            return
        told = {way.text: number for number, way in enumerate(self._session.steps_taken)}
        if words in told:
            console.print_line(f"it has already happened, in step {told[words]}")
        trace = self._trace()
        assert self._session.state is not None
        for reason in why_not(words, self._session.system, self._session.state, trace):
            console.print_line(reason.text)

    def _alternatives(self, rest: str) -> None:
        steps = self._session.steps_taken
        if rest:
            number = self._step_number(rest)
            self._describe(number, alternatives_of(self._session.system, steps, LISTED, number))
            return
        for number, step in enumerate(steps):
            others = len(other_choices(self._session.system, steps, number))
            console.print_line(f"  {number:>3}  {step.text}  ({count(others, 'alternative')})")

    def _describe(self, number: int, found: Alternatives) -> None:
        """Prints the alternatives to step ``number``, with what each brings about."""
        taken = self._session.steps_taken[number].text
        console.print_line(f"instead of step {number}, {taken}:")
        for place, way in enumerate(found.ways, start=1):
            console.print_line(f"  {place:>3}  {way.text}")
            same = ["leads to the same state"] if way.same else []
            for text in same or outcome_texts(way.step):
                console.print_line(f"         {text}")
        if found.more:
            console.print_line(f"       and {found.more} more")
        if not found.ways:
            console.print_line("  no other step was possible")

    def _instead(self, rest: str) -> None:
        first, _, words = rest.partition(" ")
        if not words:
            raise NotPossible("`instead` needs a step and an alternative, such as `instead 2 1`")
        number = self._step_number(first)
        session = self._session
        ways = other_choices(session.system, session.steps_taken, number)
        found = match_choice(words, ways)
        if words.isdigit():
            if not 1 <= int(words) <= len(ways):
                raise NotPossible(f"there are {count(len(ways), 'alternative')} to step {number}")
            found = ways[int(words) - 1]
        if isinstance(found, Unclear):
            lines = [f"{found.message}; there is", *(f"       {text}" for text in found.choices)]
            raise NotPossible("\n".join(lines))
        session.instead(number, found)
        self._tell(found)
        self.show()

    def _step_number(self, number: str) -> int:
        last = len(self._session.steps_taken) - 1
        if not number.isdigit() or int(number) > last:
            raise NotPossible(f"the run has no step {number}: it has steps 0 to {last}")
        return int(number)

    def _help(self, rest: str) -> None:
        console.print_line(HELP)

    def _save(self, rest: str) -> None:
        from checker.simulate.scenario_files import SUFFIX

        if not rest:
            raise NotPossible("`save` needs a name, such as `save the_sender_dies`")
        self.save(rest if rest.endswith(SUFFIX) else f"{rest}{SUFFIX}")

    def save(self, file: str) -> None:
        """Saves the execution as a scenario, and prints its file."""
        from checker.cli.named_scenarios import save

        try:
            save(self._session.prepared, self._session.steps_taken, self._trace(), file)
        except (OSError, click.ClickException) as problem:
            raise NotPossible(f"{file}: {problem}") from problem
        console.print_line(f"saved in {file}")


def _loss_of(chosen: Choice, losses: list[Choice]) -> Choice:
    """Returns the loss of the message that ``chosen`` receives."""
    message = chosen.text.partition(" receives ")[2].partition(" from ")[0]
    for way in losses:
        if message and f" {message} " in way.text and way.text.endswith(f" to {chosen.process}"):
            return way
    raise NotPossible("that step has no message that can be lost")


def _count(rest: str) -> int:
    if rest and not rest.isdigit():
        raise NotPossible(f"expected a number, not `{rest}`")
    return int(rest) if rest else 1
