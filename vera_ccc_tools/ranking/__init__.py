"""The order of results; pure."""
