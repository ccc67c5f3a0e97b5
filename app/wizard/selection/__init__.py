"""The choice of a model: what the machine can run, the catalogue, and any repository of the Hub."""
