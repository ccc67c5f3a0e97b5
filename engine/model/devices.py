"""The device that a model runs on, and the memory that is free there. Imports torch only if its build can use
a graphics card."""

from collections.abc import Sequence

from engine import machine
from engine.checkpoints import Checkpoint
from engine.checkpoints.recurrent import states_nbytes
from engine.checkpoints.storage import stored_nbytes
from engine.errors import DeviceUnavailable, OutOfMemory
from engine.launch.interpreter import need_runtime
from engine.model.description import describe
from engine.model.interface import Device


def choose_device(requested: str) -> Device:
    """Return the compute device. requested: auto, cuda or cpu. Raises DeviceUnavailable if no graphics card
    can be used but one is requested, or RuntimeMissing if torch is missing then."""
    if requested == "cpu":
        return "cpu"
    obstacle = _obstacle()
    if obstacle is None:
        return "cuda"
    if requested == "cuda":
        need_runtime("A graphics card")
        raise DeviceUnavailable(
            obstacle, "Use --device cpu, or see what `specexec doctor` says about the card, driver and torch."
        )
    return "cpu"


def _obstacle() -> str | None:
    """Return why no graphics card can be used, as a sentence, or None.

    A card for which ROCm's torch has no code would fail at its first kernel, so it is not tried.
    """
    build = machine.installed_torch()
    if build is None or not (build.cuda or build.rocm):
        return "No CUDA device is available."
    if build.cuda:
        machine.show_cards()
    import torch

    if not torch.cuda.is_available():
        return "No CUDA device is available."
    if build.rocm:
        card = torch.cuda.get_device_properties(0)
        architecture = card.gcnArchName.partition(":")[0]  # without features, such as gfx90a:sramecc+
        if architecture not in torch.cuda.get_arch_list():
            return f"PyTorch {build.version} has no code for the {card.name} ({architecture})."
    return None


def free_nbytes(device: Device) -> int:
    """Return the number of bytes of memory that are free on the device now."""
    if device != "cpu":
        import torch

        free: int = torch.get_device_module(device).mem_get_info(device)[0]
        return free
    return machine.available_nbytes()


def check_context(checkpoints: Sequence[Checkpoint], context: int, form: str, device: Device) -> None:
    """Raise OutOfMemory unless the KV caches of all `checkpoints` fit in free memory, each with `context`
    tokens, in the format `form`. The hint names a context that fits."""
    models = [describe(checkpoint) for checkpoint in checkpoints]
    row = sum(stored_nbytes(form, (2 * heads, width)) for each in models for heads, width in each.kept)
    free = free_nbytes(device)
    states = sum(map(states_nbytes, checkpoints))
    if context * row + states > free:
        raise OutOfMemory(
            f"The KV cache of {context:,} tokens takes {(context * row + states) / 2**30:.1f} GiB; "
            f"{free / 2**30:.1f} GiB are free.",
            f"Choose a context of {max(16, int(0.9 * free - states) // row):,} tokens or fewer (--context).",
        )
