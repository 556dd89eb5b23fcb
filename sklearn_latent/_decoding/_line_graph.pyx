# SPDX-License-Identifier: BSD-3-Clause
"""Graphs over which the label search goes, without the arcs that no better sequence takes.

What is computed. Each step over an arc keeps at most a factor rho of the bound (see _cones.pyx; with the bound R, whose
cones hold every vector, rho = max_g sum_h A(g, h) V(h) / R(g) over the states g of the source and h of the target).
With the largest products of losses `behind` (first bounds included) and `ahead`, no sequence through an arc
weighs more than

    behind(source) rho(arc) ahead(target),

and what does not exceed the least weight of interest is left out. The first graph has a node for each label of each
token and arcs between labels of consecutive tokens. A line graph has a node for each arc kept, and an arc for each
two that follow one another unless their product is too small: its nodes know one label more, and their cones, having
come through one step more, are narrower.

Index convention. Node 0 is the root, the empty prefix; nodes follow by token, arcs by source.

Cost. Pairs: S^2 multiplications a token. Line graph: one product for each two arcs kept that follow one another.
"""

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from ._cones cimport Graph, cones_backward, cones_forward, graph_free, graph_open, sum_up_behind
from ._sequence cimport Sequence, bound_token, larger, sequence_begin, sequence_free, sequence_open


# -- from pairs of labels to the first graph

cdef int pairs_open(Pairs *p, const Sequence *q) noexcept nogil:
    cdef size_t cells = <size_t>q.n_tokens * q.n_labels
    if q.n_tokens * q.n_labels * q.n_labels > MOST_PAIRS:
        return TOO_LARGE
    p.loss = <double *> malloc(cells * q.n_labels * sizeof(double))
    p.ahead = <double *> malloc(cells * sizeof(double))
    p.behind = <double *> malloc(cells * sizeof(double))
    p.node = <int32_t *> malloc(cells * sizeof(int32_t))
    if p.loss == NULL or p.ahead == NULL or p.behind == NULL or p.node == NULL:
        return OUT_OF_MEMORY
    return 0


cdef void pairs_free(Pairs *p) noexcept nogil:
    free(p.loss)
    free(p.ahead)
    free(p.behind)
    free(p.node)


cdef double pair_loss(const Sequence *q, Py_ssize_t t, Py_ssize_t source, Py_ssize_t label) noexcept nogil:
    cdef const double *reach = q.reach + t * q.stride
    cdef const double *rest = q.rest + (t - 1) * q.stride
    cdef const double *row
    cdef Py_ssize_t g, h
    cdef double total
    cdef double loss = 0.0
    for g in range(q.label_ptr[source], q.label_ptr[source + 1]):
        if rest[g] > 0.0:
            row = q.arc + t * q.arc_step + g * q.arc_stride
            total = 0.0
            for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
                total += row[h] * reach[h]
            loss = larger(loss, total / rest[g])
    return loss


cdef void pairs_backward(const Sequence *q, Pairs *p, Py_ssize_t t) noexcept nogil:
    """Losses of the steps into token t, and `ahead` of token t - 1 from that of token t."""
    cdef Py_ssize_t n = q.n_labels
    cdef Py_ssize_t source, label
    cdef double loss
    cdef double *ahead = p.ahead + t * n
    if t == q.n_tokens - 1:
        for label in range(n):
            ahead[label] = 1.0
    if t == 0:
        return
    for source in range(n):
        ahead[source - n] = 0.0
        for label in range(n):
            loss = pair_loss(q, t, source, label)
            p.loss[(t * n + source) * n + label] = loss
            ahead[source - n] = larger(ahead[source - n], loss * ahead[label])


cdef void pairs_forward(const Sequence *q, Pairs *p) noexcept nogil:
    cdef Py_ssize_t n = q.n_labels
    cdef Py_ssize_t t, source, label, h
    cdef double *behind = p.behind
    cdef const double *loss
    for label in range(n):
        behind[label] = 0.0
        for h in range(q.label_ptr[label], q.label_ptr[label + 1]):
            behind[label] += q.reach[h]
    for t in range(1, q.n_tokens):
        behind += n
        loss = p.loss + t * n * n
        for label in range(n):
            behind[label] = 0.0
        for source in range(n):
            for label in range(n):
                behind[label] = larger(behind[label], behind[source - n] * loss[source * n + label])


