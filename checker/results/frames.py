"""Tables of pyarrow as tables of pandas, which is not among the tool's dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.diagnostics import Diagnostic, SpecError

if TYPE_CHECKING:
    import pyarrow as pa


def frame_of(table: pa.Table) -> Any:
    """Returns ``table`` as a ``pandas.DataFrame``; raises :class:`SpecError` (E128) where pandas is
    missing."""
    try:
        return table.to_pandas()
    except ImportError:
        hint = "run `pip install pandas`, or use `to_arrow()`"
        raise SpecError((Diagnostic("E128", "pandas is not installed", hint=hint),)) from None
