"""Measuring gates on labelled rows: the arms that are compared, the counts, and the report. Pure."""
