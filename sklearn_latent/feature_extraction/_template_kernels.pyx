# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the template vectorizer: from ids of strings to columns of features.

What is computed
----------------
``ids[c, i]`` is the id of the string that token i has in stream c (a column, or something derived from one).
A template is a short list of items (row, stream). At token i of a sequence that holds tokens [first, last) its key is
the tuple

    key_j = ids[stream_j, i + row_j]            j = 0 .. width - 1,

and each distinct key of a template is one feature. An item outside of the sequence either skips the template (kind
SKIP) or gives a number of its own (kind PADDED): -2k for k positions before the start, -2k - 1 for k positions behind
the end. The id -1 says "no such string known" and skips the template whatever its kind. Kinds FIRST and LAST have no
items and hold at the first and last token only; a PADDED template without items holds everywhere.

How a key is found
------------------
Features of a template are numbered 0, 1, ... in order of first occurrence, so numbers depend on the corpus alone and
not on any hash seed. A template of one item looks its feature up in a direct table, at ``key + shift``. Wider
templates use open addressing with linear probing in a power-of-two table of feature numbers, never more than half
full; the keys themselves stand in one array by feature number and are compared in full, so that two keys with the
same hash are never taken for one another.

Why in this order
-----------------
Templates are the outer loop: one table at a time is in use, which fits a cache where all of them would not, and the
result row ``local[t]`` is written in one sweep. The transposition to token order happens at the end, when the rows of
the CSR matrix are filled, and reads n_templates sequential streams. Because columns are grouped by template and a
template holds at most once at a token, the indices of each row come out sorted and without duplicates.

