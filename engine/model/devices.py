"""The device that a model runs on, and the memory that is free there. Imports torch only if its build can use
a graphics card."""

from bisect import bisect_right
from collections.abc import Sequence

from engine import machine
from engine.checkpoints import Checkpoint
from engine.checkpoints.recurrent import SAVEPOINTS, WORKING, state_row_nbytes, states_nbytes
from engine.checkpoints.storage import stored_nbytes
from engine.checkpoints.windows import kept_slots, saved_rows
from engine.errors import DeviceUnavailable, OutOfMemory
from engine.launch.interpreter import need_runtime
from engine.model.architectures import family_of
from engine.model.description import Description, describe
from engine.model.interface import Device
from engine.planner.node_records import ahead_records_nbytes, records_nbytes, takes_turns
from engine.planner.search import BUDGETS


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

    A card for which torch has no code would fail at its first kernel, so it is not tried. A build that does
    not tell what it has code for may have some.
    """
    build = machine.installed_torch()
    if build is None or not (build.cuda or build.rocm):
        return "No CUDA device is available."
    if build.cuda:
        machine.show_cards()
    import torch

    if not torch.cuda.is_available():
        return "No CUDA device is available."
    card, architectures = torch.cuda.get_device_properties(0), torch.cuda.get_arch_list()
    if build.rocm:
        architecture = card.gcnArchName.partition(":")[0]  # without features, such as gfx90a:sramecc+
        has_code = not architectures or architecture in architectures
    else:
        capability = torch.cuda.get_device_capability(0)
        architecture = "compute capability {}.{}".format(*capability)
        has_code = not architectures or machine.has_code(architectures, capability)
    return None if has_code else f"PyTorch {build.version} has no code for the {card.name} ({architecture})."


def free_nbytes(device: Device) -> int:
    """Return the number of bytes of memory that are free on the device now."""
    if device != "cpu":
        import torch

        free: int = torch.get_device_module(device).mem_get_info(device)[0]
        return free
    return machine.available_nbytes()


def check_context(
    checkpoints: Sequence[Checkpoint], context: int, form: str, device: Device, compiles: bool
) -> None:
    """Raise OutOfMemory unless the KV caches of all `checkpoints` fit in free memory, each with `context`
    tokens, in the format `form`, and beside them the states of layers that have such, and records of nodes.
    The hint names a context that fits.

    checkpoints: the target and, if there is one, its draft. compiles: whether compiled passes run models that
    they cover.
    """
    models = [describe(checkpoint) for checkpoint in checkpoints]
    copies = WORKING + (SAVEPOINTS if device == "cpu" else 0)
    fixed = copies * sum(map(states_nbytes, checkpoints)) + _records_nbytes(checkpoints, device, compiles)

    def needed(context: int) -> int:
        return fixed + sum(_cache_nbytes(each, context, form, device) for each in models)

    free = free_nbytes(device)
    if needed(context) > free:
        fitting = bisect_right(range(context), 0.9 * free, key=needed) - 1
        raise OutOfMemory(
            f"The KV cache of {context:,} tokens takes {needed(context) / 2**30:.1f} GiB; "
            f"{free / 2**30:.1f} GiB are free.",
            f"Choose a context of {max(16, fitting):,} tokens or fewer (--context).",
        )


def _records_nbytes(checkpoints: Sequence[Checkpoint], device: Device, compiles: bool) -> int:
    """Return the bytes of the records of nodes on the device that every plan has memory for: those of the
    smallest tree, and of nodes that grow while a streamed target verifies a tree. A plan has memory for the
    latter or for all of the target's weights, so the smaller of the two counts."""
    target, nbytes, ahead = checkpoints[0], 0, 0
    in_turn = takes_turns(device != "cpu", states_nbytes(target))
    for number, model in enumerate(checkpoints):
        of_row, drafts = state_row_nbytes(model), number > 0
        anew = not (compiles and family_of(model.architecture).compiled)
        nbytes += records_nbytes(of_row, BUDGETS[0], drafts, anew)
        if drafts and not in_turn:
            ahead += ahead_records_nbytes(of_row, anew)
    return nbytes + min(ahead, sum(weight.nbytes for weight in target.weights.values()))


def _cache_nbytes(model: Description, context: int, form: str, device: Device) -> int:
    """Return the bytes on the device of the KV cache of `context` tokens, in the format `form`."""
    nbytes = 0
    for (heads, width), window in zip(model.kept, model.row_windows, strict=True):
        rows = context
        if window:
            apart = device != "cpu"
            rows = kept_slots(window, context, apart) + (0 if apart else saved_rows(window, context, apart))
        nbytes += rows * stored_nbytes(form, (2 * heads, width))
    return nbytes
