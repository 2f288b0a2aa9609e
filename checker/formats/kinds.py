"""The kinds of documents of reports."""

REPORTS_KIND = "bivalence reports"
CONFORMANCES_KIND = "bivalence conformance reports"
VALENCES_KIND = "bivalence valence reports"
JUDGEMENTS_KIND = "bivalence judgement reports"
DOCUMENT_KINDS = (REPORTS_KIND, CONFORMANCES_KIND, VALENCES_KIND, JUDGEMENTS_KIND)
"""Kinds of documents of reports."""
