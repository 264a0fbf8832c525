"""Getting model files onto this machine, verified: layout, checks, sources, import."""
