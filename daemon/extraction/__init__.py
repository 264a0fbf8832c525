"""A configured language model behind an OpenAI-compatible endpoint, asked over HTTP."""
