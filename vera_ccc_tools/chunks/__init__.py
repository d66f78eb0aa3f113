"""Whole units out of ccc's windows, their outlines and ids."""
