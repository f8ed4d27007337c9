"""azd-eval: generate evaluation datasets, score AI agents, improve their instructions."""

__version__ = "0.1.0"
