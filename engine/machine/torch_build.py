"""Find the installed build of torch, without importing torch, which would take seconds."""

import runpy
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """A build of torch.

    cuda, rocm: the version of CUDA or ROCm it was built for, such as "13.0", or None. architectures: the CUDA
    architectures it was compiled for, such as "sm_90" (`torch.cuda.get_arch_list`); empty if unknown.
    """

    version: str
    cuda: str | None = None
    rocm: str | None = None
    architectures: tuple[str, ...] = ()


def installed_torch(packages: Path | None = None) -> TorchBuild | None:
    """Return the build that torch's version.py describes, without architectures; None if torch is missing.

    packages: the folder to look for torch in; None for this interpreter's packages.
    """
    spec = PathFinder.find_spec("torch", [str(packages)]) if packages else find_spec("torch")
    file = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if file is None or not file.is_file():
        return None
    names = runpy.run_path(str(file))
    return TorchBuild(names["__version__"], names.get("cuda"), names.get("hip"))
