"""Renders traces as self-contained HTML pages: one execution, two executions, a gallery."""

from checker.render.html.page import page_of

__all__ = ["page_of"]
