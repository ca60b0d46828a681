from __future__ import annotations

import onnx
import onnxruntime
from onnx import TensorProto, helper

from detaudit.seeding import set_seeds


def test_later_sessions_draw_from_the_seed() -> None:
    node = helper.make_node("RandomUniform", [], ["y"], shape=[4])
    graph = helper.make_graph(
        [node], "random", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)

    def draw(seed: int) -> list[float]:
        set_seeds(seed, runtimes=True)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        values: list[float] = session.run(None, {})[0].tolist()
        return values

    assert draw(5) == draw(5)
    assert draw(5) != draw(6)
