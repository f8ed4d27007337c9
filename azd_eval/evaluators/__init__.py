"""Score answered turns."""
