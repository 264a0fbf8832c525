"""Statements: which facts a user's turn states in a canonical way, found by rules that are data."""
