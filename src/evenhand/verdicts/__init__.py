"""Compare and judge: gaps between groups, their bounds, policies, and the findings that are made of them."""
