"""The log of searches and what is read from it."""
