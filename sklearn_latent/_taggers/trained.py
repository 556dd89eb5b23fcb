# SPDX-License-Identifier: BSD-3-Clause
"""Training as users see it, the same for every tagger: `fit`, `partial_fit`, warm starts, and what they leave."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .._compat import HasMethods, Interval, Options, StrOptions, _fit_context
from .._lattice import Topology
from .._objective import Packing
from .._optim import STEPPERS
from .._sequences import LabelCodec, SequenceMatrix
from .._sequences.labels import UNKNOWN
from .._sequences.stream import TokenStream
from .._sequences.validation import as_corpus_or_stream, as_features, check_finite, check_labels, check_sample_weight
from ..exceptions import ConvergenceWarning
from .options import DECODE_CONSTRAINTS, SCHEMES, class_weights
from .training import Earlier, TrainingSet, make_stepper, random_start, run_pass, train

__all__ = ["TRAINED_CONSTRAINTS", "TrainedTaggerMixin"]

#: What the parameters may be that all taggers have.
TRAINED_CONSTRAINTS: dict = {
    "n_latent": [Interval(Integral, 1, None, closed="left"), Mapping],
    "sigma": [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})],
    **{name: rule for name, rule in DECODE_CONSTRAINTS.items() if name != "epsilon"},
    "constraints": [None, StrOptions(set(SCHEMES)), list, tuple, set, frozenset],
    "vectorizer": [None, HasMethods(["fit_transform", "transform"])],
    "solver": [StrOptions({"lbfgs", "sgd", "adam", "adf"})],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    "batch_size": [Interval(Integral, 1, None, closed="left")],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "init_scale": [Interval(Real, 0, None, closed="left")],
    "class_weight": [None, StrOptions({"balanced"}), Mapping],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "warm_start": ["boolean"],
    "callback": [None, callable],
    "n_jobs": [None, Integral],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


def _stochastic(tagger) -> bool:
    return tagger.solver != "lbfgs"


class TrainedTaggerMixin:
    """Fitting of a chain model by its penalised likelihood.

    A tagger has ``_build(data)``, which gives its model without weights, the objective, and the corpus in chunks;
    ``_check_passes()`` and ``_check_earlier()``, which refuse parameters that `partial_fit` and warm starts can't have.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Learn weights from labelled sequences.

        Parameters
        ----------
        X : SequenceMatrix, list of (T, n_features) arrays, 3-D array, or list of lists of tokens
            Tokens are mappings, lists of strings, or what `vectorizer` takes.
        y : list of n lists of labels
            Labels are strings, ints or bools, all of one kind; None marks a token whose label is unknown, which is
            summed over.
        sample_weight : array-like of shape (n_sequences,), default=None
            Weight of each sequence; 2 is the same as the sequence twice, 0 as without it.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TypeError
            If `X` or `y` is not one entry a sequence.
        ValueError
            If lengths differ, features are not finite, labels are of mixed kinds or all unknown, or the constraints
            forbid a training sequence; the message names the place.
        ModelTooLargeError
            If the weights can't be held in memory.
        """
        raw, lengths, labels = self._read(X, y, stream=True)
        weight = check_sample_weight(sample_weight, len(lengths))
        codec = LabelCodec.from_labels(labels)
        corpus, vectorizer = self._vectorize(raw, weight, lengths)
        check_finite(corpus)

        kept = np.flatnonzero((weight > 0) & (corpus.lengths > 0))
        used, matrix = labels, corpus
        if len(kept) < len(lengths):
            used = [labels[i] for i in kept.tolist()]
            try:
                codec = LabelCodec.from_labels(used)
            except ValueError:
                raise ValueError("no label is left: every labelled sequence has weight zero") from None
            matrix, weight = corpus[kept], weight[kept]
        earlier = self._earlier(corpus) if self.warm_start and hasattr(self, "_model") else None
        if earlier is not None:
            codec = self._old_labels(labels)
        codes = codec.encode(used)
        classes = codec.classes.tolist()
        weight = self._weighted(weight, classes, codes, matrix)
        data = TrainingSet(matrix, codes, weight, classes, kept).weighted()
        if not len(data.X):
            raise ValueError("class_weight leaves no sequence to train on: the labels of each have weight zero")
        model, result, scores = train(self, data, check_random_state(self.random_state), earlier)

        self._set_corpus(codec, corpus, vectorizer)
        self._set_model(model)
        self.n_iter_ = result.n_iter
        self.loss_curve_ = [float(v) for v in result.loss_curve]
        self.objective_ = result.objective
        self.converged_ = result.converged
        for name in ("_stepper_state", "validation_scores_"):
            self.__dict__.pop(name, None)
        if self.early_stopping:
            self.validation_scores_ = scores
        if not (result.converged or result.stopped):
            warnings.warn(
                f"{self.solver} did not converge in {result.n_iter} iterations: largest gradient entry "
                f"{result.grad_norm:.3g}, tol={self.tol} ({result.message}); a larger max_iter or tol helps",
                ConvergenceWarning,
                stacklevel=3,  # through scikit-learn's wrapper of fit
            )
        return self

    @available_if(_stochastic)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Go through some sequences once with a stochastic solver.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like, default=None
            All labels that will come; needed with the first call unless its `y` has them all.

        Returns
        -------
        self
            The estimator; `loss_curve_` gets the objective of this pass. After `fit` it goes on from
            the fitted weights.

        Raises
        ------
        ValueError
            If `class_weight` is "balanced", another parameter asks for what later data show, or a label is not among
            the classes.

        Notes
        -----
        The prior is spread over the weight of all sequences seen so far, those of this call included. Tokens are
        vectorized by a vectorizer fitted in the first call.
        """
        self._check_passes()
        if self.class_weight == "balanced":
            raise ValueError("partial_fit can't balance classes it has not seen; give class_weight as a dict")
        raw, lengths, labels = self._read(X, y, stream=False)
        weight = check_sample_weight(sample_weight, len(lengths))
        first = not hasattr(self, "_model")
        if first:
            codec = LabelCodec.from_labels(labels if classes is None else [_plain_labels(classes)])
            corpus, vectorizer = self._vectorize(raw, weight, lengths)
            check_finite(corpus)
        else:
            codec, corpus, vectorizer = self._codec(), self._check_X(raw), None
            if classes is not None:
                given = LabelCodec.from_labels([_plain_labels(classes)]).classes.tolist()
                if given != codec.classes.tolist():
                    raise ValueError(
                        f"classes differ from those of the first call, {codec.classes.tolist()}; got {given}"
                    )
        codec.check(labels)
        kept = np.flatnonzero((weight > 0) & (corpus.lengths > 0))
        matrix = corpus[kept]
        codes = codec.encode([labels[i] for i in kept.tolist()])
        own_classes = codec.classes.tolist()
        weight = self._weighted(weight[kept], own_classes, codes, matrix)
        data = TrainingSet(matrix, codes, weight, own_classes, kept).weighted()
        if first:
            self._begin_passes(data)
            self._set_corpus(codec, corpus, vectorizer)
        elif len(data.X):
            self._check_later(data)
        if len(data.X):
            self._one_pass(data)
        return self

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where known; built on access."""
        names = getattr(self, "_feature_names", None)
        if names is None:
            raise AttributeError(f"{type(self).__name__} has no feature names")
        return np.array(names() if callable(names) else names, dtype=object)

    # -- inside -------------------------------------------------------------------------------------

    @property
    def _topology(self) -> Topology:
        return self._model.topology

    def _codec(self) -> LabelCodec:
        return LabelCodec(self.classes_)

    def _scoring(self, sparse: bool):
        scorer = self._model.scorer(sparse)
        return scorer, scorer.prepare(self._model.params)

    def _set_model(self, model) -> None:
        self._model = model
        self.state_labels_ = model.topology.state_label.astype(np.int64)

    def _set_corpus(self, codec: LabelCodec, corpus: SequenceMatrix, vectorizer) -> None:
        self.classes_ = codec.classes
        self.n_features_in_ = corpus.n_features
        self._feature_names = corpus._names
        self.__dict__.pop("vectorizer_", None)
        if vectorizer is not None:
            self.vectorizer_ = vectorizer

    def _old_labels(self, labels: list[list]) -> LabelCodec:
        """The labels of the earlier fit, for a warm start."""
        codec = self._codec()
        try:
            codec.check(labels)
        except ValueError as error:
            raise ValueError(f"warm_start: {error}") from None
        return codec

    def _earlier(self, corpus: SequenceMatrix) -> Earlier:
        """The model of the earlier fit, and where its features are now: by name, else by position."""
        self._check_earlier()
        old, new = getattr(self, "_feature_names", None), corpus._names
        if old is not None and new is not None:
            column = {name: k for k, name in enumerate(corpus.feature_names)}
            return Earlier(
                self._model, np.array([column.get(name, -1) for name in self.feature_names_in_], dtype=np.int64)
            )
        if corpus.n_features < self.n_features_in_:
            raise ValueError(
                f"warm_start: X has {corpus.n_features} features without names, the earlier fit had "
                f"{self.n_features_in_}: new columns come last, none may go"
            )
        return Earlier(self._model, np.arange(self.n_features_in_))

    def _check_later(self, data: TrainingSet) -> None:
        """Refuse labels that the constraints forbid, as the first call of `partial_fit` does."""
        if self.constraints is not None:
            self._build(data)

    def _begin_passes(self, data: TrainingSet) -> None:
        """The untrained model of the first `partial_fit`."""
        model, objective, _ = self._build(data)
        x = random_start(self, model, objective, check_random_state(self.random_state))
        model.params = {name: value.copy() for name, value in objective.packing.views(x).items()}
        self._set_model(model)
        self.n_iter_, self.loss_curve_, self.objective_, self.converged_ = 0, [], float("nan"), False

    def _one_pass(self, data: TrainingSet) -> None:
        if not hasattr(self, "_stepper_state"):
            # The first pass, or the first after `fit`: what there is of weights is where it starts.
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._stepper_state = {"x": self._weights(), "seed": seed, "seen": 0.0, "rule": {}}
        state: dict[str, Any] = self._stepper_state
        if not STEPPERS[self.solver].knows(state["rule"]):
            # The solver was changed: the new one starts afresh from the weights there are.
            state["x"], state["rule"] = self._weights(), {}
        state["seen"] += float(data.weight.sum())
        stepper = make_stepper(self, state["rule"])
        result = run_pass(self, data, self._model, state["x"], stepper, state["seen"], state["seed"] + self.n_iter_)
        state["x"] = result.x
        packing = Packing(self._model.scorer(True).shapes())
        self._model.params = {name: v.copy() for name, v in packing.views(stepper.answer(result.x)).items()}
        self.n_iter_ += 1
        self.loss_curve_.append(float(result.objective))
        self.objective_ = float(result.objective)

    def _weights(self) -> np.ndarray:
        return np.concatenate([value.reshape(-1) for value in self._model.params.values()])

    def _read(self, X, y, *, stream: bool) -> tuple[SequenceMatrix | list | TokenStream, np.ndarray, list[list]]:
        """Training data as a corpus or a stream of tokens, the lengths of its sequences, and their labels."""
        stream = stream and (self.vectorizer is None or getattr(self.vectorizer, "_reads_once", False))
        raw = as_corpus_or_stream(X, stream=stream)
        if isinstance(raw, TokenStream):
            labels = raw.expect(y)
            return raw, np.array([len(own) for own in labels], dtype=np.int64), labels
        lengths = raw.lengths if isinstance(raw, SequenceMatrix) else np.array(list(map(len, raw)), dtype=np.int64)
        return raw, lengths, check_labels(y, lengths)

    def _vectorize(self, raw: SequenceMatrix | list | TokenStream, weight: np.ndarray, lengths: np.ndarray):
        """Features of the corpus, and the vectorizer fitted on its tokens if it came as tokens.

        To the vectorizer, sequences of weight zero are empty ones: what only they have must leave no trace.
        """
        if isinstance(raw, SequenceMatrix):
            return raw, None
        tokens: Iterable = (own if w > 0 else [] for own, w in zip(raw, weight.tolist(), strict=True))
        if not isinstance(raw, TokenStream):
            tokens = list(tokens)
        if self.vectorizer is None:
            from ..feature_extraction import SequenceDictVectorizer

            vectorizer = SequenceDictVectorizer()
        else:
            vectorizer = clone(self.vectorizer)
        corpus = vectorizer.fit_transform(tokens)
        return as_features(corpus, np.where(weight > 0, lengths, 0).tolist(), vectorizer), vectorizer

    def _weighted(self, weight: np.ndarray, classes: list, codes: np.ndarray, matrix: SequenceMatrix) -> np.ndarray:
        """Sequence weights times the mean class weight of their tokens (unknown labels: 1)."""
        per_class = class_weights(self.class_weight, classes, codes)
        if per_class is None or not len(matrix):
            return weight
        per_token = np.where(codes == UNKNOWN, 1.0, per_class[np.maximum(codes, 0)])
        with np.errstate(over="ignore"):
            weight = weight * np.add.reduceat(per_token, matrix.offsets[:-1]) / matrix.lengths
        if not np.isfinite(weight).all():
            raise ValueError("class_weight times sample_weight is beyond floating point; weights near 1 do the same")
        return weight


def _plain_labels(classes) -> list:
    return classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
