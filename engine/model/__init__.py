"""A causal language model over rows: loading, the forward pass, the KV cache."""
