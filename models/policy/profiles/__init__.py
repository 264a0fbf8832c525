"""Gates as data: profiles, and for each family of them the pure function that decides."""
