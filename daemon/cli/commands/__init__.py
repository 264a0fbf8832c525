"""One module for each command of `recalld`; each is imported only when its command runs."""
