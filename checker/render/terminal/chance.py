"""Renders the answer to a probability query: the value, and the adversary's runs."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from checker.diagnostics.english import count
from checker.render.adversary_tree import Node, adversary_tree
from checker.results.chance import RESTS, Adversary, Chance, Rule, Visit
from checker.results.verdict import PropertyVerdict

ENDS = {
    "reached": ("the goal is reached", "green"),
    "never": ("the goal is never reached", "red"),
    "more": ("and so on", "dim"),
}


def chance_view(verdict: PropertyVerdict) -> RenderableType:
    """Renders the value of a question, and what the adversary does."""
    found = verdict.chance
    assert found is not None
    parts: list[RenderableType] = [Text(verdict.property, style="bold")]
    parts += [Padding(Text(line), (0, 0, 0, 2)) for line in value_lines(found)]
    if found.adversary is not None:
        parts.append(Padding(_adversary(found.adversary), (0, 0, 0, 2)))
    return Group(*parts)


def value_lines(found: Chance) -> Iterator[str]:
    """Yields what is known of the value, and how large the process is."""
    exact = ", exactly" if found.exact else ""
    yield f"{found.extreme} value over all admissible adversaries: {found.digits}{exact}"
    sizes = [count(found.states, "state"), count(found.choices, "choice")]
    sizes.append(count(found.branches, "branch"))
    yield f"{', '.join(sizes)}; {found.seconds:.2f} s"
    if found.endless:
        how = "forever" if found.forever else "as long as it likes"
        yield f"the adversary can stay {how}: {'; '.join(found.endless)}"


def _adversary(adversary: Adversary) -> RenderableType:
    parts: list[RenderableType] = [Text(f"the {adversary.kind} adversary", style="bold")]
    if adversary.rules:
        parts.append(Text(f"  {adversary_text(adversary)}:", style="dim"))
        parts.append(Padding(_rules(adversary), (0, 0, 0, 4)))
    tree = adversary_tree(adversary.tree)
    root = Tree(_visit_text(tree), guide_style="dim")
    _grow(root, tree)
    return Group(*parts, root)


def _rules(adversary: Adversary) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("it chooses", "where"):
        table.add_column(title, overflow="fold")
    table.add_column("states", justify="right")
    for rule in adversary.rules:
        table.add_row(Text(rule.step), Text(when_text(rule)), f"{rule.states:,}")
    return table


def adversary_text(adversary: Adversary) -> str:
    """Returns how many states a strategy leads to, and of how many its rules tell."""
    said = f"it reaches {count(adversary.states, 'state')} and has a choice in {adversary.free:,}"
    if adversary.told < adversary.free:
        said += f", {adversary.told:,} of them covered by these rules"
    return said


def when_text(rule: Rule) -> str:
    """Returns where a rule says what is chosen."""
    return ", ".join(f"{name} {condition}" for name, condition in rule.when) or "always"


def _grow(drawn: Tree, node: Node) -> None:
    """Draws the branches of a visit."""
    for edge in node.branches:
        label = Text(edge.branch.probability, style="bold cyan")
        label.append(f"  {edge.branch.shows}", style="not bold default")
        label.append(f"  (so far {edge.so_far})", style="not bold dim")
        if edge.then is None:
            drawn.add(label.append(f"\nas at {edge.branch.then}", style="not bold dim"))
        else:
            label.append("\n").append_text(_visit_text(edge.then))
            _grow(drawn.add(label), edge.then)


def again_text(visit: Visit) -> str:
    """Returns what happens forever in a visit."""
    return "; then ".join(visit.again) + (", and again" if visit.again != (RESTS,) else "")


def visit_text(visit: Visit) -> str:
    """Returns what happens in a visit, up to the next coin."""
    said = "; then ".join(visit.steps)
    if not visit.again:
        return said
    before = "; and then, " if visit.steps else ""
    return f"{said}{before}forever: {again_text(visit)}"


def _visit_text(node: Node) -> Text:
    visit = node.visit
    text = Text(f"{node.number}  " if visit.branches else "", style="not bold dim")
    text.append(visit_text(visit), style="not bold default")
    if visit.ends:
        said, style = ENDS[visit.ends]
        before = ": " if visit.steps or visit.again else ""
        text.append(f"{before}{said}", style=f"not bold {style}")
    return text
