"""Mailboxes, supervision, and one folder per actor."""
