"""Draft rubrics and tasks."""
