"""Semantic code search by CocoIndex Code (``ccc``) as tools for coding agents."""

__version__ = "0.1.0"
