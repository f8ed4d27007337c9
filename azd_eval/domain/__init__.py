"""Records of the field, the arithmetic between them, and the ports; no input or output."""
