"""Asking git, and the repositories below a directory."""
