"""Keeps decisions by chance, behind the replies, for a person to look at."""