cdef int graph_of_pairs(const Sequence *q, Pairs *p, double least, Graph *g) noexcept nogil:
    """The graph of the pairs whose sequences may weigh more than `least`; also fills p.behind and p.node."""
    cdef Py_ssize_t n = q.n_labels
    cdef Py_ssize_t n_nodes = 1
    cdef Py_ssize_t n_arcs = 0
    cdef Py_ssize_t t, source, label
    cdef int32_t *node = p.node
    cdef double reach
    pairs_forward(q, p)
    for t in range(q.n_tokens):
        for label in range(n):
            if p.behind[t * n + label] * p.ahead[t * n + label] > least:
                node[t * n + label] = <int32_t> n_nodes
                n_nodes += 1
            else:
                node[t * n + label] = -1
    for label in range(n):
        n_arcs += node[label] >= 0
    for t in range(1, q.n_tokens):
        for source in range(n):
            reach = p.behind[(t - 1) * n + source]
            for label in range(n):
                n_arcs += reach * p.loss[(t * n + source) * n + label] * p.ahead[t * n + label] > least
    if graph_open(g, q.n_tokens, q.width, n_nodes, n_arcs) < 0:
        return OUT_OF_MEMORY
    n_nodes = 1
    n_arcs = 0
    g.label[0] = -1
    g.node_ptr[1] = 1
    for label in range(n):
        if node[label] >= 0:
            g.target[n_arcs] = node[label]
            n_arcs += 1
    g.arc_ptr[1] = n_arcs
    for t in range(q.n_tokens):
        for source in range(n):
            if node[t * n + source] < 0:
                continue
            g.label[n_nodes] = <int32_t> source
            n_nodes += 1
            reach = p.behind[t * n + source]
            if t < q.n_tokens - 1:
                for label in range(n):
                    if reach * p.loss[((t + 1) * n + source) * n + label] * p.ahead[(t + 1) * n + label] > least:
                        g.target[n_arcs] = node[(t + 1) * n + label]
                        n_arcs += 1
            g.arc_ptr[n_nodes] = n_arcs
        g.node_ptr[t + 2] = n_nodes
    g.n_arcs = n_arcs
    return 0


# -- from a graph to its line graph

cdef int line_graph(const Graph *g, double least, Py_ssize_t budget, Graph *new, int32_t *node_of_arc) noexcept nogil:
    """The line graph of the arcs whose sequences may weigh more than `least`, if it has at most `budget` arcs.

    node_of_arc, (n_arcs,), gets the new node of each arc, -1 where it is left out.
    """
    cdef Py_ssize_t n_nodes = 1
    cdef Py_ssize_t n_arcs = 0
    cdef Py_ssize_t t, n, m, node
    cdef int64_t a, b
    cdef double reach
    for n in range(g.n_nodes):
        for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
            if g.behind[n] * g.loss[a] * g.ahead[g.target[a]] > least:
                node_of_arc[a] = <int32_t> n_nodes
                n_nodes += 1
            else:
                node_of_arc[a] = -1
    for a in range(g.arc_ptr[0], g.arc_ptr[1]):
        n_arcs += node_of_arc[a] >= 0
    for n in range(g.n_nodes):
        for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
            if node_of_arc[a] < 0:
                continue
            m = g.target[a]
            reach = g.behind[n] * g.loss[a]
            for b in range(g.arc_ptr[m], g.arc_ptr[m + 1]):
                n_arcs += node_of_arc[b] >= 0 and reach * g.loss[b] * g.ahead[g.target[b]] > least
        if n_arcs > budget:
            return TOO_LARGE
    if graph_open(new, g.n_tokens, g.width, n_nodes, n_arcs) < 0:
        return OUT_OF_MEMORY
    new.label[0] = -1
    n_arcs = 0
    for a in range(g.arc_ptr[0], g.arc_ptr[1]):
        if node_of_arc[a] >= 0:
            new.target[n_arcs] = node_of_arc[a]
            n_arcs += 1
    new.arc_ptr[1] = n_arcs
    new.node_ptr[1] = 1
    for t in range(-1, g.n_tokens - 1):
        for n in range(g.node_ptr[t + 1], g.node_ptr[t + 2]):
            for a in range(g.arc_ptr[n], g.arc_ptr[n + 1]):
                node = node_of_arc[a]
                if node < 0:
                    continue
                m = g.target[a]
                new.label[node] = g.label[m]
                reach = g.behind[n] * g.loss[a]
                for b in range(g.arc_ptr[m], g.arc_ptr[m + 1]):
                    if node_of_arc[b] >= 0 and reach * g.loss[b] * g.ahead[g.target[b]] > least:
                        new.target[n_arcs] = node_of_arc[b]
                        n_arcs += 1
                new.arc_ptr[node + 1] = n_arcs
                new.node_ptr[t + 3] = node + 1
    # A token without nodes has an empty range.
    for t in range(2, g.n_tokens + 2):
        new.node_ptr[t] = max(new.node_ptr[t], new.node_ptr[t - 1])
    return 0


