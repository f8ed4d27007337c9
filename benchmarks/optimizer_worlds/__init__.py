"""RuleSim: agents whose answers depend on rules in their instructions, judged without a model."""
