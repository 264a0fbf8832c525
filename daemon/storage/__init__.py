"""SQLite storage behind the ports of `recalld.actors`."""
