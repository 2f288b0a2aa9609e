"""Defines typed protocols: every name resolved, every expression typed, sizes still symbolic.

This is the interface of the language to the rest of the tool.  Sizes (``n``, ``f``, bounds of
ranges, role sizes, capacities) are expressions over :class:`Param`, to which a check gives values.
Types and patterns, expressions, code, and checks have a module each; this one has all their names.
"""

# ruff: noqa: F403

from __future__ import annotations

from checker.language.syntax.ast import Yield as Yield
from checker.language.syntax.ast_items import OnInit as OnInit
from checker.language.syntax.ast_items import OnRecover as OnRecover
from checker.language.syntax.typed_check import *
from checker.language.syntax.typed_code import *
from checker.language.syntax.typed_expr import *
from checker.language.syntax.typed_types import *
