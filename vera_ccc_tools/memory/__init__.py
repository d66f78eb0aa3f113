"""Decisions, recall and the journal."""
