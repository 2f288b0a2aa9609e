"""A second opinion of what plans mean: each as one statement of SQL, which DuckDB runs."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from checker.audit import relations as rel
from checker.audit.arrow_engine import ArrowEngine

CONNECTION = duckdb.connect(config={"threads": 1})
BINARY = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "+": "+", "-": "-",
          "and": "AND", "or": "OR"}  # fmt: skip
JOINS = {"inner": "JOIN", "left": "LEFT JOIN", "semi": "SEMI JOIN", "anti": "ANTI JOIN"}
AGGREGATES = {"count": "count(*)", "min": "min({0})", "max": "max({0})", "sum": "sum({0})::BIGINT"}
BEFORE = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
WINDOWS = {
    "number": "row_number() OVER ({1})",
    "previous": "lag({0}) OVER ({1})",
    "greatest_before": "max({0}) OVER ({1} " + BEFORE + ")",
}


def name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def listed(columns: tuple[str, ...]) -> str:
    return ", ".join(map(name, columns))


def value(expression: rel.Expr) -> str:
    """An expression in SQL."""
    match expression:
        case rel.Column(column):
            return name(column)
        case rel.Constant(bool() as constant):
            return "TRUE" if constant else "FALSE"
        case rel.Constant(str() as constant):
            return "'" + constant.replace("'", "''") + "'"
        case rel.Constant(constant):
            return repr(constant)
        case rel.Apply(operation, operands):
            inner = [f"({value(each)})" for each in operands]
            match operation:
                case "not":
                    return f"NOT {inner[0]}"
                case "is null":
                    return f"{inner[0]} IS NULL"
                case "otherwise":
                    return f"coalesce({inner[0]}, {inner[1]})"
                case "if":
                    return f"CASE WHEN {inner[0]} THEN {inner[1]} ELSE {inner[2]} END"
            return f"{inner[0]} {BINARY[operation]} {inner[1]}"
    raise TypeError(expression)


class SqlEngine(ArrowEngine):
    """The engine that runs plans over Arrow tables, with another way of running them."""

    def table(self, relation: rel.Relation) -> pa.Table:
        found: dict[str, pa.Table] = {}
        query = self._query(relation, found)
        for scanned, table in found.items():
            CONNECTION.register(scanned, table)
        try:
            return CONNECTION.execute(query).to_arrow_table()
        finally:
            for scanned in found:
                CONNECTION.unregister(scanned)

    def _is_large(self) -> bool:
        return False

    def _query(self, relation: rel.Relation, found: dict[str, pa.Table]) -> str:
        """A relation in SQL; the tables that it names go to ``found``."""

        def inner(source: rel.Relation) -> str:
            return f"({self._query(source, found)})"

        match relation:
            case rel.Scan(scanned):
                found[scanned] = self._tables[scanned]
                return f"SELECT * FROM {name(scanned)}"
            case rel.Keep(source):
                if relation not in self._kept:
                    self._kept[relation] = self.table(source)
                kept = f"@kept{id(relation)}"
                found[kept] = self._kept[relation]
                return f"SELECT * FROM {name(kept)}"
            case rel.Where(source, condition):
                return f"SELECT * FROM {inner(source)} WHERE {value(condition)}"
            case rel.Select(source, columns):
                computed = ", ".join(f"{value(e)} AS {name(c)}" for c, e in columns.items())
                return f"SELECT {computed} FROM {inner(source)}"
            case rel.Join(left, right, on, how):
                which = f"USING ({listed(on)})" if on else "ON TRUE"
                return f"SELECT * FROM {inner(left)} l {JOINS[how]} {inner(right)} r {which}"
            case rel.Group(source, by, aggregates):
                computed = [f"{AGGREGATES[f].format(name(c))} AS {name(n)}"
                            for n, (f, c) in aggregates.items()]  # fmt: skip
                columns = ", ".join([*map(name, by), *computed])
                groups = f"GROUP BY {listed(by)}" if by else "HAVING count(*) > 0"
                return f"SELECT {columns} FROM {inner(source)} {groups}"
            case rel.Window(source, by, order, computed_columns):
                part = f"PARTITION BY {listed(by)} " if by else ""
                over = f"{part}ORDER BY {name(order)}"
                computed = [f"{WINDOWS[f].format(name(c), over)} AS {name(n)}"
                            for n, (f, c) in computed_columns.items()]  # fmt: skip
                return f"SELECT {', '.join(['*', *computed])} FROM {inner(source)}"
            case rel.Union(one, other):
                return f"SELECT * FROM {inner(one)} UNION ALL BY NAME SELECT * FROM {inner(other)}"
        raise TypeError(relation)
