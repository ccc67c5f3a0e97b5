"""One remark about a load or an answer for each sentence that there must be, and what the terminal says."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import get_args

from engine import ways
from engine.cli.remarks import about_remark
from engine.protocol import (
    CardRefused,
    CardUnreachable,
    DamagedWeights,
    FewLogProbs,
    Hindrance,
    KernelFault,
    LittleFreeRam,
    OtherEnds,
    OtherSplitting,
    OtherTemplate,
    PromptsDropped,
    Remark,
    RenamedToken,
    SaferWay,
    SmallerPlan,
    SpecialInOne,
    TextOnly,
    TookTurns,
    UnlistedArchitecture,
    Withheld,
)

GIB = 2**30
FAULTS: tuple[KernelFault, ...] = get_args(KernelFault)


def _about_cards() -> Iterator[Remark]:
    """Yield a remark about each way of each kernel, and about each fault."""
    for kind, ladder in ways.LADDERS.items():
        names = [way.name for way in ladder.ways]
        for failed, way in pairwise(names):
            yield SaferWay(kernel=kind, failed=failed, fault="wrong", way=way)
        yield CardRefused(kernel=kind, failed=names[-1], fault="failed")
    for fault in FAULTS:
        yield CardRefused(kernel="dense bfloat16", failed="card", fault=fault)
    yield SaferWay(kernel="unpack Q4_K bfloat16", failed="triton", fault="hung", way="torch")
    yield CardUnreachable()


REMARKS: list[Remark] = [
    *(TookTurns(why=why, drafter="sps") for why in get_args(Hindrance)),
    SmallerPlan(full="ram", vram=0, ram=20, ssd=10, context=2048),
    SmallerPlan(full="vram", vram=12, ram=18, ssd=0, context=512, without="heads"),
    SmallerPlan(full="vram", vram=30, ram=0, ssd=0, context=512, without="own_layer"),
    PromptsDropped(),
    Withheld(),
    FewLogProbs(told=3, tokens=1200),
    DamagedWeights(model="tiny.gguf", damaged=3, weights=1200, first="model.norm.weight"),
    LittleFreeRam(free_nbytes=3 * GIB, limit_nbytes=8 * GIB),
    UnlistedArchitecture(model="tiny.gguf", architecture="arcee"),
    TextOnly(model="tiny.gguf"),
    *_about_cards(),
    OtherEnds(target=("<|stop|>", "<|end|>"), draft=()),
    RenamedToken(token=1200, target="<|stop|>", draft="<|other|>"),
    SpecialInOne(other="text", tokens=1200, first="<|start|>"),
    SpecialInOne(other="missing", tokens=1, first="<|call|>"),
    OtherSplitting(),
    OtherTemplate(lacks="target"),
    OtherTemplate(lacks="draft"),
    OtherTemplate(lacks=None),
]


def said(remarks: Iterable[Remark]) -> str:
    """Return what the terminal says of remarks."""
    return " ".join(map(about_remark, remarks))
