"""Replicas of a model (many fits): how much the predictions for each group vary between them."""
