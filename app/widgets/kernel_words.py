"""How kernels fail on a graphics card, and what happens instead, in the window's words.

`engine.ways` names the kernels and their ways, and has the terminal's words.
"""

from PySide6.QtCore import QCoreApplication

from engine.protocol.messages import KernelFault


def failure(kernel: str, fault: KernelFault) -> str:
    """Return a sentence that says how a kernel fails on the graphics card, and what it works on."""
    kind, *subject = kernel.split()
    task = _task(kind)
    if subject:
        task = _tr("{} ({})").format(task, ", ".join(subject))
    said = {
        "wrong": _tr("The graphics card gives wrong numbers: {}."),
        "slow": _tr("The graphics card is slow: {}."),
        "failed": _tr("This does not work on the graphics card: {}."),
        "hung": _tr("This does not end on the graphics card: {}."),
        "crashed": _tr("On the graphics card, this ends the program: {}."),
        "suspected": _tr("This may have stopped the graphics card: {}."),
    }
    return said[fault].format(task)


def instead(kernel: str, way: str) -> str:
    """Return a sentence that says what happens in the way that a kernel takes."""
    kind, *_ = kernel.split()
    return {
        ("halves", "float32"): _tr("Matrices are multiplied in float32 instead."),
        ("unpack", "torch"): _tr("Plain PyTorch unpacks them instead, which is several times slower."),
        ("unpack", "processor"): _tr("The processor unpacks them instead, which is much slower."),
        ("product", "unpack"): _tr("The weights are unpacked first instead, which is slower for few tokens."),
        ("attention", "math"): _tr("It is computed step by step instead, which is slower."),
        ("scores", "float32"): _tr("It is computed in float32 instead, which is slower."),
        ("states", "rows"): _tr("Systems of equations are solved row by row instead, which is slower."),
        ("copies", "staging"): _tr("The driver copies weights through its own buffer, which is slower."),
        ("streams", "one"): _tr("Copying and computing take turns instead, which is slower."),
        ("noise", "processor"): _tr("The processor computes it instead."),
        ("graphs", "launches"): _tr("Kernels are launched one by one instead, which is slower."),
    }[kind, way]


def _task(kind: str) -> str:
    return {
        "memory": _tr("copying within its memory"),
        "dense": _tr("multiplying matrices"),
        "halves": _tr("multiplying in float16"),
        "unpack": _tr("unpacking weights"),
        "product": _tr("multiplying by packed weights"),
        "attention": _tr("attention"),
        "scores": _tr("attention with sinks or capped scores"),
        "states": _tr("layers with states"),
        "copies": _tr("copying from pinned memory"),
        "streams": _tr("copying while computing"),
        "noise": _tr("the noise for sampling"),
        "graphs": _tr("replaying a CUDA graph"),
    }[kind]


def _tr(text: str) -> str:
    return QCoreApplication.translate("kernels", text)
