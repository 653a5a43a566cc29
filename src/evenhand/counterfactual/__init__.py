"""Causal graphs: would the same person be predicted otherwise in another group?"""
