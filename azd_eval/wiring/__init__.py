"""Turn a config into live objects; the only ring that knows every edge."""
