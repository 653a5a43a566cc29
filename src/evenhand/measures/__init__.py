"""A number for a group: from cells, score bins, sums of a regression, or classes."""
