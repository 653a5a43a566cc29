"""Count: one group-by of any source, as a Cube of cells that adds, saves and audits itself."""
