"""Pure rules. No clock, no randomness, no logging, no awaiting."""
