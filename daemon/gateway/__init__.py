"""The Unix-socket gateway: peers, frames, limits, translation."""
