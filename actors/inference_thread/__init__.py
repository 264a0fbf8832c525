"""Dedicated threads for model inference, and what the scorer and the embedder share around them."""
