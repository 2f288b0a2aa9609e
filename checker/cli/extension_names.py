"""The type of an option that selects an extension: one of the names in a registry."""

from __future__ import annotations

from typing import Any

import click

from checker.extensions.registry import Registry


class ExtensionName(click.ParamType):  # type: ignore[type-arg]  # none before click 8.2
    """The name of an extension in ``registry``, or one of ``others``; what is installed is looked
    at only when the names are shown, or one is given that is not the default."""

    name = "choice"

    def __init__(self, registry: Registry, others: tuple[str, ...] = ()) -> None:
        self.registry, self.others = registry, (*registry.reserved, *others)

    def choice(self) -> click.Choice[str]:
        """Returns the names that there are now."""
        return click.Choice([*self.others, *self.registry.names()])

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Raises ``BadParameter`` where there is no such name, and
        :class:`checker.diagnostics.SpecError` (E042) where several extensions claim it."""
        if value in self.others:
            return str(value)
        found = self.choice().convert(value, param, ctx)
        self.registry.require_unclaimed(found)
        return found

    def get_metavar(self, *given: Any, **named: Any) -> str | None:
        return self.choice().get_metavar(*given, **named)

    def get_missing_message(self, *given: Any, **named: Any) -> str | None:
        return self.choice().get_missing_message(*given, **named)

    def shell_complete(self, *given: Any, **named: Any) -> Any:
        return self.choice().shell_complete(*given, **named)
