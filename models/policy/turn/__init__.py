"""The parts of the turn gate: what it reads, its rules, the store probe, a model's answer and the direction knobs."""
