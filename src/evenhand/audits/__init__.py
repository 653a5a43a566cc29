"""What a user calls on counts: audit, a function for each metric, diff, trend, impossibility, guide, sweep, scorer."""
