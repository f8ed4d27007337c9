"""The four jobs: draft a suite, score it, improve the agent, check a dataset."""
