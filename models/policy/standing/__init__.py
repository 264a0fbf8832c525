"""Which memories stand in front of a session before anything is asked: evidence, worth, rank and fit."""
