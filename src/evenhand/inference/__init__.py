"""How sure a number is: draws, intervals, tests. Plain arrays in, plain arrays out."""
