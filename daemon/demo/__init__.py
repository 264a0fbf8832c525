"""`recalld demo`: the whole product on one screen."""
