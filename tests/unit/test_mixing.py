"""The product of mixing weights and models."""

import numpy as np
import pytest
import torch

from outagefl.engines import mixing
from outagefl.rules.gossip_view import normalise


@pytest.mark.parametrize("neighbours", [0, 2, 11])
@pytest.mark.parametrize("offline", [[], [1, 4], list(range(1, 12)), list(range(12))])
def test_all_receivers_mix_the_models_from_before_however_many_neighbours_and_columns(
    neighbours: int, offline: list[int]
) -> None:
    """Both products, sparse and full, in blocks of columns; who does not mix keeps every bit of its model."""
    clients, rng = 12, np.random.default_rng(0)
    models = torch.from_numpy(rng.normal(size=(clients, 2 * mixing.COLUMNS["cpu"] + 3)).astype(np.float32))
    mixes = ~np.isin(np.arange(clients), offline)
    ring = np.abs(np.arange(clients)[:, None] - np.arange(clients)) <= neighbours
    weights = normalise(
        rng.random((clients, clients)) + 0.1, (ring & np.outer(mixes, mixes)) | np.eye(clients, dtype=bool)
    )
    expected, before = weights @ models.double().numpy(), models.clone()
    mixing.mix(models, weights, mixes)
    np.testing.assert_allclose(models.numpy(), expected, atol=1e-6)
    assert torch.equal(models[~mixes], before[~mixes])


def test_both_products_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of them is taken is a matter of time alone."""
    rng = np.random.default_rng(1)
    models = torch.from_numpy(rng.normal(size=(9, 50)).astype(np.float32))
    weights = normalise(rng.random((9, 9)), (rng.random((9, 9)) < 0.5) | np.eye(9, dtype=bool))
    found = []
    for share in (0, 2):
        monkeypatch.setattr(mixing, "DENSE_FROM", share)
        found.append(models.clone())
        mixing.mix(found[-1], weights, np.ones(9, dtype=bool))
    torch.testing.assert_close(*found, rtol=0, atol=1e-6)
