"""The kinds of documents of reports."""

REPORTS_KIND = "bivalence reports"
CONFORMANCES_KIND = "bivalence conformance reports"
VALENCES_KIND = "bivalence valence reports"
JUDGEMENTS_KIND = "bivalence judgement reports"
MUTATIONS_KIND = "bivalence mutation reports"
ASSUMPTIONS_KIND = "bivalence assumption reports"
FRONTIERS_KIND = "bivalence frontier reports"
FILLINGS_KIND = "bivalence filling reports"
NOTICED_KIND = "bivalence monitor lines"
"""The kind of the lines that a monitor writes; none of them is a report."""
DOCUMENT_KINDS = (
    REPORTS_KIND, CONFORMANCES_KIND, VALENCES_KIND, JUDGEMENTS_KIND, MUTATIONS_KIND,
    ASSUMPTIONS_KIND, FRONTIERS_KIND, FILLINGS_KIND,
)  # fmt: skip
"""Kinds of documents of reports."""
