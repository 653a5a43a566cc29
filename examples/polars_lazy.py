"""A lazy frame of Polars: the engine runs one group-by, and no row is collected."""

import polars as pl

import evenhand as eh

table = pl.DataFrame({name: list(values) for name, values in eh.datasets.compas().items()})
people = table.lazy().filter(pl.col("age") != "over 45")
found = eh.audit(people, label="recidivated", score="decile", cutoff=5, sensitive=["race", "sex"], count="count")
print(found.verdict)
print(found.to_frame().select("metric", "attributes", "value", "low", "high", "verdict").head(6))