Cost per token and template: `width` reads, one multiplication per item, and about two cache misses for wide templates.
When features are only looked up, these are paid for a batch of tokens at once: first all slots are asked for, then all
keys, then they are compared.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef enum:
    PADDED = 1
    FIRST = 2
    LAST = 3
    MAX_WIDTH = 64
    BATCH = 16

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define sl_prefetch(address) __builtin_prefetch(address)
    #else
    #define sl_prefetch(address) ((void)0)
    #endif
    """
    void prefetch "sl_prefetch" (const void* address) noexcept nogil

ctypedef fused index_t:
    int32_t
    int64_t


cdef inline uint64_t hash_key(const int32_t* key, Py_ssize_t width) noexcept nogil:
    """Multiply-and-fold over the items; the last step spreads the high bits over the low ones."""
    cdef uint64_t h = <uint64_t> 0x9E3779B97F4A7C15
    cdef Py_ssize_t j
    for j in range(width):
        h = (h ^ <uint64_t> <uint32_t> key[j]) * <uint64_t> 0xFF51AFD7ED558CCD
        h ^= h >> 32
    h = h * <uint64_t> 0xC4CEB9FE1A85EC53
    return h ^ (h >> 29)


cdef inline bint read_key(
    const int32_t* ids, Py_ssize_t n_tokens, const int32_t* row, const int32_t* stream, Py_ssize_t width,
    bint padded, Py_ssize_t first, Py_ssize_t last, Py_ssize_t i, int32_t* key,
) noexcept nogil:
    """Write the key of a template at token i; False if the template does not hold there."""
    cdef Py_ssize_t j, k
    for j in range(width):
        k = i + row[j]
        if k < first:
            if not padded:
                return False
            key[j] = <int32_t> (-2 * (first - k))
        elif k >= last:
            if not padded:
                return False
            key[j] = <int32_t> (-2 * (k - last + 1) - 1)
        else:
            key[j] = ids[stream[j] * n_tokens + k]
            if key[j] == -1:
                return False
    return True


cdef inline bint holds_at(int kind, Py_ssize_t first, Py_ssize_t last, Py_ssize_t i) noexcept nogil:
    """Whether a template without items holds at token i."""
    if kind == FIRST:
        return i == first
    if kind == LAST:
        return i == last - 1
    return True


cdef inline Py_ssize_t find_slot(
    const int32_t* slots, Py_ssize_t mask, const int32_t* keys, const int32_t* key, Py_ssize_t width,
) noexcept nogil:
    """The slot that holds this key, or the free one where it belongs."""
    cdef Py_ssize_t s = <Py_ssize_t> (hash_key(key, width) & <uint64_t> mask)
    return find_slot_from(slots, mask, keys, key, width, s)


cdef inline Py_ssize_t find_slot_from(
    const int32_t* slots, Py_ssize_t mask, const int32_t* keys, const int32_t* key, Py_ssize_t width, Py_ssize_t s,
) noexcept nogil:
    """As `find_slot`, for a key whose search begins at slot s."""
    cdef Py_ssize_t j
    cdef const int32_t* other
    while slots[s] >= 0:
        other = keys + slots[s] * width
        for j in range(width):
            if other[j] != key[j]:
                break
        else:
            return s
        s = (s + 1) & mask
    return s


def learn_template(
    const int32_t[:, ::1] ids,      # IN     (n_streams, n_tokens) ids of strings, -1 = none
    const int64_t[::1] offsets,     # IN     (n_sequences + 1,)
    const int32_t[::1] rows,        # IN     (width,) position relative to the token
    const int32_t[::1] streams,     # IN     (width,)
    int kind,                       # SKIP, PADDED, FIRST or LAST
    Py_ssize_t shift,               # of the direct table, for width 1
    int32_t[::1] slots,             # INOUT  direct table or hash table of feature numbers, -1 = free
    int32_t[::1] keys,              # INOUT  (capacity * width,) keys by feature number
    Py_ssize_t capacity,            # features that keys and slots have room for
    Py_ssize_t n_features,          # features known so far
    Py_ssize_t first_sequence,      # where to begin
    int32_t[::1] local,             # OUT    (n_tokens,) feature number at each token, -1 = none
):
    """Number the keys of one template; stops before a sequence that may not find room.

    Returns
    -------
    (int, int)
        The sequence to go on with, ``n_sequences`` if all are done, and the number of features.
    """
    cdef Py_ssize_t width = rows.shape[0]
    cdef Py_ssize_t n_tokens = ids.shape[1]
    cdef Py_ssize_t n_sequences = offsets.shape[0] - 1
    cdef Py_ssize_t mask = slots.shape[0] - 1
    cdef Py_ssize_t sequence = first_sequence, first, last, i, s, j
    cdef int32_t[MAX_WIDTH] key
    cdef bint holds
    if n_tokens == 0:
        return n_sequences, n_features
    if width > MAX_WIDTH:
        raise ValueError(f"a template has at most {MAX_WIDTH} items, not {width}")
    with nogil:
        while sequence < n_sequences:
            first = offsets[sequence]
            last = offsets[sequence + 1]
            if n_features + (last - first) > capacity:
                break
            for i in range(first, last):
                if width == 0:
                    holds = holds_at(kind, first, last, i)
                    local[i] = 0 if holds else -1
                    if holds:
                        n_features = 1
                    continue
                if not read_key(
                    &ids[0, 0], n_tokens, &rows[0], &streams[0], width, kind == PADDED, first, last, i, &key[0]
                ):
                    local[i] = -1
                    continue
                if width == 1:
                    s = key[0] + shift
                else:
                    s = find_slot(&slots[0], mask, &keys[0], &key[0], width)
                if slots[s] < 0:
                    slots[s] = <int32_t> n_features
                    for j in range(width):
                        keys[n_features * width + j] = key[j]
                    n_features += 1
                local[i] = slots[s]
            sequence += 1
    return sequence, n_features


def fill_slots(
    const int32_t[::1] keys,        # IN     (n_features * width,) or longer
    Py_ssize_t width,
    Py_ssize_t n_features,
    Py_ssize_t shift,               # of the direct table, for width 1
    int32_t[::1] slots,             # INOUT  all -1 on entry; length a power of two unless width is 1
):
    """Enter known keys into a table."""
    cdef Py_ssize_t mask = slots.shape[0] - 1
    cdef Py_ssize_t f, s
    if width == 0:
        return
    with nogil:
        for f in range(n_features):
            if width == 1:
                s = keys[f] + shift
            else:
                s = find_slot(&slots[0], mask, &keys[0], &keys[f * width], width)
            slots[s] = <int32_t> f


cdef void find_single(
    const int32_t* ids, int32_t row, const int32_t* table, Py_ssize_t shift, bint padded,
    const int64_t[::1] offsets, int32_t* local,
) noexcept nogil:
    """Look a template of one item up at every token; `ids` are those of its stream."""
    cdef Py_ssize_t sequence, first, last, inside, outside, i
    cdef int32_t key, found
    for sequence in range(offsets.shape[0] - 1):
        first = offsets[sequence]
        last = offsets[sequence + 1]
        inside = min(max(first, first - row), last)
        outside = max(min(last, last - row), inside)
        for i in range(first, inside):
            local[i] = table[-2 * (first - i - row) + shift] if padded else -1
        for i in range(inside, outside):
            # Looked up before it is known to be a string, so that nothing has to be guessed: shift is 2 at least.
            key = ids[i + row]
            found = table[key + shift]
            local[i] = -1 if key == -1 else found
        for i in range(outside, last):
            local[i] = table[-2 * (i + row - last + 1) - 1 + shift] if padded else -1


cdef void find_wide(
    const int32_t* ids, Py_ssize_t n_tokens, const int32_t* row, const int32_t* stream, Py_ssize_t width, bint padded,
    const int32_t* table, Py_ssize_t mask, const int32_t* known, const int64_t[::1] offsets, int32_t* local,
) noexcept nogil:
    """Look a template of several items up at every token, BATCH of them at a time: see the head of the file."""
    cdef int32_t[BATCH * MAX_WIDTH] key
    cdef Py_ssize_t[BATCH] token
    cdef Py_ssize_t[BATCH] slot
    cdef Py_ssize_t sequence, first, last, i, b, n = 0
    cdef Py_ssize_t n_sequences = offsets.shape[0] - 1
    for sequence in range(n_sequences):
        first = offsets[sequence]
        last = offsets[sequence + 1]
        for i in range(first, last):
            if not read_key(ids, n_tokens, row, stream, width, padded, first, last, i, &key[n * width]):
                local[i] = -1
                continue
            token[n] = i
            slot[n] = <Py_ssize_t> (hash_key(&key[n * width], width) & <uint64_t> mask)
            prefetch(table + slot[n])
            n += 1
            if n == BATCH:
                for b in range(n):
                    if table[slot[b]] >= 0:
                        prefetch(known + table[slot[b]] * width)
                for b in range(n):
                    local[token[b]] = table[find_slot_from(table, mask, known, &key[b * width], width, slot[b])]
                n = 0
    for b in range(n):
        local[token[b]] = table[find_slot_from(table, mask, known, &key[b * width], width, slot[b])]


def find_features(
    const int32_t[:, ::1] ids,      # IN     (n_streams, n_tokens)
    const int64_t[::1] offsets,     # IN     (n_sequences + 1,)
    const int64_t[::1] item_ptr,    # IN     (n_templates + 1,) items of each template
    const int32_t[::1] rows,        # IN     (n_items,)
    const int32_t[::1] streams,     # IN     (n_items,)
    const uint8_t[::1] kinds,       # IN     (n_templates,)
    Py_ssize_t shift,
    const int64_t[::1] slot_ptr,    # IN     (n_templates + 1,) table of each template
    const int32_t[::1] slots,       # IN
    const int64_t[::1] key_ptr,     # IN     (n_templates + 1,) keys of each template
    const int32_t[::1] keys,        # IN
    const int64_t[::1] column_ptr,  # IN     (n_templates + 1,) columns of each template
    int32_t[:, ::1] local,          # OUT    (n_templates, n_tokens) feature number within the template, -1 = none
):
    """Look the key of every template up at every token."""
    cdef Py_ssize_t n_templates = kinds.shape[0]
    cdef Py_ssize_t n_tokens = ids.shape[1]
    cdef Py_ssize_t n_sequences = offsets.shape[0] - 1
    cdef Py_ssize_t t, sequence, first, last, i, width, mask
    cdef const int32_t* row
    cdef const int32_t* stream
    cdef const int32_t* table
    cdef const int32_t* known
    if n_tokens == 0:
        return
    with nogil:
        for t in range(n_templates):
            width = item_ptr[t + 1] - item_ptr[t]
            if column_ptr[t] == column_ptr[t + 1]:
                for i in range(n_tokens):
                    local[t, i] = -1
                continue
            # These arrays end in a spare entry, so that an address behind the last item is still theirs.
            row = &rows[item_ptr[t]]
            stream = &streams[item_ptr[t]]
            table = &slots[slot_ptr[t]]
            known = &keys[key_ptr[t]]
            mask = slot_ptr[t + 1] - slot_ptr[t] - 1
            if width == 1:
                find_single(
                    &ids[stream[0], 0], row[0], table, shift, kinds[t] == PADDED, offsets, &local[t, 0]
                )
            elif width > 1:
                find_wide(
                    &ids[0, 0], n_tokens, row, stream, width, kinds[t] == PADDED, table, mask, known, offsets,
                    &local[t, 0],
                )
            else:
                for sequence in range(n_sequences):
                    first = offsets[sequence]
                    last = offsets[sequence + 1]
                    for i in range(first, last):
                        local[t, i] = 0 if holds_at(kinds[t], first, last, i) else -1


def count_entries(
    const int32_t[:, ::1] local,    # IN     (n_templates, n_tokens)
    int64_t[::1] indptr,            # INOUT  (n_tokens + 1,) zeros on entry
):
    """Row pointers of the CSR matrix."""
    cdef Py_ssize_t t, i
    with nogil:
        for t in range(local.shape[0]):
            for i in range(local.shape[1]):
                indptr[i + 1] += local[t, i] >= 0
        for i in range(local.shape[1]):
            indptr[i + 1] += indptr[i]


def fill_indices(
    const int32_t[:, ::1] local,    # IN     (n_templates, n_tokens)
    const int64_t[::1] column_ptr,  # IN     (n_templates + 1,) first column of each template
    const index_t[::1] indptr,      # IN     (n_tokens + 1,)
    index_t[::1] indices,           # OUT    (indptr[-1],) sorted within each row
):
    """Column indices of the CSR matrix."""
    cdef Py_ssize_t t, i, e
    with nogil:
        for i in range(local.shape[1]):
            e = indptr[i]
            for t in range(local.shape[0]):
                if local[t, i] >= 0:
                    indices[e] = <index_t> (column_ptr[t] + local[t, i])
                    e += 1
