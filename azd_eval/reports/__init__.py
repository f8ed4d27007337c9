"""A finished run or optimization as a document."""
