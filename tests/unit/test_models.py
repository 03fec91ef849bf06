"""The networks of the papers: sizes, shapes, initial values."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from outagefl import components
from outagefl.errors import ConfigError
from outagefl.training.initial import initial_model, initialise
from outagefl.training.parameters import BoundModel
from outagefl.training.seeding import torch_seed

CIFAR10 = {"kind": "cnn", "channels": [32, 32], "hidden": [256, 64]}
SVHN = {"kind": "cnn", "channels": [32, 32], "hidden": [128]}
CINIC10 = {"kind": "cnn", "channels": [32, 32], "hidden": [512, 256], "dropout": 0.2}
MLP = {"kind": "mlp", "hidden": [256, 256], "dropout": 0.1}
RESIDUAL = {"kind": "residual_cnn", "channels": [64, 128, 128], "hidden": [256], "dropout": 0.2}
RESNET = {"kind": "resnet18"}
DIGITS = {"kind": "cnn", "channels": [16, 32], "hidden": [64]}


def size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("settings", "parameters"), [(CIFAR10, 551_786), (SVHN, 273_706), (CINIC10, 1_193_130)])
def test_the_networks_of_fedswe_have_the_published_size(settings: dict[str, Any], parameters: int) -> None:
    assert size(initial_model(settings, (32, 32, 3), 10, seed=0)) == parameters


@pytest.mark.parametrize(
    ("settings", "shape", "classes", "parameters", "statistics", "chunks"),
    [
        (MLP, (28, 28, 1), 47, 279_343, 0, 799),
        (RESIDUAL, (32, 32, 3), 10, 591_562, 1_280, 1_694),
        (RESNET, (32, 32, 3), 10, 11_173_962, 9_600, 31_954),
    ],
    ids=["mlp", "residual_cnn", "resnet18"],
)
def test_the_networks_of_dflaa_have_the_published_size(
    settings: dict[str, Any], shape: tuple[int, int, int], classes: int, parameters: int, statistics: int, chunks: int
) -> None:
    """Its chunks of 350 numbers hold parameters and running statistics alike."""
    module = initial_model(settings, shape, classes, seed=0)
    row = BoundModel(module).row()
    assert (size(module), len(row) - size(module)) == (parameters, statistics)
    assert -(-len(row) // 350) == chunks
    assert module(torch.zeros(2, shape[2], *shape[:2])).shape == (2, classes)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [(RESNET, (9, 12, 1)), ({**RESIDUAL, "channels": [4, 8, 8], "hidden": []}, (8, 8, 1))],
    ids=["resnet18", "residual_cnn"],
)
def test_a_single_image_can_be_trained_on_down_to_the_smallest_size(
    settings: dict[str, Any], shape: tuple[int, int, int]
) -> None:
    """And smaller ones, of which the last BatchNorm would see one pixel, are refused."""
    height, width, depth = shape
    module = initial_model(settings, shape, 3, seed=0)
    module(torch.rand(1, depth, height, width)).sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in module.parameters())
    with pytest.raises(ConfigError, match=f"found {height - 1}×|halves images of {height - 1}×"):
        initial_model(settings, (height - 1, width, depth), 3, seed=0)


def test_only_a_stage_that_keeps_its_width_has_a_skip() -> None:
    """With the second BatchNorm silenced, nothing but the skip comes through."""
    layers = list(initial_model({**RESIDUAL, "channels": [4, 8, 8]}, (16, 16, 3), 10, seed=0))
    for stage, inputs, skips in zip(layers[:3], (3, 4, 8), (False, False, True), strict=True):
        nn.init.zeros_(stage.branch[-1].weight)
        images = torch.rand(2, inputs, 8, 8, generator=torch.Generator().manual_seed(0))
        found = stage(images)
        assert torch.equal(found, nn.functional.max_pool2d(images, 2) if skips else torch.zeros_like(found))


def test_the_mlp_by_its_layers() -> None:
    names = [type(layer).__name__ for layer in initial_model(MLP, (28, 28, 1), 47, seed=0)]
    assert names == ["Flatten", *["Linear", "LayerNorm", "ReLU"] * 2, "Dropout", "Linear"]


@pytest.mark.parametrize(
    ("shape", "classes"), [((8, 8, 1), 10), ((32, 32, 3), 100), ((28, 28, 1), 62), ((9, 13, 2), 3)]
)
def test_any_image_shape_gives_one_logit_per_class(shape: tuple[int, int, int], classes: int) -> None:
    module = initial_model(DIGITS, shape, classes, seed=0)
    height, width, channels = shape
    assert module(torch.zeros(5, channels, height, width)).shape == (5, classes)


def test_pooling_before_relu_is_the_same_network() -> None:
    """The paper's order, convolution, ReLU, max-pooling, with the same weights: same outputs, same gradients."""
    ours = initial_model(DIGITS, (8, 8, 3), 10, seed=0)
    layers = list(ours)
    published = nn.Sequential(*[layers[i] for i in (0, 2, 1, 3, 5, 4, 6, 7, 8, 9)])
    images = torch.randn(16, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    gradients = []
    for network in (ours, published):
        network.zero_grad()
        network(images).square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in ours.parameters()])
    assert [type(layer).__name__ for layer in published][:3] == ["Conv2d", "ReLU", "MaxPool2d"]
    torch.testing.assert_close(ours(images), published(images))
    torch.testing.assert_close(gradients[0], gradients[1])


