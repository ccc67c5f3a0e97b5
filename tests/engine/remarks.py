"""One remark about an answer for each sentence that there must be."""

from typing import get_args

from engine.protocol import (
    AnswerRemark,
    FewLogProbs,
    Hindrance,
    PromptsDropped,
    SmallerPlan,
    TookTurns,
    Withheld,
)

REMARKS: list[AnswerRemark] = [
    *(TookTurns(why=why, drafter="sps") for why in get_args(Hindrance)),
    SmallerPlan(full="ram", vram=0, ram=20, ssd=10, context=2048),
    SmallerPlan(full="vram", vram=12, ram=18, ssd=0, context=512, without="heads"),
    SmallerPlan(full="vram", vram=30, ram=0, ssd=0, context=512, without="own_layer"),
    PromptsDropped(),
    Withheld(),
    FewLogProbs(told=3, tokens=1200),
]
