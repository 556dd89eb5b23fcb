# SPDX-License-Identifier: BSD-3-Clause
# Prefixes, or suffixes, of a search from both ends, token by token; see _meeting.pxd.

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from ._heap cimport grown

cdef struct Item:
    int32_t parent             # the item that it extends, -1 = it is the first or last label alone
    int32_t label
    int32_t link               # next item of the same token and label, -1 = none

cdef struct Side:
    Py_ssize_t token           # of the items in front
    Item *item                 # those of all tokens up to it
    Py_ssize_t n_items
    Py_ssize_t capacity
    Py_ssize_t first           # first item in front
    int32_t *head              # (n_labels,) first item in front with that label, -1 = none
    double *vector             # (n_items - first, width)
    Py_ssize_t room
    # those of the next token, in the making
    Py_ssize_t new_first
    int32_t *new_head
    double *new_vector
    Py_ssize_t new_room
    int32_t *heads             # what holds both


cdef inline int side_open(Side *side, Py_ssize_t n_labels) noexcept nogil:
    side.heads = <int32_t *> malloc(2 * <size_t>n_labels * sizeof(int32_t))
    if side.heads == NULL:
        return -1
    side.head = side.heads
    side.new_head = side.heads + n_labels
    return 0


cdef inline void side_free(Side *side) noexcept nogil:
    free(side.heads)
    free(side.item)
    free(side.vector)
    free(side.new_vector)


cdef inline void side_begin(Side *side, Py_ssize_t n_labels) noexcept nogil:
    """Before the items of a token."""
    cdef Py_ssize_t label
    side.new_first = side.n_items
    for label in range(n_labels):
        side.new_head[label] = -1


cdef inline double *side_add(Side *side, Py_ssize_t width, Py_ssize_t parent, Py_ssize_t label) noexcept nogil:
    """A new item; where its vector belongs, NULL if there is no memory."""
    cdef Py_ssize_t i = side.n_items
    cdef Py_ssize_t at = i - side.new_first
    cdef void *moved = grown(side.item, &side.capacity, i + 1, sizeof(Item))
    if moved == NULL:
        return NULL
    side.item = <Item *> moved
    moved = grown(side.new_vector, &side.new_room, (at + 1) * width, sizeof(double))
    if moved == NULL:
        return NULL
    side.new_vector = <double *> moved
    side.item[i].parent = <int32_t> parent
    side.item[i].label = <int32_t> label
    side.item[i].link = side.new_head[label]
    side.new_head[label] = <int32_t> i
    side.n_items += 1
    return side.new_vector + at * width


cdef inline void side_end(Side *side, Py_ssize_t token) noexcept nogil:
    """The items of the token are all there: they are in front now."""
    side.token = token
    side.first = side.new_first
    side.vector, side.new_vector = side.new_vector, side.vector
    side.room, side.new_room = side.new_room, side.room
    side.head, side.new_head = side.new_head, side.head
