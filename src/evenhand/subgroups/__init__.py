"""search(): the group that nobody named. Every conjunction of values is a candidate, and their limits hold together."""
