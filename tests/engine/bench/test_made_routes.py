"""Made-up weights route as stated, also as files store them."""

import gguf
import numpy as np

from engine.bench.made_routes import routers, signs_of
from engine.bench.made_routing import Routing, routed
from tests.real.stored_signs import as_q4_k, as_q6_k, successors

ROUTING = Routing(layers=3, experts=16, chosen=4, passes=40)
WIDTH = 256


def test_each_token_of_the_trace_chooses_the_experts_of_its_pass() -> None:
    signs = signs_of(40, WIDTH)
    solved = routers(ROUTING, signs)
    inputs = np.where(signs, np.float32(1), np.float32(-1))
    for turn, each in enumerate(routed(ROUTING)):
        step, layer = divmod(turn, ROUTING.layers)
        chosen = np.argsort(-(solved[layer] @ inputs[step]))[: ROUTING.chosen]
        assert sorted(chosen + layer * ROUTING.experts) == each.wanted


def test_the_head_says_the_next_token_of_the_trace() -> None:
    signs, trace = signs_of(60, WIDTH), [7, 3, 50, 21]
    head = gguf.dequantize(as_q6_k(*successors(trace, signs)), gguf.GGMLQuantizationType.Q6_K)
    embedding = gguf.dequantize(as_q4_k(signs, 64.0), gguf.GGMLQuantizationType.Q4_K)
    assert np.array_equal(embedding, np.where(signs, 64.0, -64.0))
    assert (embedding[trace[:-1]] @ head.T).argmax(1).tolist() == trace[1:]
