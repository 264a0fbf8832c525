"""Records, reasons, verdicts and errors: the vocabulary everything else speaks."""
