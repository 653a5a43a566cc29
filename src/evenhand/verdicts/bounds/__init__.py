"""The intervals of a table of measures: simultaneous, from draws, or classical for each pair."""
