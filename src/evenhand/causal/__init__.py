"""Causal models: a graph read from anywhere, mechanisms for its nodes, counterfactuals, and what they rest on."""
