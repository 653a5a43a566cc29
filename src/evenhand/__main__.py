"""python -m evenhand is the program `evenhand`."""

from __future__ import annotations

from evenhand.cli import main

if __name__ == "__main__":
    main()
