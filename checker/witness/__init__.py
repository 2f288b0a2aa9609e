"""What engines answer, what a person is told: answers, verdicts, traces, replay."""
