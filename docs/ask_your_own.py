"""Questions of your own about everything that was explored, with Spark SQL.

Make the tables first; ``docs/tables.md`` says what is in them:

    ./bivalence check specs/links/alternating_bit.bcast::reordering --states-out tables

Then run this file (``python docs/ask_your_own.py tables``), or its cells one by one in an editor
that knows ``# %%``.
"""

# %% The tables

import sys

from pyspark.sql import SparkSession

TABLES = sys.argv[1] if len(sys.argv) > 1 else "tables"
PROPERTY = sys.argv[2] if len(sys.argv) > 2 else "prefix_order"

spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "4")  # as many as there are cores
for name in ("states", "transitions", "depths"):
    spark.read.parquet(f"{TABLES}/{name}").createOrReplaceTempView(name)

spark.table("states").printSchema()

# %% How large is each level, and how many ways lead out of a state?

levels = spark.sql("""
    SELECT depth, states, transitions, round(transitions / states, 1) AS ways
    FROM depths
    ORDER BY depth
""")
levels.show(100)

# %% Which action leads to most new states, by depth?
# Where several actions lead to the same new state, each of them counts.

newest = spark.sql("""
    SELECT depth, action, new_states
    FROM (
        SELECT t.depth + 1 AS depth, t.action, count(DISTINCT t.target) AS new_states,
               rank() OVER (PARTITION BY t.depth ORDER BY count(DISTINCT t.target) DESC) AS place
        FROM transitions t JOIN states s ON s.id = t.target AND s.depth = t.depth + 1
        GROUP BY t.depth, t.action
    )
    WHERE place = 1
    ORDER BY depth, action
""").collect()
for row in newest:
    print(f"depth {row.depth}: {row.new_states} new states by {row.action}")

# %% Where does it go wrong: which steps lead from a state where the property holds to a bad one?
# Variables are columns: a map has an entry for each process.

spark.sql(f"""
    SELECT * FROM states WHERE array_contains(violates, '{PROPERTY}')
""").createOrReplaceTempView("bad")

fatal = spark.sql("""
    SELECT t.action, t.process, t.message, count(*) AS steps, count(DISTINCT t.source) AS brinks
    FROM transitions t
    JOIN bad ON bad.id = t.target
    LEFT ANTI JOIN bad AS before ON before.id = t.source
    GROUP BY ALL
    ORDER BY steps DESC
""").collect()
for row in fatal:
    print(f"{row.steps} steps from {row.brinks} states: {row.action} {row.message}")

# %% A shortest way to a bad state, backwards: a state before it is one level up.

goal = spark.sql("SELECT id, depth FROM bad ORDER BY depth, id LIMIT 1").first()
way = []
state = goal and goal.id
for depth in range(goal.depth if goal else 0, 0, -1):
    step = spark.sql(
        """
        SELECT source, target, action, process, message
        FROM transitions
        WHERE target = :state AND depth = :depth - 1
        ORDER BY source, action
        LIMIT 1
        """,
        args={"state": state, "depth": depth},
    ).first()
    way.insert(0, step)
    state = step.source
for number, step in enumerate(way, 1):
    print(f"{number}. {step.process}: {step.action} {step.message or ''}")

# %% Where does a run end? States out of which nothing leads to another state.

ends = spark.sql("""
    SELECT s.*
    FROM states s LEFT ANTI JOIN transitions t ON t.source = s.id AND t.target <> s.id
    ORDER BY s.depth, s.id
""")
print(f"{ends.count()} states are ends")
ends.show(5, truncate=60)
