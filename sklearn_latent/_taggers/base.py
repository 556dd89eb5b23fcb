# SPDX-License-Identifier: BSD-3-Clause
"""What every tagger does after `fit`: each method a few lines over a lattice."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._decoding import Decoded, Decoder, DecodeResult, label_nbest
from .._decoding.path_mass import path_mass
from .._decoding.spans import SpanReader
from .._lattice import Lattice
from .._scorers import Design
from .._sequences import LabelSequences, SequenceMatrix
from .._sequences.labels import one_kind
from .._sequences.stream import TokenStream
from .._sequences.validation import (
    as_corpus_or_stream,
    as_features,
    check_finite,
    check_labels,
    check_n_features,
    check_sample_weight,
    check_spans,
)
from .._threads import BLOCK_TOKENS, Workers, collector_paused, cut_by_tokens, one_blas_thread
from ..exceptions import InexactDecodingWarning
from ..metrics import get_chunks
from .options import MOST_SEARCH, check_scheme, make_decoder

__all__ = ["SequenceTaggerMixin", "check_n"]

#: Tokens whose features are made at a time where they can be: few megabytes, and long runs of look-ups in one table.
PART_TOKENS = 8 * BLOCK_TOKENS
#: Bytes of the scores of a block, which are gone through several times and should stay near the processor meanwhile.
_BLOCK_BYTES = 1 << 22


class SequenceTaggerMixin:
    """Prediction from a fitted chain model.

    A tagger has ``classes_``, ``n_features_in_``, the topology in ``_topology``, the label coding in ``_codec()``, and
    ``_scoring(sparse)``, which gives the scorer and its prepared parameters.
    """

    def predict(self, X, *, fixed=None) -> LabelSequences:
        """Label sequences.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, 3-D array, or list of lists of tokens
            See the user guide for every accepted form.
        fixed : list of lists of labels, default=None
            Labels to keep, with None where the label is to be found.

        Returns
        -------
        LabelSequences
            One list of labels a sequence, empty for an empty sequence.
        """
        return self._decode(X, None, {"fixed": fixed}, labels_only=True).labels

    def decode(self, X, decoder: str | None = None, **options) -> DecodeResult:
        """Label sequences with their probability and what is proven about it.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, 3-D array, or list of lists of tokens
        decoder : {"ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"}, default=None
            None: the estimator's own.
        **options : any of n_paths, alpha, mbr_metric, max_search, epsilon, fixed
            Replace the estimator's parameters for this call. ``epsilon`` (default 0.0) lets ``"ldi_exact"`` accept an
            answer certified to within that relative gap; ``fixed`` holds labels to keep, None where unknown.

        Returns
        -------
        DecodeResult

        Raises
        ------
        TypeError
            If an option is not known.
        """
        return self._decode(X, decoder, options)

    def predict_marginals(self, X, *, fixed=None) -> LabelSequences:
        """Probability of each label at each token.

        Parameters
        ----------
        X : as in `predict`
        fixed : as in `predict`
            Probabilities are conditional on these labels.

        Returns
        -------
        LabelSequences of ndarray of shape (T, n_classes)
            Columns in the order of ``classes_``; rows add up to one.
        """
        corpus = self._check_X(X)
        parts = self._map_lattices(corpus, lambda lattice: lattice.label_marginals(), fixed)
        return self._per_sequence(corpus, parts, (0, len(self.classes_)))

    def predict_latent(self, X) -> LabelSequences:
        """States of the best latent path.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        LabelSequences of ndarray of int of shape (T,)
            Indices of states; ``state_labels_`` gives the label of each.
        """
        corpus = self._check_X(X)
        parts = self._map_lattices(corpus, lambda lattice: lattice.best_path()[0].astype(np.int64))
        return self._per_sequence(corpus, parts, (0,), np.int64)

    def predict_latent_marginals(self, X) -> LabelSequences:
        """Probability of each latent state at each token.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        LabelSequences of ndarray of shape (T, n_states)
        """
        corpus = self._check_X(X)
        parts = self._map_lattices(corpus, lambda lattice: lattice.expectations()[0])
        return self._per_sequence(corpus, parts, (0, self._topology.n_states))

    def predict_nbest(self, X, n: int, *, fixed=None) -> list[list[tuple[list, float]]]:
        """The most probable label sequences of each sequence.

        Parameters
        ----------
        X : as in `predict`
        n : int
            How many, at least one.
        fixed : as in `predict`

        Returns
        -------
        list of lists of (labels, probability)
            Most probable first, latent states summed out, none of probability zero, so possibly fewer than `n`;
            ``[([], 1.0)]`` for an empty sequence. Where all probabilities of a long sequence are too small for a float,
            they come as 0.0.
        """
        n = check_n(n)
        corpus = self._check_X(X)
        max_search = min(int(self.max_search), MOST_SEARCH)
        padded: list[Any] = [*self.classes_.tolist(), None]
        classes = np.array(padded, dtype=object)[:-1]

        def nbest(lattice: Lattice) -> list:
            out = []
            for ranked in label_nbest(lattice, int(n), max_search):
                prob = np.exp(ranked.log_prob)
                # Nothing but 0.0 is no reason to give no answer; beside a 1.0 it is as good as impossible.
                there = prob > 0 if prob.any() else ranked.log_prob > -np.inf
                labels = classes[ranked.labels[there]].tolist()
                out.append((list(zip(labels, prob[there].tolist(), strict=True)), ranked.proven))
            return out

        with collector_paused():
            found = [entry for part in self._map_lattices(corpus, nbest, fixed) for entry in part]
        unproven = sum(not proven for _, proven in found)
        if unproven:
            self._warn_inexact(unproven, len(corpus), self.max_search)
        return LabelSequences([pairs for pairs, _ in found])

    def predict_spans(self, X, spans=None, *, scheme: str = "iob2", fixed=None) -> LabelSequences:
        """Probability of chunks.

        Parameters
        ----------
        X : as in `predict`
        spans : list of n lists of (start, stop, type), default=None
            Chunks to look at, `stop` exclusive. None: those of the labels that the estimator's decoder finds.
        scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"}, default="iob2"
            How labels spell chunks.
        fixed : as in `predict`

        Returns
        -------
        LabelSequences of lists of (start, stop, type, probability)
            The probability that exactly this chunk with this type is among the chunks of the sequence, summed over all
            label sequences that have it. Labels are read strictly: a stray I starts no chunk.

        Raises
        ------
        ValueError
            If a label of the model is no chunk label of the scheme, or a span is not inside its sequence.
        """
        check_is_fitted(self)
        reader = SpanReader(self.classes_.tolist(), check_scheme(scheme))
        corpus = self._check_X(X)
        if spans is None:
            labels = self.decode(corpus, fixed=fixed).labels
            wanted = [get_chunks(sequence, scheme=scheme, invalid="discard") for sequence in labels]
        else:
            wanted = check_spans(spans, corpus.lengths)
        place = dict(zip(corpus.offsets[:-1][corpus.lengths > 0].tolist(), np.flatnonzero(corpus.lengths), strict=True))

        def read(lattice: Lattice, rows: slice) -> list[tuple]:
            # Sequences of a block are told apart by their first row; empty ones have no chunk.
            own = [place[rows.start + a] if a < b else None for a, b in lattice.ranges()]
            asked = [wanted[i] if i is not None else [] for i in own]
            found = reader.log_prob(lattice, asked)
            return [
                (i, [(*span, p) for span, p in zip(spans_, np.exp(values).tolist(), strict=True)])
                for i, spans_, values in zip(own, asked, found, strict=True)
            ]

        out: list[list] = [[] for _ in range(len(corpus))]
        for part in self._map_lattices(corpus, read, fixed, rows=True):
            for i, entries in part:
                if i is not None:
                    out[i] = entries
        return LabelSequences(out)

    def log_likelihood(self, X, y) -> np.ndarray:
        """log P(y_i | x_i) of each sequence.

        Parameters
        ----------
        X : as in `predict`
        y : list of lists of labels
            None where unknown: summed over.

        Returns
        -------
        ndarray of shape (n_sequences,)
            0.0 for an empty sequence, ``-inf`` where a label was not there in training or is forbidden.
        """
        corpus = self._check_X(X)
        labels = check_labels(y, corpus.lengths)
        one_kind(labels)
        codes = self._codec().encode(labels)
        parts = self._map_lattices(
            corpus, lambda lattice, rows: lattice.label_log_prob(np.ascontiguousarray(codes[rows])), rows=True
        )
        return np.concatenate(parts) if parts else np.empty(0)

    def score(self, X, y, sample_weight=None) -> float:
        """Share of tokens labelled right.

        Parameters
        ----------
        X : as in `predict`
        y : list of lists of labels
            Tokens whose label is None don't count; labels not seen in training count as wrong.
        sample_weight : array-like of shape (n_sequences,), default=None
            Weight of each sequence's tokens.

        Returns
        -------
        float
            1.0 if there is no token to count.
        """
        corpus = self._check_X(X)
        labels = check_labels(y, corpus.lengths)
        one_kind(labels)
        weight = np.repeat(check_sample_weight(sample_weight, len(corpus)), corpus.lengths)
        codec = self._codec()
        truth, found = codec.encode(labels), codec.encode(self.decode(corpus).labels)
        weight = np.where(truth == -1, 0.0, weight)
        total = weight.sum()
        return float(weight[truth == found].sum() / total) if total > 0 else 1.0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        tags.input_tags.dict = True
        return tags

    # -- inside -------------------------------------------------------------------------------------

    def _decode(self, X, decoder: str | None, options: dict, *, labels_only: bool = False) -> DecodeResult:
        """What `decode` does; `labels_only`: all else in the result may be missing."""
        check_is_fitted(self)
        method, known, fixed = self._decode_options(decoder, options)
        began = time.perf_counter()
        lengths = [np.empty(0, dtype=np.int64)]

        def corpora() -> Iterator[SequenceMatrix]:
            # Labels that are held have to be compared with all of the sequences first.
            for corpus in self._check_parts(X) if fixed is None else [self._check_X(X)]:
                lengths.append(corpus.lengths)
                yield corpus

        def labels_alone(lattice: Lattice) -> Decoded | None:
            codes = method.label_ids(lattice)
            return None if codes is None else Decoded.of(codes, len(lattice))

        quick = labels_alone if labels_only and hasattr(method, "label_ids") else None
        parts: list[Decoded] = self._map_lattices(corpora(), method.decode, fixed, quick=quick)
        joined = {
            name: np.concatenate([getattr(part, name) for part in parts]) if parts else np.empty(0, dtype=dtype)
            for name, dtype in (
                ("codes", np.int32), ("log_prob", float), ("upper_bound", float), ("exact", bool),
                ("n_paths", np.int64), ("n_expanded", np.int64),
            )
        }  # fmt: skip
        offsets = np.append(0, np.cumsum(np.concatenate(lengths)))
        unfinished = sum(part.n_unfinished for part in parts)
        if unfinished:
            self._warn_inexact(unfinished, len(offsets) - 1, known["max_search"], depth=4)
        labels = self._codec().decode(joined.pop("codes"), offsets)
        return DecodeResult(labels=labels, **joined, seconds=time.perf_counter() - began)

    def _decode_options(self, decoder: str | None, options: dict) -> tuple[Decoder, dict, Any]:
        """The decoder asked for, all options, and the labels to keep."""
        known = {
            "decoder": self.decoder if decoder is None else decoder,
            "n_paths": self.n_paths,
            "alpha": self.alpha,
            "mbr_metric": self.mbr_metric,
            "max_search": self.max_search,
            "epsilon": 0.0,
        }
        fixed = options.pop("fixed", None)
        for name in options:
            if name not in known:
                allowed = sorted([*(set(known) - {"decoder"}), "fixed"])
                raise TypeError(f"decode has no option {name!r}; its options are {', '.join(allowed)}")
        known |= options
        scheme = self.constraints if isinstance(self.constraints, str) else None
        return make_decoder(known, self.classes_.tolist(), scheme), known, fixed

    def _latent_path_mass(self, X, n: int) -> np.ndarray:
        """Share of the probability that the best 1, 2, ... n latent paths of each sequence with tokens hold."""
        max_search = min(int(self.max_search), MOST_SEARCH)

        def masses(lattice: Lattice) -> list[np.ndarray]:
            return path_mass(lattice, n, max_search)

        found = [row for part in self._map_lattices(self._check_X(X), masses) for row in part]
        return np.array(found).reshape(len(found), n)

    def _check_X(self, X) -> SequenceMatrix:
        """Whatever the user passes, as checked features of the width known from `fit`."""
        check_is_fitted(self)
        vectorizer = getattr(self, "vectorizer_", None)
        corpus: Any
        raw = corpus = as_corpus_or_stream(X, stream=getattr(vectorizer, "_reads_once", False))
        if isinstance(raw, list) and not any(raw):
            return SequenceMatrix(np.zeros((0, self.n_features_in_)), np.zeros(len(raw), dtype=np.int64))
        if not isinstance(raw, SequenceMatrix):
            if vectorizer is None:
                raise TypeError(
                    f"X holds tokens, but this {type(self).__name__} was fitted on numbers: "
                    f"pass a SequenceMatrix or a list of (T, {self.n_features_in_}) arrays"
                )
            corpus = vectorizer.transform(raw)
            lengths = raw.lengths.tolist() if isinstance(raw, TokenStream) else list(map(len, raw))
            corpus = as_features(corpus, lengths, vectorizer)
        check_n_features(corpus, self.n_features_in_, type(self).__name__)
        check_finite(corpus)
        return corpus

    def _check_parts(self, X) -> Iterator[SequenceMatrix]:
        """As `_check_X`, but part by part where the vectorizer can: the features of a large corpus are most of it."""
        vectorizer = getattr(self, "vectorizer_", None)
        # Asked of the very class: one derived from it may transform in another way.
        if "_transform_parts" not in vars(type(vectorizer)):
            yield self._check_X(X)
            return
        raw = as_corpus_or_stream(X)
        if isinstance(raw, SequenceMatrix) or (isinstance(raw, list) and not any(raw)):
            yield self._check_X(raw)
            return
        for corpus in vectorizer._transform_parts(raw, PART_TOKENS):
            check_n_features(corpus, self.n_features_in_, type(self).__name__)
            check_finite(corpus)
            yield corpus

    def _lattices(self, corpora: Iterable[SequenceMatrix], fixed) -> Iterator[Callable[[], tuple]]:
        """Tasks that each make the lattice of a block of sequences, the rows it covers, and the check of its sums."""
        scoring: dict[bool, tuple] = {}  # by whether features are sparse
        first_sequence = first_row = 0
        for corpus in corpora:
            sparse = sp.issparse(corpus.values)
            if sparse not in scoring:
                scoring[sparse] = self._scoring(sparse)
            clamp = None if fixed is None else self._fixed_codes(fixed, corpus)
            scorer, prepared = scoring[sparse]
            yield from self._blocks(corpus, clamp, scorer, prepared, first_sequence, first_row)
            first_sequence += len(corpus)
            first_row += corpus.n_tokens

    def _blocks(
        self, corpus: SequenceMatrix, clamp, scorer, prepared, first_sequence: int, first_row: int
    ) -> Iterator[Callable[[], tuple]]:
        """The tasks of one corpus, whose first sequence and row have these numbers."""
        whole = Design(corpus.values)
        row_bytes = scorer.row_bytes
        best = scorer.maximised()
        max_tokens = max(1, min(BLOCK_TOKENS, _BLOCK_BYTES // max(1, row_bytes)))

        def make(first: int, last: int) -> tuple[Lattice, slice, Callable[[], None]]:
            rows = slice(int(corpus.offsets[first]), int(corpus.offsets[last]))
            offsets = corpus.offsets[first : last + 1] - rows.start

            def lattice_of(scorer) -> Lattice:
                with np.errstate(over="ignore", invalid="ignore"):  # told by the check, with the sequence
                    node, arc = scorer.forward(prepared, whole.rows(rows.start, rows.stop), offsets)
                if clamp is not None:
                    held = clamp[rows]
                    node[(held[:, None] != -1) & (held[:, None] != self._topology.state_label[None, :])] = -np.inf
                return Lattice(self._topology, node, arc, offsets)

            lattice = lattice_of(scorer)
            if best is not None:
                lattice.maximised = lambda: lattice_of(best)
            covered = slice(first_row + rows.start, first_row + rows.stop)
            return lattice, covered, lambda: self._check_possible(lattice, first_sequence + first, clamp is not None)

        for first, last in cut_by_tokens(corpus.lengths, max_tokens):
            yield partial(make, first, last)

    def _map_lattices(
        self,
        corpora: SequenceMatrix | Iterable[SequenceMatrix],
        f: Callable,
        fixed=None,
        *,
        rows: bool = False,
        quick: Callable | None = None,
    ) -> list[Any]:
        """Apply `f` to the lattice of each block, with its rows if asked; results in order.

        `quick`, if given, calls no BLAS; it is asked first, and `f` where it returns None.
        """

        def task(make: Callable):
            lattice, covered, check = make()
            found = None if quick is None else quick(lattice)
            if found is not None:
                return found
            with one_blas_thread() if quick is not None else nullcontext():
                check()
                return f(lattice, covered) if rows else f(lattice)

        with ExitStack() as limit, Workers(self.n_jobs) as workers:

            def limited() -> Iterator[SequenceMatrix]:
                # To hold BLAS takes longer than to label a sentence: not where nothing calls it.
                entered = False
                for corpus in [corpora] if isinstance(corpora, SequenceMatrix) else corpora:
                    if not entered and (quick is None or not sp.issparse(corpus.values)):
                        limit.enter_context(one_blas_thread())
                        entered = True
                    yield corpus

            return list(workers.map(task, self._lattices(limited(), fixed)))

    def _check_possible(self, lattice: Lattice, first: int, fixed: bool) -> None:
        log_sum = lattice.free_log_sum
        if np.isfinite(log_sum).all():
            return
        i = int(np.flatnonzero(~np.isfinite(log_sum))[0])
        node = lattice.node[slice(*lattice.ranges()[i])]
        if np.isneginf(log_sum[i]) and (node < np.inf).all() and (lattice.arc < np.inf).all():
            why = "the fixed labels and the constraints leave" if fixed else "the constraints leave"
            raise ValueError(f"X[{first + i}]: {why} no label sequence")
        raise ValueError(f"X[{first + i}]: its scores are beyond what floating point holds (log sum {log_sum[i]})")

    def _fixed_codes(self, fixed, corpus: SequenceMatrix) -> np.ndarray:
        labels = check_labels(fixed, corpus.lengths, "fixed")
        codes = self._codec().encode(labels)
        if (codes < -1).any():
            row = int(np.flatnonzero(codes < -1)[0])
            i = int(np.searchsorted(corpus.offsets, row, side="right")) - 1
            t = row - int(corpus.offsets[i])
            raise ValueError(f"fixed[{i}][{t}] is {labels[i][t]!r}, which is not a label of this model")
        return codes

    @staticmethod
    def _per_sequence(corpus: SequenceMatrix, parts: list[np.ndarray], empty: tuple, dtype=float) -> LabelSequences:
        """Cut stacked arrays into one array a sequence."""
        stacked = np.concatenate(parts) if parts else np.empty(empty, dtype=dtype)
        bounds = corpus.offsets.tolist()
        return LabelSequences([stacked[a:b].copy() for a, b in zip(bounds[:-1], bounds[1:], strict=True)])

    @staticmethod
    def _warn_inexact(n: int, total: int, max_search: int, depth: int = 3) -> None:
        warnings.warn(
            f"{n} of {total} sequences were decoded without proof: the search ended at max_search={max_search}; "
            "decode() gives each one's bound, a larger max_search or epsilon > 0 closes the gap",
            InexactDecodingWarning,
            stacklevel=depth,
        )


def check_n(n) -> int:
    """Judge a number of label sequences.

    Raises
    ------
    ValueError
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    return int(n)
