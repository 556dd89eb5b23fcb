# SPDX-License-Identifier: BSD-3-Clause
"""Cones, filter and line graphs against their slow twins and against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoding.cone_twins import Model, complete_graph, cones, model_of, twin_search
from decoding.enumeration import lattices, random_lattice
from sklearn_latent._decoding._cones import enclosing_simplex
from sklearn_latent._decoding._line_graph import label_graph

# Sums of products of a few dozen non-negative numbers, in another order; the slopes of narrow cones lose digits.
CLOSE = {"rtol": 1e-7, "atol": 1e-9}
# What rounding may take from a bound, and the small lift of each cone.
BELOW, ABOVE = 1 - 1e-12, 1 + 1e-10


def graph_of(model: Model, *, least: float = 0.0, order: int = 1, budget: int = 10**6) -> dict:
    with np.errstate(divide="ignore"):
        log_least = float(np.log(least))
    return label_graph(model.node, model.arc, model.label_ptr.astype(np.int32), log_least, order, budget)


def rows(graph: dict, name: str) -> np.ndarray:
    return np.array(graph[name]).reshape(len(graph["room"]), -1)


def arcs_of(graph: dict):
    """Arcs as (index, source, target, token of the target)."""
    token = token_of(graph)
    for n in range(len(graph["label"])):
        for a in range(graph["arc_ptr"][n], graph["arc_ptr"][n + 1]):
            yield a, n, graph["target"][a], token[graph["target"][a]]


def token_of(graph: dict) -> list[int]:
    ptr = graph["node_ptr"]
    return [t - 1 for t in range(len(ptr) - 1) for _ in range(ptr[t], ptr[t + 1])]


def paths(graph: dict, labels) -> list[int]:
    """Nodes that a label prefix passes, the root first; empty if the graph has no such path."""
    at = [0]
    for y in labels:
        following = [
            graph["target"][a]
            for a in range(graph["arc_ptr"][at[-1]], graph["arc_ptr"][at[-1] + 1])
            if graph["label"][graph["target"][a]] == y
        ]
        if not following:
            return []
        assert len(following) == 1  # a path is known by its labels
        at.append(following[0])
    return at


def small_models(seed: int, n: int, *, spread=(0.1, 0.5, 1.0, 2.0), n_tokens=5):
    rng = np.random.default_rng(seed)
    for i in range(n):
        n_latents = [(3, 2), (1, 4, 2), (2, 2, 2), (3,), (1, 1, 3)][i % 5]
        yield model_of(
            random_lattice(
                rng, n_latents, n_tokens, spread[i % len(spread)], forbidden=0.2 * (i % 4), positional=i % 2 == 1
            )
        )


# -- cones --------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 6))
def test_the_simplex_holds_its_members(seed, n, width):
    rng = np.random.default_rng(seed)
    member = rng.exponential(size=(n, width)) * (rng.random((n, width)) < 0.8)
    low, high = np.empty(width), np.empty(width)
    room = enclosing_simplex(member, low, high)
    for v in member[member.sum(axis=1) > 0]:
        share = v / v.sum()
        assert (share >= low).all()
        assert (share[high == 0] == 0).all()
        assert share.sum() <= low.sum() + room + 1e-15


def test_cones_equal_their_twin():
    for model in small_models(0, 60):
        graph = graph_of(model)
        if not graph:
            assert max(model.weights().values()) == 0
            continue
        # Only labels that some sequence of positive weight passes have nodes: find them by the twin's whole graph.
        twin, losses, ahead = cones(model, complete_graph(model))
        token = token_of(graph)
        for n in range(1, len(token)):
            t, y = token[n], graph["label"][n]
            expected, size = twin[t][y], model.label_ptr[y + 1] - model.label_ptr[y]
            living = expected.alive
            np.testing.assert_allclose(rows(graph, "low")[n, :size], expected.low, **CLOSE)
            np.testing.assert_allclose(graph["room"][n], expected.room, **CLOSE)
            np.testing.assert_allclose(rows(graph, "weight")[n, :size][living], expected.weight[living], **CLOSE)
            for name, value in (("ray_low", expected.ray_low), ("ray_unit", expected.ray_unit)):
                np.testing.assert_allclose(rows(graph, name)[n, :size][living], value[living], **CLOSE)
            np.testing.assert_allclose(graph["ahead"][n], ahead[t][y], **CLOSE)
        for a, n, m, t in arcs_of(graph):
            if n > 0:
                loss = losses[t][graph["label"][n], graph["label"][m]]
                np.testing.assert_allclose(graph["loss"][a], loss, **CLOSE)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_bounds_hold_and_nothing_of_interest_is_lost(order, share):
    """No bound below the best completion, none above R, children below parents, heavy sequences still paths."""
    for model in small_models(order, 20):
        weights = model.weights()
        best = max(weights.values())
        least = share * best
        graph = graph_of(model, least=least, order=order)
        if not graph:
            assert best == 0
            continue
        R, weight = model.rest(), rows(graph, "weight")
        completion: dict = {}
        for y, w in weights.items():
            if w > least:
                assert len(paths(graph, y)) == len(y) + 1
            for t in range(1, len(y) + 1):
                completion[y[:t]] = max(completion.get(y[:t], 0.0), w)
        bounds: dict = {(): np.inf}
        for prefix, w in completion.items():
            nodes = paths(graph, prefix)
            if not nodes:
                assert w <= least * ABOVE
                continue
            x = model.prefix(prefix) * R[len(prefix) - 1, model.states(prefix[-1])]
            bound = float(weight[nodes[-1], : len(x)] @ x)
            # A completion that has left the graph weighs no more than `least`.
            assert max(bound, least) >= w * BELOW
            assert max(bound * graph["ahead"][nodes[-1]], least) >= w * BELOW
            assert bound <= x.sum() * ABOVE
            assert bound <= bounds[prefix[:-1]] * ABOVE
            bounds[prefix] = bound
            if len(prefix) == len(model.node):
                np.testing.assert_allclose(bound, w, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 3])
def test_rays_compare_rightly(order):
    """What is as large along all corners weighs as much whatever follows; and the corners tell more than states do."""
    by_rays = by_states = 0
    for model in small_models(10 + order, 20, spread=(0.1, 0.3, 0.5)):
        graph = graph_of(model, order=order)
        if not graph:
            continue
        R, T, n = model.rest(), len(model.node), model.n_labels
        t = 2
        prefixes = [p for p in product(range(n), repeat=t + 1) if paths(graph, p)]
        for p, q in product(prefixes, prefixes):
            if p == q or p[-1] != q[-1]:
                continue
            rest = R[t, model.states(p[-1])]
            a, b = model.prefix(p), model.prefix(q)
            node, size = paths(graph, p)[-1], len(a)
            low, unit = rows(graph, "ray_low")[node, :size] * rest, rows(graph, "ray_unit")[node, :size] * rest
            states = rest > 0
            by_states += bool((b >= a)[states].all())
            if (low @ b + unit * b >= low @ a + unit * a)[states].all():
                by_rays += 1
                for y in product(range(n), repeat=T - 1 - t):
                    suffix = model.suffix(p[-1], y)
                    assert b @ suffix >= (a @ suffix) * BELOW
            else:
                assert not (b > a * (1 + 1e-9)).all()
    assert by_rays > by_states > 0


def test_a_line_graph_keeps_what_its_losses_allow():
    for model in small_models(30, 20):
        weights = model.weights()
        least = 0.5 * max(weights.values())
        if least == 0:
            continue
        graph = graph_of(model, least=least)
        line = graph_of(model, least=least, order=2)
        unit = np.exp(graph["log_unit"])
        surely = maybe = 0
        for a, n, m, t in arcs_of(graph):
            through = graph["behind"][n] * graph["loss"][a] * graph["ahead"][m] * unit
            surely += through > least * ABOVE
            maybe += through > least * BELOW
            # No sequence along the arc weighs more.
            for y, w in weights.items():
                nodes = paths(graph, y)
                if nodes and nodes[t] == n and nodes[t + 1] == m:
                    assert w <= through * ABOVE
        token = token_of(line)
        assert surely <= len(line["label"]) - 1 <= maybe
        # Two arcs follow one another in the line graph only if they do in the graph.
        for _, n, m, t in arcs_of(line):
            assert token[n] == t - 1
            assert line["label"][m] in range(model.n_labels)


def test_a_budget_is_a_limit():
    model = model_of(random_lattice(np.random.default_rng(0), (2,) * 4, 8, 0.1))
    n_arcs = len(graph_of(model, order=2)["target"])
    assert graph_of(model, order=2, budget=n_arcs)
    assert not graph_of(model, order=2, budget=n_arcs - 1)


def test_one_state_a_label_has_no_width():
    """With one state a label all bounds are Viterbi's."""
    model = model_of(random_lattice(np.random.default_rng(1), (1,) * 4, 6, 1.0))
    graph = graph_of(model)
    np.testing.assert_allclose(graph["room"][1:], 0.0, atol=1e-12)  # the small lift of each cone
    np.testing.assert_allclose(graph["weight"][1:], 1.0, rtol=1e-11)


