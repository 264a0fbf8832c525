"""Whether a gate still decides as it did: shifts between two stretches of its decisions, and gates that seem dead."""
