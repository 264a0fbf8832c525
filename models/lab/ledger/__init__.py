"""What the counts of the ledger say: shares with intervals, times, sums that must agree, and what gates cost."""
