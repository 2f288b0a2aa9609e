"""Results: answers of engines, verdicts, traces; replay and judgement."""
