# SPDX-License-Identifier: BSD-3-Clause
"""`LatentCRFTagger`: a linear-chain CRF whose labels own latent states."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from .._compat import StrOptions
from .._sequences import LabelCodec, SequenceMatrix
from .._sequences.labels import flatten_labels
from .base import SequenceTaggerMixin
from .given import given_model, given_states
from .linear_chain import build
from .model import LinearChainModel
from .options import latent_counts
from .trained import TRAINED_CONSTRAINTS, TrainedTaggerMixin
from .training import TrainingSet

__all__ = ["LatentCRFTagger"]


class LatentCRFTagger(TrainedTaggerMixin, SequenceTaggerMixin, BaseEstimator):
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
        Called after each iteration with an object of ``n_iter``, ``objective``, ``grad_norm``, ``seconds``, and
        ``validation_score`` (None without `early_stopping`); True stops.
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
        **TRAINED_CONSTRAINTS,
        "edge_features": ["boolean", "array-like", set, frozenset, callable],
        "support": [StrOptions({"observed", "all"})],
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

    def _fitted(self, name: str) -> LinearChainModel:
        if not hasattr(self, "_model"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before fit")
        return self._model

    # -- inside -------------------------------------------------------------------------------------

    def _build(self, data: TrainingSet):
        return build(self, data)

    def _set_model(self, model: LinearChainModel) -> None:
        super()._set_model(model)
        self.edge_features_ = model.edge_features

    def _check_passes(self) -> None:
        if self.support != "all":
            raise ValueError("partial_fit needs support='all': what later data show can't be known now")

    def _check_earlier(self) -> None:
        counts = latent_counts(self.n_latent, self.classes_.tolist())
        if not np.array_equal(counts, np.diff(self._topology.label_ptr)):
            raise ValueError(
                f"warm_start: n_latent={self.n_latent!r} gives {counts.tolist()} states a label, the earlier fit had "
                f"{np.diff(self._topology.label_ptr).tolist()}"
            )
