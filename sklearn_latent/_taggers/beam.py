# SPDX-License-Identifier: BSD-3-Clause
"""What a locally normalised tagger answers where label histories are too many for a lattice: all by its beam."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from .._decoding import BayesRiskDecoder, BestPathDecoder, DecodeResult, MarginalDecoder
from .._decoding.beam import beam_search
from .._objective import Chunk, LocalObjective, TooManyHistories
from .._scorers import Design
from .._scorers.circuit import Inputs
from .._scorers.local import LocalScorer, tokens_after
from .._sequences import SequenceMatrix
from .._threads import BLOCK_TOKENS, CHUNK_BYTES, Workers, cut_by_tokens, one_blas_thread
from ..metrics import get_chunks
from .spn_model import LocalModel

__all__ = ["Beams"]

#: Bytes of leaf scores of the histories that are scored at a time.
_ROWS_BYTES = 1 << 24


@dataclass(frozen=True)
class Beams:
    """Answers of one model.

    Attributes
    ----------
    model : LocalModel
    width : int
        Label sequences kept at each token.
    n_jobs : int or None
    """

    model: LocalModel
    width: int
    n_jobs: int | None

    def search(
        self, corpus: SequenceMatrix, clamp: np.ndarray | None = None, *, width: int = 0, joint: bool = False
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Label ids (k, T) and log-probabilities (k,) of each sequence, best first.

        `clamp` holds label ids to keep, -1 where free. With `joint` hidden variables are maximised. Scores are of all
        label sequences, also where some are held.

        Raises
        ------
        ValueError
            If a sequence has no possible labels.
        """
        width = max(width, self.width)
        scorer = self.model.scorer(sp.issparse(corpus.values))
        prepared = scorer.prepare(self.model.params)
        scorer = (joint and scorer.maximised()) or scorer

        def task(bounds: tuple[int, int]) -> list:
            rows = slice(int(corpus.offsets[bounds[0]]), int(corpus.offsets[bounds[1]]))
            offsets = corpus.offsets[bounds[0] : bounds[1] + 1] - rows.start
            following = _following(scorer, prepared, whole.rows(rows.start, rows.stop), offsets)
            held = None if clamp is None else self._ways(clamp[rows], offsets)
            return beam_search(following, offsets, scorer.n_labels, scorer.width, width, held)

        whole = Design(corpus.values)
        leaves = sum(c.n_columns for c in scorer.circuits) * 8
        most = max(1, min(BLOCK_TOKENS, CHUNK_BYTES // max(1, leaves)))
        with one_blas_thread(), Workers(self.n_jobs) as workers:
            parts = list(workers.map(task, cut_by_tokens(corpus.lengths, most)))
        found = [entry for part in parts for entry in part]
        for i, (_, score) in enumerate(found):
            if not len(score) or not np.isfinite(score).all():
                why = "its scores are beyond what floating point holds"
                if not np.isnan(score).any():
                    rules = "constraints" if clamp is None else "fixed labels and the constraints"
                    why = f"the {rules} leave no label sequence that the beam finds; a larger beam_width may"
                raise ValueError(f"X[{i}]: {why}")
        return found

    def _ways(self, clamp: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Labels from which those held at later tokens, and an allowed end, can be reached, (n_tokens, n_labels)."""
        model, at = self.model, np.arange(self.model.n_labels)
        may = (clamp[:, None] == -1) | (clamp[:, None] == at)
        ends = offsets[1:][np.diff(offsets) > 0] - 1
        if model.end_allowed is not None:
            may[ends] &= model.end_allowed
        if model.moves is not None:
            last = np.zeros(len(may), dtype=bool)
            last[ends] = True
            for t in np.flatnonzero(~last)[::-1].tolist():
                if not may[t + 1].all():
                    may[t] &= (model.moves & may[t + 1]).any(axis=1)
                else:
                    may[t] &= model.moves.any(axis=1)
        return may

    def log_likelihood(self, corpus: SequenceMatrix, codes: np.ndarray) -> np.ndarray:
        """log P(labels) of each sequence, exact; unknown labels are summed out.

        Raises
        ------
        TooManyHistories
        """
        scorer = self.model.scorer(sp.issparse(corpus.values))
        objective = LocalObjective(self.model.topology, scorer, np.inf)
        prepared = scorer.prepare(self.model.params)
        weight = np.ones(len(corpus))
        chunks = Chunk.cut(corpus.values, codes, corpus.offsets, weight, scorer.row_bytes, scorer.block_tokens)
        out = []
        with one_blas_thread(), Workers(self.n_jobs) as workers:
            for chunk in chunks:
                try:
                    out.append(objective.log_likelihood(prepared, chunk, workers))
                except TooManyHistories as error:
                    raise TooManyHistories(chunk.first + error.sequence) from None
        return np.concatenate(out) if out else np.empty(0)

    def held(self, corpus: SequenceMatrix, clamp: np.ndarray | None, found: list) -> np.ndarray:
        """log P(labels held) of each sequence; where it can't be had, what the beam knows of it."""
        if clamp is None:
            return np.zeros(len(corpus))
        try:
            return self.log_likelihood(corpus, clamp)
        except TooManyHistories:
            return np.array([logsumexp(score) for _, score in found])

    def marginals(self, found: list) -> list[np.ndarray]:
        """Label marginals (T, n_labels) of each sequence, of the beam's sequences alone."""
        out = []
        for codes, score in found:
            share = np.exp(score - logsumexp(score))
            own = np.zeros((codes.shape[1], self.model.n_labels))
            for row, p in zip(codes, share, strict=True):
                own[np.arange(len(row)), row] += p
            out.append(own)
        return out

    def decode(self, corpus: SequenceMatrix, method, n_paths: int, clamp: np.ndarray | None, decode) -> DecodeResult:
        """Labels by a decoder object; `decode` turns ids and offsets into labels."""
        began = time.perf_counter()
        n, bhp = len(corpus), isinstance(method, BestPathDecoder)
        found = self.search(corpus, clamp, joint=bhp)
        taken = np.zeros(n, dtype=np.int64)
        chosen = []
        for i, (codes, score) in enumerate(found):
            k = 0
            if not codes.shape[1]:
                pass
            elif isinstance(method, BayesRiskDecoder):
                taken[i] = min(n_paths, len(codes))
                share = np.exp(score[: taken[i]] - logsumexp(score))
                k = int(np.argmax(method._expected_score(codes[: taken[i]], share)))
            elif not bhp and not isinstance(method, MarginalDecoder) and hasattr(method, "n_paths"):
                taken[i] = min(n_paths, len(codes))
            chosen.append(codes[k])
        if isinstance(method, MarginalDecoder):
            chosen = self._marginal_choice(found)
        codes = np.concatenate(chosen) if chosen else np.empty(0, dtype=np.int32)
        log_prob = self.log_likelihood(corpus, codes.astype(np.int32)) - self.held(corpus, clamp, found)
        empty = corpus.lengths == 0
        return DecodeResult(
            labels=decode(codes, corpus.offsets),
            log_prob=np.minimum(log_prob, 0.0),
            upper_bound=np.zeros(n),
            exact=empty,
            n_paths=taken,
            n_expanded=np.zeros(n, dtype=np.int64),
            seconds=time.perf_counter() - began,
        )

    def _marginal_choice(self, found: list) -> list[np.ndarray]:
        """The label of largest marginal at each token; under constraints the beam's sequence with most of them."""
        out = []
        free = self.model.moves is None and self.model.start_allowed is None and self.model.end_allowed is None
        for (codes, _), own in zip(found, self.marginals(found), strict=True):
            if free:
                out.append(own.argmax(axis=1).astype(np.int32))
            else:
                out.append(codes[int(own[np.arange(codes.shape[1])[None, :], codes].sum(axis=1).argmax())])
        return out

    def spans(self, found: list, wanted: list, classes: list, scheme: str) -> list[list[tuple]]:
        """Probability of chunks in the beam's sequences."""
        out = []
        for (codes, score), own in zip(found, wanted, strict=True):
            share = np.exp(score - logsumexp(score))
            total: dict = dict.fromkeys(own, 0.0)
            for row, p in zip(codes.tolist(), share.tolist(), strict=True):
                for chunk in get_chunks([classes[c] for c in row], scheme=scheme, invalid="discard"):
                    if chunk in total:
                        total[chunk] += p
            out.append([(*span, min(total[span], 1.0)) for span in own])
        return out


def _following(scorer: LocalScorer, prepared: list, design: Design, offsets: np.ndarray):
    """Log-probabilities of the labels that follow (see `beam_search`)."""
    inputs, n = Inputs.of(design, offsets), design.shape[0]
    columns = scorer.columns(prepared, inputs, 0, n)
    after = tokens_after(offsets)
    step = max(1, _ROWS_BYTES // (8 * max(1, sum(c.n_leaves for c in scorer.circuits))))

    def following(token: np.ndarray, history: np.ndarray) -> np.ndarray:
        out = np.empty((len(token), scorer.n_labels))
        for first in range(0, len(token), step):
            rows, own = token[first : first + step], history[first : first + step]
            with np.errstate(over="ignore", invalid="ignore"):  # told with the sequence
                logits = scorer.logits(prepared, [c[rows] for c in columns], own)
                out[first : first + step] = scorer.log_prob(*logits, own, after[rows])
        return out

    return following
