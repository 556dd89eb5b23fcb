# SPDX-License-Identifier: BSD-3-Clause
# The graph of label pairs and the graphs of longer memory; see _line_graph.pyx.

from libc.stdint cimport int32_t

from ._cones cimport Graph
from ._sequence cimport Sequence

cdef enum:
    MOST_PAIRS = 1 << 20       # larger tables of pairs are not made
    TOO_LARGE = -2
    OUT_OF_MEMORY = -1

cdef struct Pairs:
    double *loss               # (n_tokens, n_labels, n_labels) of the step into the token
    double *ahead              # (n_tokens, n_labels)
    double *behind             # (n_tokens, n_labels)
    int32_t *node              # (n_tokens, n_labels) node in the graph, -1 = left out

cdef int pairs_open(Pairs *p, const Sequence *q) noexcept nogil
cdef void pairs_free(Pairs *p) noexcept nogil
cdef void pairs_backward(const Sequence *q, Pairs *p, Py_ssize_t t) noexcept nogil
cdef int graph_of_pairs(const Sequence *q, Pairs *p, double least, Graph *g) noexcept nogil
cdef int line_graph(const Graph *g, double least, Py_ssize_t budget, Graph *new, int32_t *node_of_arc) noexcept nogil