# -- for the tests

def label_graph(
    const double[:, ::1] node_factor,    # IN  (n_tokens, n_states) states of a label are neighbours
    const double[:, :, ::1] arc_factor,  # IN  (1 | n_tokens, n_states, n_states)
    const int32_t[::1] label_ptr,        # IN  (n_labels + 1,)
    double log_least,                    # log of the weight that sequences of interest exceed
    Py_ssize_t order,                    # labels that a node knows, at least 1
    Py_ssize_t budget,                   # most arcs
) -> dict:
    """The graph of one sequence with its cones, as lists; the search makes the same one inside.

    `loss` of the root's arcs and `behind` have the true value times exp(-log_unit). Empty if it has too many arcs.
    """
    cdef Sequence q
    cdef Pairs pairs
    cdef Graph graphs[2]
    cdef Graph *g = graphs
    cdef int32_t *id = NULL
    cdef int status = 0
    cdef double least
    cdef Py_ssize_t i, t
    memset(&q, 0, sizeof(Sequence))
    memset(&pairs, 0, sizeof(Pairs))
    memset(graphs, 0, 2 * sizeof(Graph))
    q.node = &node_factor[0, 0]
    q.arc = &arc_factor[0, 0, 0]
    q.n_states = q.arc_stride = node_factor.shape[1]
    q.arc_step = q.n_states * q.n_states if arc_factor.shape[0] > 1 else 0
    q.label_ptr = &label_ptr[0]
    q.n_labels = label_ptr.shape[0] - 1
    try:
        if sequence_open(&q, node_factor.shape[0]) < 0:
            raise MemoryError
        sequence_begin(&q, node_factor.shape[0])
        for t in range(q.n_tokens - 1, -1, -1):
            if not bound_token(&q, t):
                return {}
        least = exp(log_least - q.exponent * log(2.0))
        status = pairs_open(&pairs, &q)
        if status == 0:
            for t in range(q.n_tokens - 1, -1, -1):
                pairs_backward(&q, &pairs, t)
            status = graph_of_pairs(&q, &pairs, least, g)
        for i in range(order):
            if i > 0 and status == 0:
                id = <int32_t *> malloc(<size_t>(g.n_arcs + 1) * sizeof(int32_t))
                status = OUT_OF_MEMORY if id == NULL else line_graph(g, least, budget, graphs + (i & 1), id)
                free(id)
                graph_free(g)
                memset(g, 0, sizeof(Graph))
                g = graphs + (i & 1)
            if status == TOO_LARGE:
                return {}
            if status < 0:
                raise MemoryError
            for t in range(q.n_tokens):
                cones_forward(&q, g, t)
            for t in range(q.n_tokens - 1, -2, -1):
                cones_backward(&q, g, t)
            sum_up_behind(g)
        return {
            "log_unit": q.exponent * log(2.0),
            "node_ptr": [g.node_ptr[i] for i in range(q.n_tokens + 2)],
            "label": [g.label[i] for i in range(g.n_nodes)],
            "arc_ptr": [g.arc_ptr[i] for i in range(g.n_nodes + 1)],
            "target": [g.target[i] for i in range(g.n_arcs)],
            "low": [g.low[i] for i in range(g.n_nodes * g.width)],
            "room": [g.room[i] for i in range(g.n_nodes)],
            "weight": [g.weight[i] for i in range(g.n_nodes * g.width)],
            "ray_low": [g.ray_low[i] for i in range(g.n_nodes * g.width)],
            "ray_unit": [g.ray_unit[i] for i in range(g.n_nodes * g.width)],
            "loss": [g.loss[i] for i in range(g.n_arcs)],
            "ahead": [g.ahead[i] for i in range(g.n_nodes)],
            "behind": [g.behind[i] for i in range(g.n_nodes)],
        }
    finally:
        sequence_free(&q)
        pairs_free(&pairs)
        graph_free(graphs)
        graph_free(graphs + 1)
