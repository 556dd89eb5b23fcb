# SPDX-License-Identifier: BSD-3-Clause
"""Sum-product networks against enumeration, a recursion and finite differences; the scorer against its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.networks import circuits, enumerated, offset_of, params_of, recursive, window
from sklearn_latent._lattice import ngram_space, seen_ngrams
from sklearn_latent._scorers import Circuit, Design, Place, Slots, SPNScorer
from sklearn_latent._scorers import circuit as circuit_module
from sklearn_latent._scorers.circuit import Inputs

seeds = st.integers(0, 2**32 - 1)


def run(f, ranges):
    for r in ranges:
        f(r)


def batch(circuit, lengths, seed):
    """Features with zeros, extra columns, and the inputs of a circuit in the form asked for."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    X = np.round(rng.standard_normal((offsets[-1], circuit.n_features)), 2) * (
        rng.random((offsets[-1], circuit.n_features)) < 0.7
    )
    extra = (rng.random((offsets[-1], circuit.n_extra)) < 0.5).astype(float) if circuit.n_extra else None
    return X, extra, offsets


def inputs_of(X, extra, offsets, sparse):
    def design(matrix):
        return Design(sp.csr_array(matrix) if sparse else matrix)

    return Inputs.of(design(X), offsets, None if extra is None else design(extra))


