"""Records of the field, the arithmetic between them, and the ports; stdlib only, no input/output."""
