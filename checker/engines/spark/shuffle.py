"""Exchange by shuffle: a job of Spark for each level, and Spark carries the states."""

from __future__ import annotations

from checker.engines.spark.job import Job, Outcome
from checker.engines.spark.session import Session


def run(session: Session, job: Job) -> Outcome:
    """The whole run, from the last commit; raises what Spark raises."""
    raise NotImplementedError
