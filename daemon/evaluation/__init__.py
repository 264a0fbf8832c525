"""Evaluating gates on labelled rows, with the product's own search and gate and no daemon."""