@settings(deadline=None)
@given(circuits(small=True), seeds)
def test_every_assignment_of_the_hidden_variables(circuit, seed):
    params = params_of(circuit, seed)
    X, extra, offsets = batch(circuit, [3], seed)
    found = circuit.forward(circuit.prepare(params, False), inputs_of(X, extra, offsets, False))
    rows = window(circuit, X, offsets, extra)
    slow = [[enumerated(circuit, params, row, root) for root in range(circuit.n_roots)] for row in rows]
    np.testing.assert_allclose(found, slow, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(recursive(circuit, params, rows), slow, rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(circuits(), st.lists(st.integers(0, 5), max_size=4), seeds, st.booleans(), st.sampled_from([0.0, 1.0, 50.0]))
def test_forward_is_the_recursion(circuit, lengths, seed, sparse, scale):
    params = params_of(circuit, seed, scale)
    X, extra, offsets = batch(circuit, lengths, seed)
    found = circuit.forward(circuit.prepare(params, sparse), inputs_of(X, extra, offsets, sparse))
    slow = recursive(circuit, params, window(circuit, X, offsets, extra))
    np.testing.assert_allclose(found, slow, rtol=1e-12, atol=1e-12 * (1 + scale) * circuit.n_leaves)


def derivative(circuit, params, inputs, weights, keep):
    """Derivatives of the weighted sum of all roots."""
    prepared = circuit.prepare(params, inputs.design.sparse)
    kept = circuit.keep(len(weights), circuit.kind(inputs.design)) if keep else None
    circuit.forward(prepared, inputs, kept)
    grad = {name: np.zeros(shape) for name, shape in circuit.shapes.items()}
    circuit.add_gradient(prepared, grad, inputs, weights, kept, run)
    return grad


@settings(deadline=None, max_examples=60)
@given(circuits(), st.lists(st.integers(0, 4), max_size=3), seeds, st.booleans(), st.booleans())
def test_gradient_is_a_finite_difference(circuit, lengths, seed, sparse, keep):
    params = params_of(circuit, seed)
    X, extra, offsets = batch(circuit, lengths, seed)
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((len(X), circuit.n_roots))
    rows = window(circuit, X, offsets, extra)
    grad = derivative(circuit, params, inputs_of(X, extra, offsets, sparse), weights, keep)
    for name, value in params.items():
        for cell in rng.choice(value.size, size=min(value.size, 12), replace=False):
            ends = []
            for step in (1e-5, -1e-5):
                moved = {**params, name: value.copy()}
                moved[name].reshape(-1)[cell] += step
                ends.append((weights * recursive(circuit, moved, rows)).sum())
            slow = (ends[0] - ends[1]) / 2e-5
            # Differences of sums of some hundred terms, over 1e-5; a maximum may change over within the step.
            np.testing.assert_allclose(grad[name].reshape(-1)[cell], slow, rtol=1e-5, atol=1e-6)


@settings(deadline=None)
@given(circuits(np.float32), st.lists(st.integers(0, 5), max_size=4), seeds)
def test_single_precision(circuit, lengths, seed):
    params = params_of(circuit, seed)
    X, extra, offsets = batch(circuit, lengths, seed)
    inputs = inputs_of(X, extra, offsets, False)
    found = circuit.forward(circuit.prepare(params, False), inputs)
    slow = recursive(circuit, params, window(circuit, X, offsets, extra))
    # Some ten units in the last place of sums of n_leaves terms of size ten.
    np.testing.assert_allclose(found, slow, rtol=1e-5, atol=1e-5 * max(10, circuit.n_leaves / circuit.n_roots))
    if circuit.use_max:
        return  # maxima that are equal in single precision are another matter
    weights = np.random.default_rng(seed).standard_normal((len(X), circuit.n_roots))
    single = derivative(circuit, params, inputs, weights, True)
    double = derivative(replace(circuit, dtype=np.dtype(np.float64)), params, inputs, weights, True)
    for name in single:
        np.testing.assert_allclose(single[name], double[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_many_tokens_are_taken_in_steps(monkeypatch, keep, sparse):
    """Windows reach over the edges of steps; what is made again is what would have been kept."""
    circuit = Circuit(3, 2, 2, 2, 2, n_observations=3)
    params = params_of(circuit, 0)
    X, extra, offsets = batch(circuit, [40, 1, 0, 300, 59], 0)
    weights = np.random.default_rng(1).standard_normal((400, 2))
    whole = derivative(circuit, params, inputs_of(X, extra, offsets, False), weights, True)
    monkeypatch.setattr(circuit_module, "_STEP_BYTES", 1)
    steps = Circuit(3, 2, 2, 2, 2, n_observations=3)
    assert steps.step == 128
    inputs = inputs_of(X, extra, offsets, sparse)
    found = steps.forward(steps.prepare(params, sparse), inputs)
    np.testing.assert_allclose(found, recursive(circuit, params, window(circuit, X, offsets, extra)), rtol=1e-12)
    for name, value in derivative(steps, params, inputs, weights, keep).items():
        np.testing.assert_allclose(value, whole[name], rtol=1e-11, atol=1e-12)


def test_scores_beyond_exp():
    """Leaves hundreds of units apart, sums of many products, and leaves that are no numbers."""
    circuit = Circuit(1, 1, 1, 250, 2)
    params = {"coef": np.zeros((1, 500)), "bias": np.zeros(501)}
    prepared = circuit.prepare(params, False)
    design = Design(np.ones((1, 1)))
    assert circuit.forward(prepared, Inputs.of(design, np.array([0, 1])))[0, 0] == pytest.approx(0.0, abs=1e-11)
    for dtype in (np.float64, np.float32):
        wide = Circuit(1, 1, 1, 3000, 3, dtype=np.dtype(dtype))
        params = {"coef": np.full((1, 9000), 1e4), "bias": np.zeros(9001)}
        found = wide.forward(wide.prepare(params, False), Inputs.of(design, np.array([0, 1])))
        np.testing.assert_allclose(found, 3e7, rtol=1e-6)
    params = {"coef": np.array([[-1000.0, 1000.0]]), "bias": np.zeros(3)}
    pair = Circuit(1, 1, 1, 1, 2)
    found = pair.forward(pair.prepare(params, False), Inputs.of(design, np.array([0, 1])))
    assert found[0, 0] == 1000.0 - np.log(2.0)
    params["coef"][0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        found = pair.forward(pair.prepare(params, False), Inputs.of(design, np.array([0, 1])))
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("shape", "value"),
    [((1, 2, 2), 1.386), ((1, 1, 4), 1.386), ((2, 2, 3), 6.592), ((3, 2, 3), 15.381), ((3, 2, 4), 19.408)],
)  # fmt: skip
def test_offsets_of_the_reference(shape, value):
    """The table of papers.md 2.1."""
    circuit = Circuit(1, 1, *shape)
    assert circuit.offset == pytest.approx(value, abs=5e-4)
    assert circuit.offset == pytest.approx(offset_of(circuit))


def test_hidden_unit_network():
    """c_y + sum_i log(1 + exp(b_iy + w_i x)), less what it is at zero (van der Maaten et al. 2011)."""
    circuit = Circuit(4, 3, 1, 5, 2, tied=True)
    params = params_of(circuit, 0)
    X = np.random.default_rng(1).standard_normal((6, 4))
    c, V = params["bias"][:3], params["bias"][3:].reshape(5, 3)
    slow = c + np.logaddexp(0.0, (X @ params["coef"])[:, :, None] + V).sum(axis=1) - 5 * np.log(2)
    found = circuit.forward(circuit.prepare(params, False), Inputs.of(Design(X), np.array([0, 6])))
    np.testing.assert_allclose(found, slow, rtol=1e-12)
    assert circuit.shapes == {"coef": (4, 5), "bias": (18,)}


# -- scorer -----------------------------------------------------------------------------------------


def letters_scorer(seed, forbid, n_latent, circuits_of, sparse=False, on=(1, 2, 3)):
    """Factors over one, two and three labels on a small corpus's n-grams of up to three; the last ones are on arcs."""
    rng = np.random.default_rng(seed)
    codes, offsets = rng.integers(0, 3, 30).astype(np.int32), np.array([0, 4, 4, 5, 15, 30])
    ngrams = {n: seen_ngrams(codes, offsets, n, 3) for n in (2, 3)}
    space = ngram_space(np.array(n_latent), ngrams, carried=(2,), forbid=forbid)
    top = space.topology
    made, places = [], []
    for n in on:
        rows = ngrams.get(n, np.arange(3, dtype=np.int32)[:, None])
        column, root = space.states_of(rows) if n < 3 else space.arcs_of(rows)
        made.append(circuits_of(n, len(rows)))
        places.append(Place.of(n == 3, column, root))
    pairs = [space.arcs_of(rows) for rows in ngrams.values()]
    slots = Slots(
        sum(map(len, ngrams.values())),
        np.concatenate([arc for arc, _ in pairs]),
        np.concatenate([pairs[0][1], len(ngrams[2]) + pairs[1][1]]),
    )
    boundary = Slots(3, np.arange(top.n_states), top.state_label)
    return SPNScorer(top, made, places, slots, boundary, space.starts, None, sparse=sparse), codes, offsets, ngrams


@settings(deadline=None, max_examples=30)
@given(seeds, st.booleans(), st.booleans(), st.lists(st.integers(1, 2), min_size=3, max_size=3))
def test_scorer_adds_up_and_comes_back(seed, forbid, sparse, n_latent):
    """Scores are those of the parts; derivatives in the scores come back as finite differences of the parameters."""
    scorer, _, offsets, _ = letters_scorer(
        seed, forbid, n_latent, lambda n, k: Circuit(2, k, n - 1, 2, 2, n_observations=n), sparse
    )
    rng = np.random.default_rng(seed + 1)
    X = rng.standard_normal((30, 2))
    design = Design(sp.csr_array(X) if sparse else X)
    params = {name: rng.standard_normal(shape) for name, shape in scorer.shapes().items()}
    prepared = scorer.prepare(params)
    kept = scorer.keep(30)
    node, arc = scorer.forward(prepared, design, offsets, kept)
    firsts, lasts = offsets[:-1][np.diff(offsets) > 0], offsets[1:][np.diff(offsets) > 0] - 1
    slow_node = np.zeros_like(node)
    for k, (circuit, place) in enumerate(zip(scorer.circuits, scorer.places, strict=True)):
        own = {name: params[f"{name}_{k}"] for name in circuit.shapes}
        roots = recursive(circuit, own, window(circuit, X, offsets, None))
        target = arc if place.on_arcs else slow_node
        for column, root in zip(place.column, place.root, strict=True):
            target[:, column] += -roots[:, root] if place.on_arcs else roots[:, root]
    slow_node[firsts] += params["start"][scorer.topology.state_label]
    slow_node[firsts[:, None], ~scorer.start_allowed] = -np.inf
    slow_node[lasts] += params["end"][scorer.topology.state_label]
    np.testing.assert_allclose(node, slow_node, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(arc, np.repeat(prepared["arc"], 30, axis=0), rtol=1e-10, atol=1e-10)

    node_delta = np.where(np.isfinite(node), rng.standard_normal(node.shape), 0.0)
    arc_delta = rng.standard_normal((30, scorer.topology.n_arcs))
    grad = {name: np.zeros_like(value) for name, value in params.items()}
    buffers = scorer.gradient_buffers(grad, prepared)
    scorer.add_gradient(buffers, design, offsets, node_delta, arc_delta, run, kept)
    scorer.finish_gradient(buffers, grad)
    again = {name: np.zeros_like(value) for name, value in params.items()}
    scorer.add_gradient(scorer.gradient_buffers(again, prepared), design, offsets, node_delta, arc_delta, run)

    def total(moved):
        a, b = scorer.forward(scorer.prepare(moved), design, offsets)
        return (np.where(np.isfinite(a), a, 0.0) * node_delta).sum() + (b * arc_delta).sum()

    for name, value in params.items():
        np.testing.assert_allclose(again[name], grad[name], rtol=1e-10, atol=1e-10)
        for cell in rng.choice(value.size, size=min(value.size, 5), replace=False):
            ends = []
            for step in (1e-5, -1e-5):
                moved = {**params, name: value.copy()}
                moved[name].reshape(-1)[cell] += step
                ends.append(total(moved))
            slow = (ends[0] - ends[1]) / 2e-5
            np.testing.assert_allclose(grad[name].reshape(-1)[cell], slow, rtol=1e-5, atol=1e-5)


def test_blocks_of_a_chunk_keep_where_they_are_told():
    scorer, _, offsets, _ = letters_scorer(0, False, [1, 1, 1], lambda n, k: Circuit(2, k, 1, 2, 2), on=(1, 2))
    rng = np.random.default_rng(1)
    design = Design(rng.standard_normal((30, 2)))
    prepared = scorer.prepare({name: rng.standard_normal(shape) for name, shape in scorer.shapes().items()})
    whole, parts = scorer.keep(30), scorer.keep(30)
    node, _ = scorer.forward(prepared, design, offsets, whole)
    for a, b in ((0, 3), (3, 5)):
        first, last = int(offsets[a]), int(offsets[b])
        own, _ = scorer.forward(prepared, design.rows(first, last), offsets[a : b + 1] - first, parts, first)
        np.testing.assert_allclose(own, node[first:last], rtol=1e-13)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.leaf, other.leaf, rtol=1e-12)


def test_narrowed_to_some_features():
    """A batch that shows some features has the derivatives of all in them and zeros elsewhere."""
    scorer, _, offsets, _ = letters_scorer(
        3, False, [1, 1, 1], lambda n, k: Circuit(6, k, 1, 2, 2, n_observations=n), True, on=(1, 2)
    )
    rng = np.random.default_rng(1)
    used = np.array([1, 4])
    X = np.zeros((30, 6))
    X[:, used] = rng.standard_normal((30, 2))
    flat = rng.standard_normal(sum(int(np.prod(shape)) for shape in scorer.shapes().values()))
    local, index = scorer.narrowed(used)
    assert len(np.unique(index)) == len(index) == sum(int(np.prod(s)) for s in local.shapes().values())

    def views(values, of):
        out, at = {}, 0
        for name, shape in of.shapes().items():
            out[name] = values[at : at + int(np.prod(shape))].reshape(shape)
            at += out[name].size
        return out

    results = []
    for own, values, matrix in ((scorer, flat, X), (local, flat[index], X[:, used])):
        prepared, design = own.prepare(views(values, own)), Design(sp.csr_array(matrix))
        node, arc = own.forward(prepared, design, offsets)
        grad = np.zeros(len(values))
        delta = np.random.default_rng(2).standard_normal(node.shape)
        own.add_gradient(own.gradient_buffers(views(grad, own), prepared), design, offsets, delta, arc * 0 + 1.0, run)
        results.append((node, grad))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    np.testing.assert_allclose(results[0][1][index], results[1][1], rtol=1e-12)
    assert not np.delete(results[0][1], index).any()


def test_maximised():
    assert Circuit(2, 2, 0, 2, 2).maximised() is None
    assert Circuit(2, 2, 1, 2, 2, operator="max").maximised() is None
    best = Circuit(2, 2, 1, 2, 2).maximised()
    assert best.use_max
    assert best.offset == Circuit(2, 2, 1, 2, 2).offset
    scorer, *_ = letters_scorer(0, False, [1, 1, 1], lambda n, k: Circuit(2, k, n - 1, 2, 2), on=(1, 2))
    assert [c.use_max for c in scorer.maximised().circuits] == [False, True]
    scorer, *_ = letters_scorer(0, False, [1, 1, 1], lambda n, k: Circuit(2, k, 0, 2, 2), on=(1,))
    assert scorer.maximised() is None
