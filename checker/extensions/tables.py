"""The engines and exports that travel with the tool, by name; others come from outside as entry
points of the same groups."""

from __future__ import annotations

from checker.extensions.registry import Registry

AUTO = "auto"
"""In place of an engine: :data:`DEFAULT`, which hands over to :data:`ON_CLUSTER` where there is a
cluster and the search has grown."""

DEFAULT, ON_CLUSTER, DEFINITION = "native", "spark", "reference"
"""The engines that ``auto`` is made of, and the one that defines the answers of all."""

ENGINES = Registry(
    kind="engine",
    group="bivalence.engines",
    built_in={
        "native": "checker.engines.native.engine:ENGINE",
        "spark": "checker.engines.spark.engine:ENGINE",
        "reference": "checker.engines.reference.engine:ENGINE",
        "symbolic": "checker.engines.symbolic.engine:ENGINE",
    },
    reserved=(AUTO,),
)
"""Each is an instance of :class:`checker.engines.engine.Engine`."""

EXPORTS = Registry(
    kind="export",
    group="bivalence.exports",
    built_in={
        "csv": "checker.formats.csv_format:trace_to_csv",
        "itf": "checker.formats.itf:trace_to_text",
        "json": "checker.formats.json_format:trace_to_text",
        "mermaid": "checker.render.diagram.mermaid:mermaid_of",
        "shiviz": "checker.formats.shiviz:trace_to_shiviz",
        "svg": "checker.render.diagram.svg:svg_of_trace",
    },
)
"""Each is a function from a :class:`checker.results.trace.Trace` to text."""

VIEWS = Registry(
    kind="view",
    group="bivalence.views",
    built_in={
        "report": "checker.render.html.notebook:report_html",
        "state graph": "checker.render.html.notebook:state_graph_html",
        "trace": "checker.render.html.notebook:trace_html",
    },
)
"""Each is a function from an object to the HTML that notebooks show in its place."""
