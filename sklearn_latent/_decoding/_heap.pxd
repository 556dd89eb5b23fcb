# SPDX-License-Identifier: BSD-3-Clause
# What both searches stand on: arrays that grow, and a binary heap of prefixes to be, largest value first.
#
# An entry is a prefix that has not been made yet: the prefix it extends, and the label or state put behind it. Ties go
# to the entry that extends the longer prefix. How long a prefix is stands in the caller's array of prefixes: `length`
# points to that number in the first one, `stride` bytes lead to the next one's; NULL leaves ties as they come.

from libc.stdint cimport int32_t
from libc.stdlib cimport realloc

cdef struct Entry:
    double value
    int32_t parent
    int32_t choice

cdef struct Heap:
    Entry *entry
    Py_ssize_t size
    Py_ssize_t capacity


cdef inline void *grown(void *data, Py_ssize_t *capacity, Py_ssize_t needed, size_t item) noexcept nogil:
    """Room for `needed` items; NULL when there is none, and then `data` stays as it was."""
    cdef Py_ssize_t size = max(needed, 2 * capacity[0], 64)
    cdef void *moved
    if needed <= capacity[0]:
        return data
    moved = realloc(data, <size_t>size * item)
    if moved != NULL:
        capacity[0] = size
    return moved


cdef inline bint precedes(const Entry *a, const Entry *b, const int32_t *length, Py_ssize_t stride) noexcept nogil:
    cdef const char *base = <const char *> length
    if a.value != b.value:
        return a.value > b.value
    if length == NULL:
        return False
    return (<const int32_t *> (base + a.parent * stride))[0] > (<const int32_t *> (base + b.parent * stride))[0]


cdef inline int push(Heap *heap, const int32_t *length, Py_ssize_t stride, double value, Py_ssize_t parent,
                     Py_ssize_t choice) noexcept nogil:
    """Put an entry in; -1 if there is no room."""
    cdef Entry item
    cdef Py_ssize_t i = heap.size
    cdef Py_ssize_t up
    cdef void *moved = grown(heap.entry, &heap.capacity, i + 1, sizeof(Entry))
    if moved == NULL:
        return -1
    heap.entry = <Entry *> moved
    item.value = value
    item.parent = <int32_t> parent
    item.choice = <int32_t> choice
    while i > 0:
        up = (i - 1) >> 1
        if not precedes(&item, &heap.entry[up], length, stride):
            break
        heap.entry[i] = heap.entry[up]
        i = up
    heap.entry[i] = item
    heap.size += 1
    return 0


cdef inline Entry pop(Heap *heap, const int32_t *length, Py_ssize_t stride) noexcept nogil:
    """Take the first entry out of a heap that has one."""
    cdef Entry top = heap.entry[0]
    cdef Entry item
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t child = 1
    heap.size -= 1
    item = heap.entry[heap.size]
    while child < heap.size:
        if child + 1 < heap.size and precedes(&heap.entry[child + 1], &heap.entry[child], length, stride):
            child += 1
        if not precedes(&heap.entry[child], &item, length, stride):
            break
        heap.entry[i] = heap.entry[child]
        i = child
        child = 2 * i + 1
    heap.entry[i] = item
    return top
