"""Find the installed build of torch, without importing torch, which would take seconds."""

import os
import runpy
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from engine.machine import driver_module
from engine.machine.data import Gpu

KernelProblem = Literal["no_triton", "no_compiler"]


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """A build of torch.

    cuda, rocm: the version of CUDA or ROCm it was built for, such as "13.0", or None. architectures: those it
    was compiled for, such as "sm_90" or "gfx1100" (`torch.cuda.get_arch_list`); empty if unknown.
    kernel_problem: why the engine's own kernels for a graphics card cannot be compiled beside this build:
    Triton is missing, or what it needs on Linux: a C compiler and Python's headers, or the module that they
    would make; None if nothing is.
    """

    version: str
    cuda: str | None = None
    rocm: str | None = None
    architectures: tuple[str, ...] = ()
    kernel_problem: KernelProblem | None = None

    @property
    def vendor(self) -> Literal["nvidia", "amd"] | None:
        """The maker of the cards that it computes on; None if it uses the processor only."""
        if self.cuda:
            return "nvidia"
        return "amd" if self.rocm else None

    def cards(self, gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
        """Return those cards that are of this maker: torch calls both makers' CUDA devices, but a build sees
        only its own."""
        return tuple(gpu for gpu in gpus if gpu.vendor == self.vendor)


def installed_torch(packages: Path | None = None) -> TorchBuild | None:
    """Return the build that torch's version.py describes, without architectures; None if torch is missing.

    packages: the folder to look for torch in; None for this interpreter's packages.
    """
    spec = PathFinder.find_spec("torch", [str(packages)]) if packages else find_spec("torch")
    file = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if file is None or not file.is_file():
        return None
    names = runpy.run_path(str(file))
    cuda, rocm = names.get("cuda"), names.get("hip")
    problem = kernel_problem(packages, cuda=rocm is None)
    return TorchBuild(names["__version__"], cuda, rocm, kernel_problem=problem)


def kernel_problem(
    packages: Path | None = None, system: str = sys.platform, cuda: bool = True
) -> KernelProblem | None:
    """Return why Triton cannot compile kernels here, or None.

    packages: as for `installed_torch`; cuda: whether they are for a card of NVIDIA.

    On Linux, Triton compiles its connection to the driver when it is first used, unless the program brings it
    (`driver_module`); the package for Windows brings a compiler.
    """
    spec = PathFinder.find_spec("triton", [str(packages)]) if packages else find_spec("triton")
    if spec is None:
        return "no_triton"
    if system == "win32":
        return None
    is_compiled = cuda and spec.origin and driver_module.find(Path(spec.origin).parent / driver_module.SOURCE)
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    headers = Path(sysconfig.get_path("include"), "Python.h")
    return None if is_compiled or (compiler and headers.is_file()) else "no_compiler"
