"""Many fits of one model: how much its predictions for each group vary between fits."""
