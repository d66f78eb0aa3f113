"""Processes, pipes, threads, files and text."""
