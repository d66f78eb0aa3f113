"""Decisions, recall, the journal and the masking of secrets."""
