"""The agent under evaluation, whatever it is."""
