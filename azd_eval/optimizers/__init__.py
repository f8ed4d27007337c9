"""Propose the next instructions."""
