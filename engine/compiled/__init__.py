"""Model passes on the processor as compiled programs, over weights that stay at their packed size."""
