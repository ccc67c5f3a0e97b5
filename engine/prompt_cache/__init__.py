"""Keys and values of texts that a model has read before, so that they are not computed again when another
conversation comes in between, or after a restart."""

from engine.prompt_cache.blocks import BLOCK, Block, PromptCache
from engine.prompt_cache.files import BlockFiles
from engine.prompt_cache.known_rows import KnownRows

__all__ = ["BLOCK", "Block", "BlockFiles", "KnownRows", "PromptCache"]
