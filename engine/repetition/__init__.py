"""How a text repeats itself: the penalty of DRY for repetitions, and answers that go round in a loop.

Works on token ids only. What it computes depends on the tokens alone, so it is the same in plain decoding and
in any tree.
"""

from engine.repetition.dry import Dry
from engine.repetition.loops import LoopDetector

__all__ = ["Dry", "LoopDetector"]
