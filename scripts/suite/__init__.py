"""A suite of questions about protocols with known answers, for any checker: ``docs/suite.md``."""
