"""nsfwjs' MobileNet v2 (a Keras model in TensorFlow.js files) -> ONNX.

`input_1` (N,224,224,3) RGB 0..1 -> `output` (N,5), softmax over drawing, hentai, neutral, porn, sexy.
Weights are affine uint8 in base64 inside a JavaScript module, so that no Node.js is needed to read them.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from graph import GraphBuilder

Weights = dict[str, NDArray[np.float32]]


def read_exports(module: Path) -> str:
    """What a bundled JavaScript module exports, as text."""
    (exports,) = re.findall(r'\.exports=([{"].*)\},\{\}\]\},\{\},', module.read_text(encoding="utf-8"), re.DOTALL)
    return exports


def read_object(text: str) -> dict[str, Any]:
    """A minified JavaScript object of plain data: bare keys, `!0` and `!1`, numbers without a leading zero."""
    text = re.sub(r"([{,])([A-Za-z_]\w*):", r'\1"\2":', text)
    text = re.sub(r"(?<=[:,\[-])\.(?=\d)", "0.", text)
    return json.loads(text.replace("!0", "true").replace("!1", "false"))


def read_weights(manifest: list[dict[str, Any]], folder: Path) -> Weights:
    """Every tensor of the weight shards, widened to float32."""
    weights: Weights = {}
    for group in manifest:
        shards = (folder / f"{name.removesuffix('.bin')}.min.js" for name in group["paths"])
        data, position = b"".join(base64.b64decode(json.loads(read_exports(shard))) for shard in shards), 0
        for tensor in group["weights"]:
            scaling = tensor["quantization"]
            stored = np.frombuffer(data, np.uint8, int(np.prod(tensor["shape"])), position)
            position += stored.size
            values = (stored.astype(np.float32) * scaling["scale"] + scaling["min"]).astype(np.float32)
            weights[tensor["name"]] = values.reshape(tensor["shape"])
        if position != len(data):
            raise ValueError(f"{len(data) - position} bytes of weights are left")
    return weights


class _Keras(GraphBuilder):
    """Values are NCHW; weights lie under `layer/kind`."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights

    def layer(self, kind: str, config: dict[str, Any], inputs: list[str]) -> str:
        name = config["name"]
        match kind:
            case "InputLayer":
                return self.op("Transpose", [name], perm=[0, 3, 1, 2])
            case "Conv2D":
                kernel = self.weights[f"{name}/kernel"].transpose(3, 2, 0, 1)
                return self.convolution(inputs[0], kernel, config, groups=1)
            case "DepthwiseConv2D":
                kernel = self.weights[f"{name}/depthwise_kernel"]
                channels = kernel.shape[2]
                kernel = kernel.transpose(2, 3, 0, 1).reshape(-1, 1, *kernel.shape[:2])
                return self.convolution(inputs[0], kernel, config, groups=channels)
            case "BatchNormalization":
                return self.normalization(inputs[0], name, config["epsilon"])
            case "ReLU":
                low, high = self.constant(np.float32(0)), self.constant(np.float32(config["max_value"]))
                return self.op("Clip", [*inputs, low, high])
            case "Add":
                return self.op("Add", inputs)
            case "ZeroPadding2D":
                (top, bottom), (left, right) = config["padding"]
                pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
                return self.op("Pad", [*inputs, self.constant(pads)])
            case "AveragePooling2D":
                return self.op("AveragePool", inputs, kernel_shape=config["pool_size"], strides=config["strides"])
            case "Flatten":
                return self.op("Flatten", [self.op("Transpose", inputs, perm=[0, 2, 3, 1])])
            case "Dense":
                return self.dense(inputs[0], name, config["activation"])
            case "Dropout":
                return inputs[0]
        raise NotImplementedError(f"Keras layer {kind}")

    def convolution(self, value: str, kernel: NDArray[np.float32], config: dict[str, Any], groups: int) -> str:
        """Without bias or activation; `same` padding occurs with stride 1 only."""
        if config["use_bias"] or config["activation"] != "linear":
            raise NotImplementedError("a convolution with bias or activation")
        size = kernel.shape[2:]
        pads = [0] * 4
        if config["padding"] == "same":
            extra = [side - 1 for side in size]
            pads = [e // 2 for e in extra] + [e - e // 2 for e in extra]
        return self.op(
            "Conv",
            [value, self.constant(kernel)],
            kernel_shape=list(size),
            strides=config["strides"],
            dilations=config["dilation_rate"],
            group=groups,
            pads=pads,
        )

    def normalization(self, value: str, name: str, epsilon: float) -> str:
        kinds = ("gamma", "beta", "moving_mean", "moving_variance")
        gamma, beta, mean, variance = (self.weights[f"{name}/{kind}"] for kind in kinds)
        scale = gamma / np.sqrt(variance + epsilon)
        scaled = self.op("Mul", [value, self.constant(scale.reshape(1, -1, 1, 1).astype(np.float32))])
        return self.op("Add", [scaled, self.constant((beta - mean * scale).reshape(1, -1, 1, 1).astype(np.float32))])

    def dense(self, value: str, name: str, activation: str) -> str:
        product = self.op("MatMul", [value, self.constant(self.weights[f"{name}/kernel"])])
        total = self.op("Add", [product, self.constant(self.weights[f"{name}/bias"])])
        return self.op("Relu", [total]) if activation == "relu" else self.op("Softmax", [total], axis=-1)


def convert(folder: Path) -> onnx.ModelProto:
    """Read dist/models/mobilenet_v2 of the package and build the network."""
    model = read_object(read_exports(folder / "model.min.js"))
    layers = model["modelTopology"]["model_config"]["config"]["layers"]
    net = _Keras(read_weights(model["weightsManifest"], folder))
    values: dict[str, str] = {}
    result = ""
    for layer in layers:
        inputs = [values[node[0]] for node in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else []
        result = values[layer["name"]] = net.layer(layer["class_name"], layer["config"], inputs)
    net.rename(result, "output")
    first = layers[0]["config"]
    return net.model(
        "nsfwjs_mobilenet_v2",
        {first["name"]: ["N", *first["batch_input_shape"][1:]]},
        {"output": ["N", 5]},
        "convert_tfjs.py",
    )
