"""The settings of a P-EAGLE head that an EAGLE-3 head does not have.

The keys are known from the code of vLLM, which reads pard_token or ptd_token_id, and of
vllm-project/speculators, whose heads have mask_token_id and num_depths.
"""

from engine.checkpoints.safetensors import DAMAGED
from engine.errors import BadCheckpoint, UnsupportedModel
from engine.heads.files import HeadsFile

# How many tokens a head guesses if its configuration does not say: as AWS' heads are run by others.
POSITIONS = 7
POSITIONS_LIMIT = 256
_MASKS = ("pard_token", "ptd_token_id", "mask_token_id")
# Further norms, and keys that only heads in the form of speculators have (`engine.heads.speculators`).
_UNSUPPORTED = (
    *("norm_before_fc", "fc_norm", "norm_output"),
    *("transformer_layer_config", "eagle_aux_hidden_state_layer_ids"),
)


def p_eagle_settings(file: HeadsFile) -> tuple[int, int]:
    """Return how many tokens the head guesses, and the id of the mask token. Raises BadCheckpoint if they are
    missing or invalid; UnsupportedModel if the head asks for what is not computed here."""
    config = file.config
    for key in _UNSUPPORTED:
        if config.get(key):
            raise UnsupportedModel(
                f"The heads {file.path.name} ask for {key}, which is not supported.",
                "Choose other heads, or run without them (--draft none).",
            )
    positions = config.get("num_depths", POSITIONS)
    mask = next((config[key] for key in _MASKS if config.get(key) is not None), None)
    if type(positions) is not int or not 1 <= positions <= POSITIONS_LIMIT:
        raise BadCheckpoint(f"config.json is not valid: num_depths is {str(positions)[:40]}.", DAMAGED)
    if type(mask) is not int or mask < 0:
        raise BadCheckpoint(
            f"config.json is not valid: the token for masks (ptd_token_id) is {str(mask)[:40]}.", DAMAGED
        )
    return positions, mask
