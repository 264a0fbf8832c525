"""Looks at a project for `decide`: its files, its git refs and its lock files. Nothing is ever run or written."""
