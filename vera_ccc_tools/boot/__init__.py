"""Environments that a verb runs in, and how a person starts it."""
