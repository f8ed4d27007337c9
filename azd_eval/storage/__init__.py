"""Run folders and the reply cache on disk."""
