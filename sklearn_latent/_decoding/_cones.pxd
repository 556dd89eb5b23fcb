# SPDX-License-Identifier: BSD-3-Clause
# Graphs over which label sequences are paths, and the cones of their nodes; see _cones.pyx.

from libc.stdint cimport int32_t, int64_t

from ._sequence cimport Sequence

cdef struct Graph:
    Py_ssize_t n_tokens
    Py_ssize_t width           # most states of a label
    Py_ssize_t n_nodes
    Py_ssize_t n_arcs
    int64_t *node_ptr          # (n_tokens + 2,) nodes of token t are [node_ptr[t + 1], node_ptr[t + 2]); 0 is the root
    int32_t *label             # (n_nodes,)
    int64_t *arc_ptr           # (n_nodes + 1,) arcs by source
    int32_t *target            # (n_arcs,)
    # cones of prefixes, in shares of a(h) R(h)
    double *low                # p, (n_nodes, width)
    double *high               # 0 = no prefix has anything there, (n_nodes, width)
    double *room               # s, (n_nodes,), -1 = no prefix ends here
    double *weight             # w, (n_nodes, width)
    # cones of suffixes, in units of b(h) / R(h)
    double *ray_low            # (n_nodes, width)
    double *ray_unit           # (n_nodes, width)
    # what the search and the filter read
    double *gain               # z, (n_arcs, width): z . a bounds what goes from a over the arc
    double *loss               # rho, (n_arcs,)
    double *ahead              # (n_nodes,) largest product of losses that follow
    double *behind             # (n_nodes,) largest product of losses that precede, first bounds included
    double *work               # (8, width)

cdef int graph_open(Graph *g, Py_ssize_t n_tokens, Py_ssize_t width, Py_ssize_t n_nodes,
                    Py_ssize_t n_arcs) noexcept nogil
cdef void graph_free(Graph *g) noexcept nogil
cdef void cones_forward(const Sequence *q, Graph *g, Py_ssize_t t) noexcept nogil
cdef void cones_backward(const Sequence *q, Graph *g, Py_ssize_t t) noexcept nogil
cdef void sum_up_behind(Graph *g) noexcept nogil
