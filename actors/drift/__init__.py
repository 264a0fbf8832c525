"""Looks at the newest decisions now and then, and raises rate-limited alarms."""
