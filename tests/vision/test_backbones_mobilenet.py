"""The mapping is checked against the architecture itself, written out with torchvision's names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import batch_norm, conv2d, relu6

from rankwise.errors import UsageError
from rankwise.vision.backbones import MobileNetV2, from_torchvision

FILE = Path(__file__).parents[4].parent / "shared/data/weights/mobilenet_v2-b0353104.pth"
# Sandler et al. 2018, Table 2: expansion, channels, how often, stride of the first.
TABLE = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2)]
TABLE += [(6, 320, 1, 1)]


def blocks() -> list[tuple[int, int, int, int]]:
    """Expansion, channels in, channels out, stride of every block."""
    found, taken = [], 32
    for expansion, given, times, stride in TABLE:
        for number in range(times):
            found.append((expansion, taken, given, stride if number == 0 else 1))
            taken = given
    return found


def random_state() -> dict[str, Tensor]:
    """Weights by torchvision's names, as large as its file's, with statistics of their own."""
    rng = torch.Generator().manual_seed(0)
    state: dict[str, Tensor] = {}

    def layer(convolution: str, norm: str, *shape: int) -> None:
        state[f"{convolution}.weight"] = 0.3 * torch.randn(*shape, generator=rng)
        for leaf, low in (("weight", 0.5), ("bias", -0.5), ("running_mean", -0.5)):
            state[f"{norm}.{leaf}"] = torch.rand(shape[0], generator=rng) + low
        state[f"{norm}.running_var"] = torch.rand(shape[0], generator=rng) + 0.5
        state[f"{norm}.num_batches_tracked"] = torch.tensor(7)

    layer("features.0.0", "features.0.1", 32, 3, 3, 3)
    for number, (expansion, taken, given, _) in enumerate(blocks(), 1):
        name, wide, at = f"features.{number}.conv", expansion * taken, 0
        if expansion > 1:
            layer(f"{name}.0.0", f"{name}.0.1", wide, taken, 1, 1)
            at = 1
        layer(f"{name}.{at}.0", f"{name}.{at}.1", wide, 1, 3, 3)
        layer(f"{name}.{at + 1}", f"{name}.{at + 2}", given, wide, 1, 1)
    layer("features.18.0", "features.18.1", 1280, 320, 1, 1)
    state["classifier.1.weight"] = torch.zeros(1000, 1280)
    state["classifier.1.bias"] = torch.zeros(1000)
    return state


def by_hand(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """The forward pass in evaluation, as the paper draws it: ReLU6, linear bottlenecks."""

    def layer(x: Tensor, convolution: str, norm: str, stride: int = 1, groups: int = 1) -> Tensor:
        weight = state[f"{convolution}.weight"]
        x = conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2, groups=groups)
        mean, variance = state[f"{norm}.running_mean"], state[f"{norm}.running_var"]
        return batch_norm(x, mean, variance, state[f"{norm}.weight"], state[f"{norm}.bias"])

    x = relu6(layer(x, "features.0.0", "features.0.1", stride=2))
    for number, (expansion, taken, given, stride) in enumerate(blocks(), 1):
        name, before, at = f"features.{number}.conv", x, 0
        if expansion > 1:
            x, at = relu6(layer(x, f"{name}.0.0", f"{name}.0.1")), 1
        x = relu6(layer(x, f"{name}.{at}.0", f"{name}.{at}.1", stride, expansion * taken))
        x = layer(x, f"{name}.{at + 1}", f"{name}.{at + 2}")
        x = x + before if stride == 1 and taken == given else x
    return relu6(layer(x, "features.18.0", "features.18.1")).mean((2, 3))


def check(state: dict[str, Tensor], path: Path) -> None:
    network = MobileNetV2(str(path)).eval().double()
    state = {name: value.double() for name, value in state.items()}
    own = network.model.state_dict()
    ours = from_torchvision(state, own)
    assert ours.keys() == own.keys()  # every place is filled
    assert len(ours) == len(state) - 2  # and every weight used, but the classifier's two
    pictures = torch.randn(2, 3, 64, 48, generator=torch.manual_seed(1)).double()
    with torch.no_grad():
        found = network(pictures)
        torch.testing.assert_close(found, by_hand(state, pictures))
    assert found.shape == (2, 1280) == (2, network.channels)
    assert found.isfinite().all()
    assert found.std() > 0


def test_weights_of_these_names_give_the_network_of_the_paper(tmp_path):
    state = random_state()
    torch.save(state, tmp_path / "weights.pth")
    check(state, tmp_path / "weights.pth")


if FILE.exists():

    def test_the_weights_of_imagenet():
        state = torch.load(FILE, weights_only=True)
        assert state.keys() == random_state().keys()
        check(state, FILE)


def test_stages_halve_the_picture():
    network, sizes = MobileNetV2(), []
    for stage in network.stages:
        stage.register_forward_hook(lambda _, __, given: sizes.append(given.shape[-1]))
    network(torch.rand(2, 3, 64, 64))
    assert sizes == [16, 8, 4, 2]


def test_files_that_hold_something_else(tmp_path):
    path = tmp_path / "weights.pth"
    with pytest.raises(UsageError, match="there is no such file"):
        MobileNetV2(str(path))
    torch.save({"layer1.0.weight": torch.zeros(1)}, path)
    with pytest.raises(UsageError, match="MobileNetV2 by torchvision's names: unknown name layer1"):
        MobileNetV2(str(path))
    state = random_state()
    torch.save(state | {"features.19.0.weight": torch.zeros(1)}, path)
    with pytest.raises(UsageError, match="torchvision's names: it has 105 layers instead of 104"):
        MobileNetV2(str(path))
    torch.save(dict(list(state.items())[:20]), path)
    with pytest.raises(UsageError, match="does not hold MobileNetV2"):
        MobileNetV2(str(path))
    path.write_bytes(b"nonsense")
    with pytest.raises(UsageError, match="does not hold MobileNetV2"):
        MobileNetV2(str(path))
