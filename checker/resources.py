"""Where the files that travel with the tool are, in a checkout and in an installation alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    if installed.is_dir():
        return installed
    checkout = _PACKAGE.parent / name
    if checkout.is_dir():
        return checkout
    raise FileNotFoundError(f"the folder `{name}` of this installation is missing")


def grammar() -> Path:
    """The lark grammar of the language; raises ``FileNotFoundError`` where it is missing."""
    return _folder("grammar") / "bivalence.lark"


def specs() -> Path:
    """The folder of the protocol library; raises ``FileNotFoundError`` where it is missing."""
    return _folder("specs")


def interfaces() -> Path:
    """The folder of the interfaces and default protocols that every spec sees."""
    return specs() / "interfaces"


def pages() -> Path:
    """The folder of the pages that explain the diagnostics, one ``CODE.md`` each."""
    return _PACKAGE / "diagnostics" / "pages"
