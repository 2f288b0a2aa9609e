"""``bivalence monitor``: follows the logs of a system while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from checker.cli import console, last_words
from checker.cli.mapping_option import MAPPING
from checker.cli.option_groups import Grouped, quiet_option
from checker.cli.settings import FINE_STEPS, LOG_ENGINE, MEMORY, SET, TIMEOUT

if TYPE_CHECKING:
    from checker.conform.following import Following
    from checker.results.monitoring import Noticed, Summary

SAVED = 1.0
"""How often the state is written, in seconds."""
PAUSE = 0.1
"""How often files are looked at, in seconds."""


@click.command(cls=Grouped)
@click.argument("name", metavar="FILE::CHECK")
@click.argument("logs", metavar="[LOG]…", nargs=-1)
@SET
@MAPPING
@FINE_STEPS
@LOG_ENGINE
@click.option(
    "--listen",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Accept connections on this port of 127.0.0.1 (0: a free one); each sends lines.",
)
@click.option("--once", is_flag=True, help="End at the end of the files; do not follow them.")
@click.option(
    "--lag",
    type=click.FloatRange(min=0.0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Report a message received that no line has sent SECONDS later.",
)
@click.option(
    "--state",
    metavar="FILE",
    help="Continue from FILE, and write to it what is known, every second and at the end.",
)
@TIMEOUT
@MEMORY
@click.option(
    "--json",
    "json_out",
    metavar="FILE",
    help="Append each finding to FILE, one JSON object per line; with -, stdout has nothing else.",
)
@quiet_option("Omit the list of followed logs.")
def monitor(name: str, logs: tuple[str, ...], quiet: bool, **given: Any) -> int:
    """Follow the logs of a running system, and report the first line that no run has.

    LOG is a file that grows, or - (standard input, the default). The mapping must list the kinds
    of events that are logged (`logged`). A line that no step of its process explains is reported
    at once; a message received that no line sends, after --lag seconds. Files are followed until
    a signal ends the command. Exit codes: 0 nothing was wrong, 1 a line is wrong or a message is
    overdue, 3 interrupted or track was lost, 4 no line records an event.
    """
    from checker.conform.following import Following
    from checker.engines import budgets
    from checker.results.answer import stop_reason

    asked = _asked(name, given)
    shown = _Shown(given["json_out"])
    stopped: str | None = None
    with budgets.within(given["timeout"], given["memory"]):
        try:
            with budgets.raising_when_exhausted():
                following = Following(asked, shown.show, given["lag"], given["state"])
        except KeyboardInterrupt as error:
            console.print_note(stop_reason(error))
            return 3
        _open(following, logs, given)
        if not quiet:
            console.print_note(f"{asked}: following {', '.join(following.names)}")
        last_words.leave(_last, given["json_out"])
        try:
            try:
                with budgets.raising_when_exhausted():
                    _follow(following)
            except KeyboardInterrupt as error:
                stopped = stop_reason(error)
            return _conclude(following, shown, stopped)
        finally:
            _save(following)
            following.close()


def _asked(name: str, given: dict[str, Any]) -> Any:
    from checker.cli.settings import one_target, settings_of
    from checker.conform.conform_log import Asked
    from checker.logs.read_mapping import read_mapping
    from checker.record.kinds import KINDS
    from checker.session.pipeline import Options

    spec, check = one_target(name)
    mapping = read_mapping(given["mapping"])
    mapping.require_known("kind", (*KINDS, *mapping.ignored), "a kind of line")
    settings = settings_of(given["settings"])
    options = Options(settings=settings, fine_steps=given["fine_steps"], engine=given["engine"])
    return Asked(spec, check, options, mapping)


def _open(following: Following, logs: tuple[str, ...], given: dict[str, Any]) -> None:
    """Opens the files and the port; without either, standard input."""
    for log in dict.fromkeys(logs or (() if given["listen"] is not None else ("-",))):
        following.follow(log, once=given["once"])
    if given["listen"] is not None:
        following.listen(given["listen"])


def _follow(following: Following) -> None:
    """Follows until nothing is left to read, and writes the state from time to time."""
    saved = time.monotonic()
    while following.step(PAUSE):
        if time.monotonic() - saved > SAVED:
            _save(following)
            last_words.replace(following.summary())
            saved = time.monotonic()


def _save(following: Following) -> None:
    """Writes the state, if it is to be kept: beside the file first, which is then renamed."""
    if following.state is not None:
        console.write_file(following.state, following.to_text())


def _conclude(following: Following, shown: _Shown, stopped: str | None) -> int:
    from checker.engines import budgets

    ended: list[Summary] = []
    error = budgets.ended(lambda: ended.append(following.end(stopped)))
    summary = ended[0] if error is None else following.summary(stopped or "interrupted")
    shown.show(summary)
    return summary.exit_code


def _last(json_out: str | None, known: list[Any], now: Summary | None, why: str) -> int:
    """Shows the last summary of a monitor that was killed."""
    from checker.records import replace

    if now is None:
        console.print_note(why)
        return 3
    summary = replace(now, stopped=why)
    _Shown(json_out).show(summary)
    return summary.exit_code


class _Shown:
    """Prints what the monitor notices, and writes it as lines of JSON."""

    def __init__(self, json_out: str | None) -> None:
        self.json_out = json_out
        if json_out not in (None, "-"):
            console.require_writable(json_out)

    def show(self, noticed: Noticed) -> None:
        """Shows something that was noticed."""
        import msgspec

        from checker.render.terminal.monitoring import noticed_view

        line = msgspec.json.encode(noticed).decode() + "\n"
        if self.json_out == "-":
            console.write_stdout(line)
        else:
            console.print_view(noticed_view(noticed))
        console.flush_stdout()
        if self.json_out not in (None, "-"):
            console.append_file(self.json_out, line)
