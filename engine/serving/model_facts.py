"""What clients are told of loaded models and heads."""

from engine import catalog, protocol
from engine.checkpoints import Checkpoint
from engine.checkpoints.drafts import stays_stored
from engine.heads import Heads, HeadsFile
from engine.model.interface import Model


def model_info(name: str, file: Checkpoint, model: Model) -> protocol.ModelInfo:
    """Return what clients are told of a loaded model. name: the one that was asked for."""
    return protocol.ModelInfo(
        name=catalog.entries()[name].name if name in catalog.entries() else file.path.stem,
        path=str(file.path),
        architecture=file.architecture,
        parameters=sum(weight.numel for weight in file.weights.values()),
        nbytes=model.nbytes,
        packed=model.packed,
        layers=model.layers,
        vocabulary=model.vocabulary,
    )


def heads_info(file: HeadsFile, heads: Heads, vocabulary: int) -> protocol.ModelInfo:
    """Return the same of heads. vocabulary: the number of tokens of their target."""
    return protocol.ModelInfo(
        name="MTP layer" if file.layer else file.path.name,
        path=str(file.path),
        architecture=file.kind,
        parameters=heads.parameters,
        nbytes=heads.nbytes,
        packed=file.layer is not None and stays_stored(file.layer),
        layers=heads.layers,
        vocabulary=vocabulary,
    )