def test_long_chains_stay_in_range():
    """Bounds are shares: 2,000 tokens of s.d. 10 neither overflow nor vanish."""
    for spread in (0.1, 10.0):
        lattice = random_lattice(np.random.default_rng(2), (3, 3), 2000, spread)
        node, arc = lattice.node[:, lattice.label_state], lattice.arc[:, lattice.label_state][:, :, lattice.label_state]
        node, arc = np.exp(node - node.max(axis=1, keepdims=True)), np.exp(arc - arc.max())
        model = Model(np.ascontiguousarray(node), np.ascontiguousarray(arc), lattice.label_ptr)
        graph = graph_of(model)
        low, room, weight = (rows(graph, name)[1:] for name in ("low", "room", "weight"))
        assert ((low >= 0) & (low <= 1)).all()
        assert ((room >= 0) & (room <= 1)).all()
        # No bound at a corner is above R's.
        at_corners = (low * weight).sum(axis=1, keepdims=True) + room * weight
        assert (at_corners <= ABOVE).all()
        assert (at_corners >= 0).all()
        assert np.isfinite(graph["loss"]).all()
        assert (np.array(graph["ahead"]) > 0).all()


# -- why n-fold ---------------------------------------------------------------------------------------


def test_plain_dominance_is_wrong_for_the_n_best():
    wrong = 0
    for model in small_models(40, 20, spread=(0.3, 1.0)):
        expected = sorted(model.weights().values(), reverse=True)[:7]
        expected = [w for w in expected if w > 0]
        right = [w for w in twin_search(model, 7, 7) if w > 0]
        np.testing.assert_allclose(right, expected, rtol=1e-10)
        plain = [w for w in twin_search(model, 7, 1) if w > 0]
        wrong += len(plain) < len(expected) or not np.allclose(plain, expected, rtol=1e-10)
    assert wrong >= 10


@settings(max_examples=50, deadline=None)
@given(lattices())
def test_graphs_of_odd_lattices(lattice):
    """Zero spreads, forbidden arcs, single tokens: the root's bound is never below the best weight."""
    model = model_of(lattice)
    best = max(model.weights().values())
    for order in (1, 2):
        graph = graph_of(model, order=order)
        if not graph:
            assert best == 0
        else:
            assert graph["ahead"][0] * np.exp(graph["log_unit"]) >= best * BELOW
