"""The model gate: turns wait, durably, until a burst is over, and a language model reads them in batches."""
