"""The local judge: which sentences of a turn state a fact worth storing, by embedding and flags alone."""
