"""The admission policy: what becomes of the facts that generators found in a turn, one small module per rule."""
