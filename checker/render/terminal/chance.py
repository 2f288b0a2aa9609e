"""Renders what is found about a question about chance: the value, and the adversary's runs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from checker.diagnostics.english import count
from checker.results.chance import RESTS, Adversary, Chance, Visit
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
    yield f"{found.extreme} that an admissible adversary attains: {found.digits}{exact}"
    sizes = [count(found.states, "state"), count(found.choices, "choice")]
    sizes.append(count(found.branches, "branch", "branches"))
    yield f"{', '.join(sizes)}; {found.seconds:.2f} s"
    if found.endless:
        how = "forever" if found.forever else "as long as it likes"
        yield f"the adversary can stay {how}: {'; '.join(found.endless)}"


def _adversary(adversary: Adversary) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f"the {adversary.kind} adversary", style="bold"),
        *(Text(f"  {line}", style="dim") for line in rule_lines(adversary)),
    ]
    root = Tree(_visit_text(adversary.tree, 0), guide_style="dim")
    _grow(root, adversary.tree, 0)
    return Group(*parts, root)


def rule_lines(adversary: Adversary) -> Iterator[str]:
    """Yields the strategy in words: what is chosen how often where there is a choice."""
    if not adversary.rules:
        return
    yield f"in {count(adversary.states, 'state')} that it leads to, where it has a choice it picks:"
    for kind, states in adversary.rules:
        yield f"  {kind} ({count(states, 'state')})"


def _grow(node: Tree, tree: tuple[Visit, ...], number: int) -> None:
    """Adds the branches of a visit; one that several lead to is drawn where it is met first."""
    todo = [(node, number, Fraction(1))]
    drawn = {number}
    while todo:
        node, number, so_far = todo.pop(0)
        for branch in tree[number].branches:
            label = Text(branch.probability, style="bold cyan")
            label.append(f"  {branch.shows}", style="not bold default")
            here = so_far * Fraction(branch.probability)
            label.append(f"  (so far {here})", style="not bold dim")
            if branch.then in drawn and tree[branch.then].branches:
                node.add(label.append(f"\nas at {branch.then}", style="not bold dim"))
                continue
            drawn.add(branch.then)
            label.append("\n").append_text(_visit_text(tree, branch.then))
            todo.append((node.add(label), branch.then, here))


def again_text(visit: Visit) -> str:
    """Returns what happens forever in a visit."""
    return "; then ".join(visit.again) + (", and again" if visit.again != (RESTS,) else "")


def _visit_text(tree: tuple[Visit, ...], number: int) -> Text:
    visit = tree[number]
    text = Text(f"{number}  " if visit.branches else "", style="not bold dim")
    text.append("; then ".join(visit.steps), style="not bold default")
    if visit.ends:
        said, style = ENDS[visit.ends]
        if visit.again:
            before = "; and then, " if visit.steps else ""
            text.append(f"{before}forever: {again_text(visit)}", style="not bold default")
        before = ": " if visit.steps or visit.again else ""
        text.append(f"{before}{said}", style=f"not bold {style}")
    return text
