"""Conversion of checkpoints to another format: plain safetensors, or quantized with GPTQ."""
