# SPDX-License-Identifier: BSD-3-Clause
"""The stages of the label search: cones, line graphs and batches against enumeration and against stage 1."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.enumeration import Lattice, lattices, random_lattice, ranked_labels, sequence_log_weight
from decoding.test_label_search import AMPLE, CLOSE, Found, assert_best, clones, factors
from sklearn_latent._decoding._label_search import label_search, label_search_batch

ORDERS = [1, 2, 4]


def search(
    lattice: Lattice,
    order: int,
    *,
    n_best=1,
    max_expansions=AMPLE,
    epsilon=0.0,
    patience=-1,
    budget=300_000,
    beam_width=16,
):
    node_factor, arc_factor, shift = factors(lattice)
    labels, log_weight = np.full((n_best, len(node_factor)), -1, dtype=np.int32), np.full(n_best, np.nan)
    state = lattice.label_state.astype(np.int32)
    n_found, log_upper, proven, n_expanded = label_search(
        node_factor, arc_factor, lattice.label_ptr, state, n_best, max_expansions, epsilon, labels, log_weight,
        order, patience, budget, beam_width,
    )  # fmt: skip
    sequences = [tuple(row) for row in labels[:n_found].tolist()]
    assert len(set(sequences)) == n_found
    return Found(sequences, log_weight[:n_found] + shift, log_upper + shift, proven, n_expanded)


def persistent(rng, n_labels: int, n_latents: int, n_tokens: int, spread: float, stay: float) -> Lattice:
    """Weak evidence and latents that keep their number: the hard family."""
    n_states = n_labels * n_latents
    arc = stay * np.tile(np.eye(n_latents), (n_labels, n_labels))[None]
    label_ptr = np.arange(n_labels + 1, dtype=np.int32) * n_latents
    return Lattice(
        rng.normal(scale=spread, size=(n_tokens, n_states)), arc, label_ptr, np.arange(n_states, dtype=np.int32)
    )


# -- against enumeration ------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(lattices(), st.sampled_from([1, 2, 7, 1000]), st.sampled_from(ORDERS), st.sampled_from([0, 1, 3]))
def test_equals_enumeration(lattice, n_best, order, patience):
    # With no patience nothing is known yet when the filter looks for arcs to leave out.
    assert_best(search(lattice, order, n_best=n_best, patience=patience), lattice, n_best)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n_best", [1, 7])
@pytest.mark.parametrize("spread", [0.1, 0.3, 1.0])
def test_equals_enumeration_on_flat_lattices(order, n_best, spread):
    rng = np.random.default_rng(order)
    for i in range(24):
        n_latents = [(3, 2), (1, 4, 2), (2, 2, 2)][i % 3]
        lattice = random_lattice(rng, n_latents, 6, spread, forbidden=0.2 * (i % 4), positional=i % 2 == 1)
        # After five or fifteen expansions the lower bound is poor, which the filter must bear.
        for patience in (0, 5, 15):
            assert_best(search(lattice, order, n_best=n_best, patience=patience), lattice, n_best)


@settings(max_examples=200, deadline=None)
@given(
    lattices(), st.sampled_from([0, 1, 5, 50]), st.sampled_from([1, 3]), st.sampled_from(ORDERS),
    st.sampled_from([0.0, 0.1, 1.0]),
)  # fmt: skip
def test_stopping_early_keeps_its_promises(lattice, max_expansions, n_best, order, epsilon):
    expected = ranked_labels(lattice)
    options = {"n_best": n_best, "max_expansions": max_expansions, "epsilon": epsilon, "patience": 0}
    found = search(lattice, order, **options)
    assert found.n_expanded <= max_expansions
    if not expected:
        assert (found.labels, found.proven, found.log_upper) == ([], 1, -np.inf)
        return
    weights = dict(expected)
    assert found.labels
    np.testing.assert_allclose([weights[y] for y in found.labels], found.log_weight, **CLOSE)
    assert found.log_upper >= expected[0][1] - 1e-11  # the tolerance of the enumeration
    assert found.log_upper >= found.log_weight[0]
    if found.proven:
        assert_best(found, lattice, n_best)
    elif n_best == 1 and found.n_expanded < max_expansions:
        assert found.log_upper - found.log_weight[0] <= np.log1p(epsilon) + 1e-11


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("max_expansions", [0, 1, 5, 50])
def test_the_bound_holds_on_flat_lattices_at_every_cap(order, max_expansions):
    rng = np.random.default_rng(max_expansions)
    for _ in range(20):
        lattice = random_lattice(rng, (3, 3, 3), 12, 0.3)
        truth = search(lattice, 0).log_weight[0]
        found = search(lattice, order, max_expansions=max_expansions, patience=0)
        assert found.log_upper >= truth - 1e-11  # rounding of logs below 100
        assert found.log_weight[0] <= truth + 1e-11


@pytest.mark.parametrize("n_best", [1, 3])
@pytest.mark.parametrize("order", [0, 1, 4])
def test_a_beam_of_width_one_is_enough(order, n_best):
    """Its poor lower bound goes into the filters that leave arcs out, and what they leave out may not matter."""
    rng = np.random.default_rng(order)
    poorer = 0
    for i in range(30):
        lattice = random_lattice(rng, [(3, 2), (2, 2, 2), (1, 3, 2)][i % 3], 7, 0.3, forbidden=0.2 * (i % 3))
        # From the start a graph, so that the beam alone says what is known.
        found = search(lattice, order, n_best=n_best, patience=0, beam_width=1)
        assert_best(found, lattice, n_best)
        cut = [search(lattice, order, n_best=n_best, max_expansions=0, beam_width=width) for width in (1, 16)]
        truth = ranked_labels(lattice)
        for other in cut:
            assert other.log_upper >= truth[0][1] - 1e-11
            assert other.log_weight[0] <= truth[0][1] + 1e-11
        poorer += cut[0].log_weight[0] < cut[1].log_weight[0] - 1e-9
    assert poorer > 0  # else the width was not the one asked for


# -- what the stages are for --------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1.0, 0.5, 0.3, 0.1])
def test_flat_models_are_certified_soon(spread):
    rng = np.random.default_rng(0)
    expanded = []
    for _ in range(10):
        lattice = random_lattice(rng, (4,) * 11, 30, spread)
        found, plain = search(lattice, 4), search(lattice, 0)
        assert found.proven == plain.proven == 1
        np.testing.assert_allclose(found.log_weight, plain.log_weight, **CLOSE)
        expanded.append((found.n_expanded, plain.n_expanded))
    assert np.mean(expanded, axis=0)[0] <= 200
    assert np.mean(expanded, axis=0)[0] < np.mean(expanded, axis=0)[1]


def test_twenty_best_of_a_flat_model():
    rng = np.random.default_rng(1)
    for _ in range(3):
        lattice = random_lattice(rng, (4,) * 11, 30, 0.3)
        found, plain = search(lattice, 4, n_best=20), search(lattice, 0, n_best=20)
        assert found.proven == plain.proven == 1
        assert found.labels == plain.labels
        assert found.n_expanded < plain.n_expanded / 5


def test_longer_memory_pays_where_latents_persist():
    rng = np.random.default_rng(2)
    expanded = np.zeros(3)
    for _ in range(5):
        lattice = persistent(rng, 5, 4, 20, 0.3, 3.0)
        runs = [search(lattice, order, patience=10) for order in (0, 1, 4)]
        assert all(found.proven for found in runs)
        for found in runs[1:]:
            np.testing.assert_allclose(found.log_weight, runs[0].log_weight, **CLOSE)
        expanded += [found.n_expanded for found in runs]
    assert expanded[2] < expanded[1] < expanded[0]


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_epsilon_mode_in_a_graph(epsilon):
    rng = np.random.default_rng(3)
    total = np.zeros(2)
    for _ in range(10):
        lattice = persistent(rng, 4, 4, 16, 0.3, 3.0)
        best = search(lattice, 4, patience=5)
        near = search(lattice, 4, patience=5, epsilon=epsilon)
        assert best.proven == 1
        slack = np.log1p(epsilon) + 1e-11  # rounding of logs below 100
        assert near.log_upper - near.log_weight[0] <= slack
        assert near.log_upper >= best.log_weight[0] - 1e-11
        assert best.log_weight[0] - near.log_weight[0] <= slack
        if near.proven:
            np.testing.assert_allclose(near.log_weight, best.log_weight, **CLOSE)
        total += [best.n_expanded, near.n_expanded]
    assert total[1] < total[0]


# -- traps --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_clone_labels(order):
    rng = np.random.default_rng(11)
    for _ in range(6):
        lattice = clones(rng, 3, 3, 5)
        for n_best in (1, 4):
            assert_best(search(lattice, order, n_best=n_best, patience=2), lattice, n_best)
    lattice = clones(rng, 6, 4, 30)
    found = search(lattice, order, max_expansions=20_000)
    assert found.proven == 1
    np.testing.assert_allclose(found.log_weight[0], sequence_log_weight(lattice, [0] * 30), **CLOSE)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("n_tokens", "spread"), [(300, 0.3), (300, 10.0), (100, 3.0)])
@pytest.mark.parametrize("positional", [False, True])
def test_long_sequences_stay_in_range(order, n_tokens, spread, positional):
    lattice = random_lattice(np.random.default_rng(8), (3, 2, 4), n_tokens, spread, positional=positional)
    found = search(lattice, order, patience=n_tokens // 2)
    plain = search(lattice, 0)
    assert found.proven == plain.proven == 1
    # Each of n_tokens steps of the log-domain pass errs by 1e-16 of the log-weight.
    np.testing.assert_allclose(found.log_weight[0], plain.log_weight[0], rtol=1e-16 * n_tokens)
    np.testing.assert_allclose(
        found.log_weight[0], sequence_log_weight(lattice, found.labels[0]), rtol=1e-16 * n_tokens
    )


@pytest.mark.parametrize("order", ORDERS)
def test_units_change_no_bit(order):
    lattice = random_lattice(np.random.default_rng(9), (2, 3, 2), 8, 0.3)
    node_factor, arc_factor = np.exp(lattice.node), np.exp(lattice.arc)
    results = []
    for node_power, arc_power in ((0, 0), (-300, 0), (0, -300), (300, 0), (-250, 250)):
        labels, log_weight = np.empty((3, 8), dtype=np.int32), np.empty(3)
        args = np.ldexp(node_factor, node_power), np.ldexp(arc_factor, arc_power), lattice.label_ptr
        out = label_search(*args, lattice.label_state, 3, AMPLE, 0.0, labels, log_weight, order, 3)
        assert out[2] == 1
        shift = (8 * node_power + 7 * arc_power) * np.log(2.0)
        results.append((labels.tolist(), log_weight - shift, out[3]))
    for labels, log_weight, n_expanded in results[1:]:
        assert labels == results[0][0]
        np.testing.assert_allclose(log_weight, results[0][1], rtol=0, atol=1e-11)  # logs below 2,000 are shifted
        assert n_expanded == results[0][2]


def test_too_many_pairs_for_a_graph():
    """A table of pairs that is not made leaves the search to stage 1."""
    rng = np.random.default_rng(4)
    lattice = random_lattice(rng, (2,) + (1,) * 299, 12, 0.3)
    found, plain = search(lattice, 4, patience=0), search(lattice, 0)
    assert found == plain or found.labels == plain.labels
    assert (found.proven, found.n_expanded) == (plain.proven, plain.n_expanded)


def test_a_small_budget_keeps_the_first_graph():
    lattice = random_lattice(np.random.default_rng(5), (4,) * 6, 15, 0.3)
    one = search(lattice, 1, patience=5)
    poor = search(lattice, 4, patience=5, budget=1)
    assert (one.labels, one.proven, one.n_expanded) == (poor.labels, poor.proven, poor.n_expanded)


# -- batches ------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    labels: list[list[tuple[int, ...]]]
    log_weight: list[list[float]]
    gap: np.ndarray
    proven: np.ndarray
    n_expanded: np.ndarray
    served: np.ndarray


def run_batch(node, arc, label_ptr, offsets, served, *, n_best=1, max_search=10**5, epsilon=0.0, order=4) -> Batch:
    n = len(offsets) - 1
    labels, log_weight = np.full(n_best * len(node), -7, dtype=np.int32), np.full((n, n_best), np.nan)
    gap, served = np.full(n, np.nan), np.array(served, dtype=np.uint8)
    proven, n_expanded = np.full(n, 9, dtype=np.uint8), np.full(n, -1, dtype=np.int64)
    shift = arc.max(axis=(1, 2))
    label_search_batch(
        node, np.exp(arc - shift[:, None, None]), shift, label_ptr, offsets, n_best, max_search, 20, epsilon, order, -1,
        10**5, 1e-140, served, labels, log_weight, gap, proven, n_expanded,
    )  # fmt: skip
    tables = [
        labels[n_best * a : n_best * b].reshape(n_best, b - a)[log_weight[i] > -np.inf]
        for i, (a, b) in enumerate(itertools.pairwise(offsets.tolist()))
    ]
    rows = [[tuple(row) for row in table.tolist()] for table in tables]
    return Batch(rows, [w[w > -np.inf].tolist() for w in log_weight], gap, proven, n_expanded, served)


@pytest.mark.parametrize("positional", [False, True])
@pytest.mark.parametrize("n_best", [1, 5])
def test_a_batch_equals_its_sequences(positional, n_best):
    rng = np.random.default_rng(6)
    lengths = [5, 0, 1, 40, 12, 0, 30, 2]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    total = int(offsets[-1])
    whole = random_lattice(rng, (3, 2, 4, 1), total, 0.3, forbidden=0.1, positional=positional)
    whole = whole._replace(label_state=np.arange(10, dtype=np.int32))
    whole.node[20:40] *= 5.0  # some parts peaked, some flat
    whole.node[58] -= 1000.0  # as good as any other number for all states
    asked = [1, 1, 1, 1, 0, 1, 1, 1]
    found = run_batch(whole.node, whole.arc, whole.label_ptr, offsets, asked, n_best=n_best)
    assert found.served.tolist() == [1, 0, 1, 1, 0, 0, 1, 1]
    for i, (first, last) in enumerate(itertools.pairwise(offsets)):
        if not found.served[i]:
            assert found.labels[i] == [] and found.proven[i] == 9 and found.n_expanded[i] == -1
            assert np.isnan(found.gap[i])
            continue
        part = whole._replace(node=whole.node[first:last], arc=whole.arc[first:last] if positional else whole.arc)
        one = search(part, 4, n_best=n_best)
        assert one.proven == found.proven[i] == 1
        assert one.labels == found.labels[i]
        np.testing.assert_allclose(found.log_weight[i], one.log_weight, rtol=1e-14, atol=1e-13)  # sums of 80 scores
        assert found.n_expanded[i] == one.n_expanded
        assert found.gap[i] == 0.0


def test_a_batch_leaves_out_what_has_no_plain_factors():
    node = np.zeros((4, 2))
    node[1, 0] = -400.0  # exp(-400) < 1e-140
    args = np.zeros((1, 2, 2)), np.arange(3, dtype=np.int32), np.array([0, 2, 4]), [1, 1]
    assert run_batch(node, *args).served.tolist() == [0, 1]
    node[1, 0] = -np.inf
    assert run_batch(node, *args).served.tolist() == [1, 1]


def test_a_batch_reports_what_it_cannot_prove():
    rng = np.random.default_rng(7)
    parts = [persistent(rng, 6, 6, 40, 0.05, 4.0) for _ in range(2)]
    args = np.concatenate([p.node for p in parts]), parts[0].arc, parts[0].label_ptr, np.array([0, 40, 80]), [1, 1]
    found = run_batch(*args, max_search=0)
    assert (found.proven == 0).all()
    assert ((found.gap > 0) & np.isfinite(found.gap)).all()
    assert (found.n_expanded == 800).all()
    near = run_batch(*args, max_search=0, epsilon=float(np.expm1(found.gap.max())) * 1.1)
    assert (near.gap <= found.gap.max() * 1.1 + 1e-9).all()
    assert (near.n_expanded <= found.n_expanded).all()


def test_a_batch_without_positive_weight():
    args = np.full((3, 2), -np.inf), np.zeros((1, 2, 2)), np.arange(3, dtype=np.int32), np.array([0, 3]), [1]
    found = run_batch(*args)
    assert found.labels == [[]] and np.isinf(found.gap[0]) and found.proven[0] == 1 and found.n_expanded[0] == 0


def test_threads_search_at_the_same_time():
    lattice = [persistent(np.random.default_rng(i), 5, 4, 20, 0.3, 3.0) for i in range(4)]
    alone = [search(x, 4) for x in lattice]
    found: list = [None] * 4

    def run(i):
        found[i] = search(lattice[i], 4)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(alone, found, strict=True):
        assert (a.labels, a.log_upper, a.n_expanded) == (b.labels, b.log_upper, b.n_expanded)


# -- Ctrl-C -------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals between processes")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
@pytest.mark.parametrize(
    ("order", "shape"), [(1, (60, 8, 250)), (4, (11, 4, 30))], ids=["setting the cones up", "searching a line graph"]
)
def test_ctrl_c_ends_every_stage(order, shape):
    n_labels, n_latents, n_tokens = shape
    lattice = persistent(np.random.default_rng(0), n_labels, n_latents, n_tokens, 0.05, 5.0)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    timer.start()
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            search(lattice, order, patience=0, max_expansions=10**9)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    # It would have taken minutes and all memory; the limit is for machines that do other things too.
    assert time.perf_counter() - began < 120
