"""Traces as pages of HTML, each a file that needs no other: one run, two runs, a gallery."""

from checker.views.page.html import page_of

__all__ = ["page_of"]
