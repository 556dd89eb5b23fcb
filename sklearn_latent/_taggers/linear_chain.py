# SPDX-License-Identifier: BSD-3-Clause
"""What `LatentCRFTagger` trains: topology, support and objective of a linear chain with latent states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lattice import latent_topology
from .._objective import ChainObjective, Chunk
from .._scorers import Design
from .._scorers.support import full_support, observed_support
from .model import LinearChainModel, check_size, fits, latent_weights
from .options import allowed_moves, edge_feature_indices, latent_counts, prior_scale
from .training import TrainingSet, refuse_forbidden

__all__ = ["build"]


def build(tagger, data: TrainingSet) -> tuple[LinearChainModel, ChainObjective, list[Chunk]]:
    """The model without its weights, its objective, and the corpus cut into chunks.

    Raises
    ------
    ValueError
        If the constraints forbid the labels of a sequence.
    ModelTooLargeError
    """
    matrix, classes = data.X, data.classes
    moves, start_allowed, end_allowed = allowed_moves(tagger.constraints, classes)
    counts = latent_counts(tagger.n_latent, classes)
    n_features, S = matrix.n_features, int(counts.sum())
    check_size(0, S)
    edge_only = np.zeros(n_features, dtype=bool) if matrix.edge_only is None else matrix.edge_only
    edges = edge_feature_indices(tagger.edge_features, n_features, lambda: matrix.feature_names)
    edges = np.union1d(edges, np.flatnonzero(edge_only)).astype(np.int64)
    rules: dict[str, Any] = {"edge_features": edges, "edge_only": edge_only}
    _check_weights(tagger, data, counts, moves, rules)
    topology = latent_topology(counts, moves)
    row_bytes = topology.row_bytes(arc_rows_differ=len(edges) > 0)
    chunks = data.chunks(row_bytes)
    rules["start_allowed"] = None if start_allowed is None else start_allowed[topology.state_label]
    rules["end_allowed"] = None if end_allowed is None else end_allowed[topology.state_label]
    if tagger.support == "all":
        support = full_support(topology, n_features, **rules)
    else:
        parts = [(chunk.design, chunk.codes, chunk.offsets) for chunk in chunks]
        support = observed_support(topology, n_features, parts, **rules)
    if not tagger._boundary_weights:
        none = np.empty(0, dtype=np.int64)
        support = replace(support, start=none, end=none)
    model = LinearChainModel(topology, support, {}, edges)
    objective = model.objective(sp.issparse(matrix.values), prior_scale(tagger.sigma), split=tagger.solver == "lbfgs")
    check_size(objective.packing.size, S)
    if tagger.constraints is not None:
        refuse_forbidden(tagger, objective, data, moves, start_allowed, end_allowed)
    return model, objective, chunks


def _check_weights(tagger, data: TrainingSet, counts: np.ndarray, moves: np.ndarray | None, rules: dict) -> None:
    """Refuse a model with too many weights before there is anything of their size."""
    S, n_features = int(counts.sum()), data.X.n_features
    n_arcs = S * S if moves is None else int(counts @ moves @ counts)
    most = n_features * S + (len(rules["edge_features"]) + 1) * n_arcs
    if fits(most, S):
        return
    if tagger.support == "observed":
        labels = latent_topology(np.ones(len(counts), dtype=np.int64), moves)
        parts = [(Design(data.X.values), data.codes, data.X.offsets)]
        most = latent_weights(labels, observed_support(labels, n_features, parts, **rules), counts)
    check_size(most, S)
