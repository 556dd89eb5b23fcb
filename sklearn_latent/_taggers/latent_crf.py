# SPDX-License-Identifier: BSD-3-Clause
"""`LatentCRFTagger`: a linear-chain CRF whose labels own latent states."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .._compat import HasMethods, Interval, Options, StrOptions, _fit_context
from .._lattice import Topology
from .._objective import Packing
from .._optim import STEPPERS
from .._sequences import LabelCodec, SequenceMatrix
from .._sequences.labels import UNKNOWN, flatten_labels
from .._sequences.stream import TokenStream
from .._sequences.validation import as_corpus_or_stream, as_features, check_finite, check_labels, check_sample_weight
from ..exceptions import ConvergenceWarning
from .base import SequenceTaggerMixin
from .given import given_model, given_states
from .model import LinearChainModel
from .options import DECODE_CONSTRAINTS, SCHEMES, class_weights, latent_counts
from .training import Earlier, TrainingSet, build, make_stepper, random_start, run_pass, train

__all__ = ["LatentCRFTagger"]


def _stochastic(tagger) -> bool:
    return tagger.solver != "lbfgs"


class LatentCRFTagger(SequenceTaggerMixin, BaseEstimator):
    """Linear-chain conditional random field whose labels each own a set of latent states.

    The discriminative probabilistic latent variable model: P(y | x) is the sum over all paths of latent states that
    project to y of an ordinary linear-chain CRF over states. With ``n_latent=1`` it is that CRF. Training maximises
    the penalised likelihood of the labels; decoding finds the most probable label sequence exactly by default.

    Parameters
    ----------
    n_latent : int or dict of {label: int}, default=2
        Latent states per label. In a dict, labels not named get 1, and names not in the data are ignored.
    sigma : float, default=1.0
        Standard deviation of the Gaussian prior on the weights; ``np.inf`` switches it off. The objective is
        ``-sum_i w_i log P(y_i | x_i) + ||theta||^2 / (2 sigma^2)``, a sum over sequences, not a mean.
    decoder : {"ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"}, default="ldi_exact"
        How `predict` finds labels; may be changed after `fit` by ``set_params``.

        - ``"ldi_exact"``: the most probable label sequence, certified.
        - ``"ldi_approx"``: the best label sequence among those of the `n_paths` best latent paths.
        - ``"bhp"``: the labels of the best latent path.
        - ``"bmp"``: the most probable label of each token.
        - ``"mbr"``: of the `n_paths` most probable label sequences, the one with the largest expected `mbr_metric`.
    n_paths : int, default=30
        Latent paths taken by ``"ldi_approx"``, label sequences compared by ``"mbr"``.
    alpha : float, default=1.0
        ``"ldi_approx"`` stops once the best label sequence has `alpha` times the probability not yet accounted for;
        1.0 makes that stop a proof.
    mbr_metric : {"chunk_f1", "token_accuracy"} or callable, default="chunk_f1"
        What ``"mbr"`` maximises the expectation of. A callable takes ``(y, y_ref)``, two lists of labels.
    max_search : int, default=100_000
        Expansions beyond 20 a token at which an exact search gives its best find, with a warning.
    edge_features : bool, list of int or str, or callable, default=False
        Features that also get weights on pairs of neighbouring states: none, all, those listed by index or name, or
        those whose name makes the callable true. Columns that `X` marks ``edge_only`` have edge weights alone.
    support : {"observed", "all"}, default="observed"
        Which weights exist: those that training shows (the others count zero, nothing is forbidden), or all.
    constraints : None, {"iob1", "iob2", "iobes", "bilou"} or collection of (from, to), default=None
        Allowed moves between labels; in pairs, None stands for the start and the end. What is not allowed has
        probability zero in training and in every decoder. Without constraints label sequences that a scheme forbids
        can come out. Read by `fit`: a change afterwards has no effect on predictions.
    vectorizer : None or vectorizer, default=None
        Turns tokens into features, for `X` of tokens; a clone of it is fitted. None: `SequenceDictVectorizer()`.
    solver : {"lbfgs", "sgd", "adam", "adf"}, default="lbfgs"
        Optimiser: L-BFGS over the whole corpus, or a stochastic one: averaged stochastic gradient descent, Adam, or ADF
        (step lengths by feature frequency). L-BFGS goes to the optimum; ``"sgd"`` comes near its accuracy in a handful
        of passes. The stochastic ones have `partial_fit`.
    max_iter : int, default=500
        Iterations of L-BFGS, passes over the corpus of a stochastic solver.
    tol : float, default=1e-5
        L-BFGS has converged when the objective fell by less than `tol` of its value over 10 iterations, or when the
        largest gradient entry is below `tol`; stochastic solvers when no pass of `n_iter_no_change` lowered the
        objective by more than `tol` of its value.
    learning_rate : "auto" or float, default="auto"
        First step length of a stochastic solver, on the mean loss of a batch. "auto": 0.03 (``"adam"``), 0.1
        (``"adf"``); for ``"sgd"`` a length for each weight that falls with its derivatives (AdaGrad), their common
        factor tried out on some sequences.
    batch_size : int, default=32
        Sequences a step of ``"sgd"`` and ``"adam"``; ``"adf"`` takes them one at a time.
    n_init : int, default=1
        Random starts; the best objective is kept. One is enough with ``n_latent=1``, where there is a single optimum.
    init_scale : float, default=0.1
        With latent states the weights start uniform in ``[-init_scale, init_scale]``; a start that depends on the
        number of weights and `random_state` alone. With ``n_latent=1`` they start at zero.
    class_weight : None, "balanced" or dict of {label: float}, default=None
        A sequence's weight is multiplied by the mean of its tokens' class weights.
    early_stopping : bool, default=False
        Hold out some sequences, stop when their likelihood has not risen for `n_iter_no_change` iterations, and keep
        the weights of the best.
    validation_fraction : float, default=0.1
        Share of the sequences held out by early stopping, drawn by `random_state`.
    n_iter_no_change : int, default=10
        Patience of early stopping and of the stochastic solvers.
    warm_start : bool, default=False
        Start the next `fit` from the weights of the last, matched by feature name (without names, new columns come
        last); labels that the last fit did not have are refused.
    callback : callable, default=None
        Called after each iteration with an object of ``n_iter``, ``objective``, ``grad_norm``, ``seconds``; True stops.
    n_jobs : int, default=None
        Threads; the result is the same bits for any number.
    random_state : int, RandomState or None, default=None
        Draws the start, the sequences that `early_stopping` holds out, and the order in which a stochastic solver takes
        them.
    verbose : int, default=0
        1 prints about twenty lines of progress, 2 every iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where known.
    state_labels_ : ndarray of int of shape (n_states,)
        Index into `classes_` of each state; states are grouped by label.
    coef_ : ndarray of shape (n_features, n_states)
    transition_coef_ : ndarray of shape (n_states, n_states)
        From row to column.
    start_coef_, end_coef_ : ndarray of shape (n_states,)
    edge_features_ : ndarray of int
        Features with edge weights.
    edge_coef_ : csr_array of shape (n_edge_features, n_states * n_states)
        Column ``from * n_states + to``.
    n_iter_ : int
    loss_curve_ : list of float
        Objective after each iteration.
    objective_ : float
    converged_ : bool
    validation_scores_ : list of float
        With early stopping: mean log-likelihood a held-out token after each iteration.
    vectorizer_ : vectorizer
        Where `fit` got tokens.

    References
    ----------
    X. Sun, J. Tsujii, "Sequential Labeling with Latent Variables: An Exact Inference Algorithm and Its Efficient
    Approximation", EACL 2009, sections 2 (model, equations 2 to 4) and 3 (inference).

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> X = [[{"word": "Ana"}, {"word": "met"}, {"word": "Bo"}], [{"word": "rain"}]] * 5
    >>> y = [["B-PER", "O", "B-PER"], ["O"]] * 5
    >>> tagger = LatentCRFTagger(n_latent=1).fit(X, y)
    >>> tagger.predict([[{"word": "Bo"}, {"word": "met"}, {"word": "Ana"}]])
    [['B-PER', 'O', 'B-PER']]
    """

    _parameter_constraints: dict = {
        "n_latent": [Interval(Integral, 1, None, closed="left"), Mapping],
        "sigma": [Interval(Real, 0, None, closed="neither"), Options(Real, {np.inf})],
        **{name: rule for name, rule in DECODE_CONSTRAINTS.items() if name != "epsilon"},
        "edge_features": ["boolean", "array-like", set, frozenset, callable],
        "support": [StrOptions({"observed", "all"})],
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

    # Start and end weights are part of the model; comparisons with packages that have none switch them off.
    _boundary_weights = True

    def __init__(
        self,
        n_latent=2,
        sigma=1.0,
        *,
        decoder="ldi_exact",
        n_paths=30,
        alpha=1.0,
        mbr_metric="chunk_f1",
        max_search=100_000,
        edge_features=False,
        support="observed",
        constraints=None,
        vectorizer=None,
        solver="lbfgs",
        max_iter=500,
        tol=1e-5,
        learning_rate="auto",
        batch_size=32,
        n_init=1,
        init_scale=0.1,
        class_weight=None,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
        callback=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_latent = n_latent
        self.sigma = sigma
        self.decoder = decoder
        self.n_paths = n_paths
        self.alpha = alpha
        self.mbr_metric = mbr_metric
        self.max_search = max_search
        self.edge_features = edge_features
        self.support = support
        self.constraints = constraints
        self.vectorizer = vectorizer
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_init = n_init
        self.init_scale = init_scale
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        LatentCRFTagger
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
        LatentCRFTagger
            The estimator; `loss_curve_` gets the objective of this pass. After `fit` it goes on from
            the fitted weights.

        Raises
        ------
        ValueError
            If `support` is not "all", `class_weight` is "balanced", or a label is not among the classes.

        Notes
        -----
        The prior is spread over the weight of all sequences seen so far, those of this call included. Tokens are
        vectorized by a vectorizer fitted in the first call.
        """
        if self.support != "all":
            raise ValueError("partial_fit needs support='all': what later data show can't be known now")
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
        elif self.constraints is not None and len(data.X):
            build(self, data)  # refuses labels that the constraints forbid, as the first call's did
        if len(data.X):
            self._one_pass(data)
        return self

    @classmethod
    def from_weights(
        cls,
        classes,
        coef,
        transition_coef,
        *,
        start_coef=None,
        end_coef=None,
        edge_coef=None,
        state_labels=None,
        feature_names=None,
        **params,
    ) -> LatentCRFTagger:
        """Make a fitted tagger from weights.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Distinct labels, in any order; states are put in the order of the sorted labels.
        coef : array-like or sparse array of shape (n_features, n_states)
            Stored entries of a sparse array are the weights that exist.
        transition_coef : array-like of shape (n_states, n_states)
            From row to column.
        start_coef, end_coef : array-like of shape (n_states,), default=None
            None: zeros.
        edge_coef : sparse array of shape (n_edge_features, n_states * n_states), default=None
            Rows are the features that ``edge_features`` in `params` names, in sorted order, or all of them.
        state_labels : array-like of int of shape (n_states,), default=None
            Index into `classes` of each state; None: equally many states for each class, grouped.
        feature_names : array-like of str of shape (n_features,), default=None
        **params
            Constructor arguments of the tagger.

        Returns
        -------
        LatentCRFTagger

        Raises
        ------
        ValueError
            If shapes don't agree or a weight is not finite.
        """
        [given] = flatten_labels([classes], "classes")
        codec = LabelCodec.from_labels([given])
        if None in given:
            raise ValueError(f"classes[{given.index(None)}] is None, which stands for an unknown label")
        if len(codec.classes) != len(given):
            k = next(k for k, label in enumerate(given) if label in given[:k])
            raise ValueError(f"classes must be distinct, but classes[{k}] is {given[k]!r} again")
        states = given_states(given, codec, coef, state_labels)
        if "n_latent" not in params:
            params["n_latent"] = states.n_latent(codec.classes.tolist())
        tagger = cls(**params)
        tagger._validate_params()
        model = given_model(
            tagger,
            codec.classes.tolist(),
            states,
            transition_coef,
            {"start": start_coef, "end": end_coef},
            edge_coef,
            feature_names,
        )
        n_features = states.coef.shape[0]
        if edge_coef is not None and tagger.edge_features is False:
            tagger.edge_features = True

        tagger.classes_ = codec.classes
        tagger.n_features_in_ = n_features
        tagger._feature_names = None
        if feature_names is not None:
            tagger._feature_names = SequenceMatrix(np.zeros((0, n_features)), [], feature_names=feature_names)._names
        tagger._set_model(model)
        tagger.n_iter_, tagger.loss_curve_, tagger.objective_, tagger.converged_ = 0, [], float("nan"), True
        return tagger

    # -- fitted views -------------------------------------------------------------------------------

    @property
    def coef_(self) -> np.ndarray:
        """State weights, (n_features, n_states); built on access."""
        return self._fitted("coef_").coef()

    @property
    def transition_coef_(self) -> np.ndarray:
        """Transition weights, (n_states, n_states), from row to column."""
        return self._fitted("transition_coef_").transition_coef()

    @property
    def start_coef_(self) -> np.ndarray:
        """Start weights, (n_states,)."""
        return self._fitted("start_coef_").boundary_coef("start")

    @property
    def end_coef_(self) -> np.ndarray:
        """End weights, (n_states,)."""
        return self._fitted("end_coef_").boundary_coef("end")

    @property
    def edge_coef_(self) -> sp.csr_array:
        """Edge weights, (n_edge_features, n_states ** 2), column from * n_states + to; built on access."""
        return self._fitted("edge_coef_").edge_coef()

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, where known; built on access."""
        names = getattr(self, "_feature_names", None)
        if names is None:
            raise AttributeError(f"{type(self).__name__} has no feature names")
        return np.array(names() if callable(names) else names, dtype=object)

    def _fitted(self, name: str) -> LinearChainModel:
        if not hasattr(self, "_model"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before fit")
        return self._model

    # -- inside -------------------------------------------------------------------------------------

    @property
    def _topology(self) -> Topology:
        return self._model.topology

    def _codec(self) -> LabelCodec:
        return LabelCodec(self.classes_)

    def _scoring(self, sparse: bool):
        scorer = self._model.scorer(sparse)
        return scorer, scorer.prepare(self._model.params)

    def _set_model(self, model: LinearChainModel) -> None:
        self._model = model
        self.state_labels_ = model.topology.state_label.astype(np.int64)
        self.edge_features_ = model.edge_features

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
        counts = latent_counts(self.n_latent, self.classes_.tolist())
        if not np.array_equal(counts, np.diff(self._topology.label_ptr)):
            raise ValueError(
                f"warm_start: n_latent={self.n_latent!r} gives {counts.tolist()} states a label, the earlier fit had "
                f"{np.diff(self._topology.label_ptr).tolist()}"
            )
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

    def _begin_passes(self, data: TrainingSet) -> None:
        """The untrained model of the first `partial_fit`."""
        model, objective, _ = build(self, data)
        x = random_start(self, model, objective, check_random_state(self.random_state))
        model.params = {name: value.copy() for name, value in objective.packing.views(x).items()}
        self._set_model(model)
        self.n_iter_, self.loss_curve_, self.objective_, self.converged_ = 0, [], float("nan"), False

    def _one_pass(self, data: TrainingSet) -> None:
        if not hasattr(self, "_stepper_state"):
            # The first pass, or the first after `fit`: what there is of weights is where it starts.
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._stepper_state = {"x": self._weights(), "seed": seed, "seen": 0.0, "rule": {}}
        state = self._stepper_state
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
        tokens = (own if w > 0 else [] for own, w in zip(raw, weight.tolist(), strict=True))
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
