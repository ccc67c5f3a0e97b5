"""`specexec doctor --device cuda`: check and measure every kernel of the graphics card."""

from pathlib import Path

from engine import machine, planner
from engine.errors import DeviceUnavailable, DiskProblem
from engine.proof import card_proof, kernels, report
from engine.proof.card_proof import CardProof
from engine.proof.report import CardReport
from engine.terminal import progress_line


def check_card(here: machine.Machine, file: Path) -> CardReport:
    """Try all kernels of the card anew, and write the report to `file`.

    Raises DeviceUnavailable if there is no card that torch can use; DiskProblem if the file cannot be
    written.
    """
    from engine.model.devices import choose_device
    from engine.torch_model.loader import choose_dtype

    choose_device("cuda")
    gpu = card_proof.first_card()
    if gpu is None:
        raise DeviceUnavailable(
            "The driver does not describe the graphics card.", "Update the driver, then try again."
        )
    dtype = str(choose_dtype("auto", "cuda")).removeprefix("torch.")
    proof = CardProof(gpu)
    proof.renew()
    with progress_line("Checking the card's kernels …") as show:
        proof.prove(kernels.every(dtype), show)
    made = report.report_of(here, gpu, proof.kernels, proof.tried, planner.data_sheet(gpu.name))
    try:
        report.write(made, file)
    except OSError as error:
        raise DiskProblem(
            f"The report cannot be written to {file}: {error.strerror}.", "Choose another file (--report)."
        ) from error
    return made
