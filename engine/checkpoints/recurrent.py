"""The memory that layers with a state instead of rows take, from a checkpoint's headers."""

from engine.checkpoints.checkpoint import Checkpoint

SAVEPOINTS = 6  # the most copies of all states that a text keeps in RAM, see engine.model.savepoints
WORKING = (
    2  # copies where its layers compute: the states themselves, and those of a prompt that is being read
)

_CONVOLUTIONS = (
    *("linear_attn.conv1d.weight", "conv.conv.weight", "mamba.conv1d.weight"),
    "mixer.conv1d.weight",  # Mamba-2 in Nemotron-H
)


def states_nbytes(checkpoint: Checkpoint) -> int:
    """Return the bytes of one copy of a text's states; 0 if all layers attend. Numbers are counted as
    float32."""
    numbers = 0
    for name, weight in checkpoint.weights.items():
        if name.endswith(_CONVOLUTIONS):
            numbers += weight.shape[0] * (weight.shape[-1] - 1)
        elif name.endswith("linear_attn.A_log"):
            value_width = checkpoint.weights[name.replace("A_log", "norm.weight")].shape[0]
            key_width = checkpoint.config.get("linear_key_head_dim") or 128
            numbers += weight.shape[0] * key_width * value_width
        elif name.endswith("mamba.out_proj.weight"):
            numbers += weight.shape[1] * (checkpoint.config.get("mamba_d_state") or 256)
        elif name.endswith("mixer.out_proj.weight"):
            numbers += weight.shape[1] * (checkpoint.config.get("ssm_state_size") or 128)
    return 4 * numbers


def state_row_nbytes(checkpoint: Checkpoint) -> int:
    """Return the bytes, at most, that layers with states keep of one row until the target has chosen: the
    convolution's inputs, and keys and updates of DeltaNet or Mamba-2."""
    numbers = 0
    for name, weight in checkpoint.weights.items():
        if name.endswith(_CONVOLUTIONS):
            numbers += weight.shape[0]
        if name.endswith(("linear_attn.in_proj_qkv.weight", "linear_attn.in_proj_qkvz.weight")):
            numbers += weight.shape[0]  # there are as many keys as queries, which are not kept
        elif name.endswith(("mamba.conv1d.weight", "mixer.conv1d.weight")):
            numbers += weight.shape[0]  # keys and updates are as many numbers as its inputs, or fewer
    return 4 * numbers
