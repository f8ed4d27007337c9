"""Translate flags and exit codes; no work is done here."""
