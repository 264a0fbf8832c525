"""Calibrating the gate on one's own labelled turns: reading, scoring, fitting, keeping records."""