def test_dropout_comes_before_every_linear_layer() -> None:
    names = [type(layer).__name__ for layer in initial_model(CINIC10, (32, 32, 3), 10, seed=0)]
    convolutions = ["Conv2d", "MaxPool2d", "ReLU"] * 2
    assert names == [*convolutions, "Flatten", *["Dropout", "Linear", "ReLU"] * 2, "Dropout", "Linear"]


def test_without_dropout_there_is_no_such_layer() -> None:
    plain, zero = (list(initial_model(DIGITS | extra, (8, 8, 1), 10, seed=0)) for extra in ({}, {"dropout": 0}))
    assert [type(layer) for layer in plain] == [type(layer) for layer in zero]
    assert not any(isinstance(layer, nn.Dropout) for layer in plain)


def test_the_head_may_start_as_pytorch_leaves_it() -> None:
    """Uniform within ±1/√fan_in, bias included; all other layers are the same as without."""
    kaiming, pytorch = (initial_model(CIFAR10, (32, 32, 3), 10, 0, head) for head in ("kaiming", "pytorch"))
    *others, weight, bias = pytorch.parameters()
    assert all(torch.equal(a, b) for a, b in zip(kaiming.parameters(), others, strict=False))
    for values in (weight, bias):
        assert 0.07 < values.abs().max() <= 1 / 8
    assert weight.std().item() == pytest.approx(1 / 8 / 3**0.5, rel=0.1)
    again = list(initial_model(CIFAR10, (32, 32, 3), 10, 0, "pytorch").parameters())
    assert torch.equal(again[-1], bias)


def test_an_unknown_head_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"head_init: .*did you mean 'pytorch'"):
        initial_model(DIGITS, (8, 8, 1), 10, 0, "torch")


def test_the_network_may_start_as_pytorch_leaves_it() -> None:
    """What its constructors draw from the global generator, but from the seed's own draws."""
    found, again, other = (initial_model(SVHN, (32, 32, 3), 10, seed, scheme="pytorch") for seed in (3, 3, 4))
    with torch.random.fork_rng():
        torch.manual_seed(torch_seed(3, "init"))
        build, options = components.load("model", SVHN)
        expected = build((32, 32, 3), 10, **options)
    rows = [BoundModel(module).row() for module in (found, expected, again, other)]
    assert torch.equal(rows[0], rows[1])
    assert torch.equal(rows[0], rows[2])
    assert not torch.equal(rows[0], rows[3])


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"init: .*did you mean 'pytorch'"):
        initial_model(DIGITS, (8, 8, 1), 10, 0, scheme="torch")


def test_weights_are_kaiming_and_biases_zero() -> None:
    module = initial_model(CIFAR10, (32, 32, 3), 10, seed=0)
    for layer in module:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            fan_in = layer.weight[0].numel()
            assert layer.weight.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.1)
            assert not layer.bias.any()


def test_the_initial_model_belongs_to_the_seed() -> None:
    first, again, other = (list(initial_model(SVHN, (32, 32, 3), 10, seed).parameters()) for seed in (3, 3, 4))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])


def test_the_global_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    initial_model(DIGITS, (8, 8, 1), 10, 0, "pytorch")
    initial_model(DIGITS, (8, 8, 1), 10, 0, scheme="pytorch")
    assert torch.equal(torch.get_rng_state(), before)


def test_normalisation_layers_start_neutral() -> None:
    with torch.device("meta"):
        module = nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.Flatten(), nn.LayerNorm(4))
    module.to_empty(device="cpu")
    initialise(module, torch.Generator().manual_seed(0))
    for layer in (module[1], module[3]):
        assert torch.equal(layer.weight, torch.ones(4))
        assert torch.equal(layer.bias, torch.zeros(4))
    assert torch.equal(module[1].running_mean, torch.zeros(4))
    assert torch.equal(module[1].running_var, torch.ones(4))


def test_a_layer_nobody_initialises_is_refused() -> None:
    with pytest.raises(TypeError, match="GRU"):
        initialise(nn.GRU(2, 2), torch.Generator())


def test_a_misspelt_option_is_refused_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'channels'"):
        components.load("model", {"kind": "cnn", "chanels": [1], "hidden": []})
