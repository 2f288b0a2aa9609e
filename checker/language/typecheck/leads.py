"""Types ``role store(1) dies with server``: which role stops with which."""

from __future__ import annotations

from collections.abc import Iterable

from checker.language.syntax import ast_items
from checker.language.typecheck.scope import Home, suggestion


def leads(roles: Iterable[ast_items.Role], home: Home) -> dict[str, str]:
    """Returns for each role that dies with another its lead; errors go to the report of
    ``home``."""
    written = {role.name.text: role.lead for role in roles}
    found: dict[str, str] = {}
    for name, lead in written.items():
        if lead is None:
            continue
        if lead.text not in written:
            hint = suggestion(lead.text, [role for role in written if role != name])
            home.report.add("N036", f"no role is called `{lead.text}`", lead.span, hint=hint)
        elif lead.text == name:
            message = f"`{name}` dies with itself"
            home.report.add("N036", message, lead.span, hint="leave out the words `dies with`")
        elif (theirs := written[lead.text]) is not None and theirs.text == name:
            message = f"`{name}` and `{lead.text}` die with one another"
            hint = "leave out `dies with` at the one that is to be the lead"
            home.report.add("N036", message, lead.span, hint=hint)
        elif theirs is not None:
            message = f"`{lead.text}` is no lead: it dies with `{theirs.text}`"
            hint = f"`dies with {theirs.text}`: any number of roles die with one lead"
            home.report.add("N036", message, lead.span, hint=hint)
        else:
            found[name] = lead.text
    return found
