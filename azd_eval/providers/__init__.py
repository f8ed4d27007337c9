"""Chat models and what is wrapped around them."""
