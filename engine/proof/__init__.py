"""A graphics card proves itself: before a model is loaded, each kernel that it needs is compared with the
processor's result, and one that fails is replaced by the next safer way (`engine.ways`).

The checks run in a child process, so that a kernel which hangs or ends the process harms nothing else. Only
`worker` and `checks`, which run there, import torch.
"""
