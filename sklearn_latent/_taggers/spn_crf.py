# SPDX-License-Identifier: BSD-3-Clause
"""`SPNCRFTagger`: a chain of labels whose local factors are sum-product networks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions
from .._decoding.spans import SpanReader
from .._objective import TooManyHistories
from .._sequences import LabelSequences
from .._sequences.labels import one_kind
from .._sequences.validation import check_labels, check_spans
from ..exceptions import InexactDecodingWarning
from ..metrics import get_chunks
from .base import SequenceTaggerMixin, check_n
from .beam import Beams
from .options import check_scheme, latent_counts
from .spn_model import LocalModel, SPNModel
from .spn_training import build_local, build_spn, check_later, factor_sizes, network_shape
from .trained import TRAINED_CONSTRAINTS, TrainedTaggerMixin
from .training import TrainingSet

__all__ = ["SPNCRFTagger"]


class SPNCRFTagger(TrainedTaggerMixin, SequenceTaggerMixin, BaseEstimator):
    """Conditional random field of any order whose local factors are sum-product networks.

    What a token says about its label (or about a label n-gram) is a sum-product network (SPN) with layers of hidden
    variables, where an ordinary CRF has a linear function. The hidden variables don't connect across tokens, so that
    they are summed out exactly, in training and in decoding. Label n-grams of up to ``order + 1`` labels have weights.

    Parameters
    ----------
    n_layers : int, default=1
        Layers L of hidden variables. 0: linear local factors.
    n_products : int, default=2
        Hidden variables I under each label and under each state of a hidden variable.
    n_states : int, default=4
        States H of each hidden variable. A network has ``(I H) ** L`` weight vectors a label.
    order : int, default=1
        Labels before the current one in the longest label n-gram with a weight of its own: 1 for bigrams, 2 for
        trigrams. States are label histories, as many as the n-grams ask for (see Notes).
    factors : sequence of (int, int), default=((1, 1),)
        Networks, as pairs (m, n): from the features of m tokens, the current one last, to the last n labels. Rows
        before the sequence are zeros.
    n_latent : int or dict of {label: int}, default=1
        Latent states per label on the chain itself, as in `LatentCRFTagger`; networks and n-gram weights are then those
        of latent states.
    operator : {"sum", "max"}, default="sum"
        Whether the model sums hidden variables out or takes their best states.
    normalization : {"global", "local"}, default="global"
        One normaliser a sequence (a CRF), or one a token: a maximum-entropy Markov model (SPN-MEMM), whose networks
        take the previous `order` labels as one-hot inputs, with a symbol for what is before the sequence. ``"local"``
        takes factors (m, 1) and ``n_latent=1``; `sparse_factors` and `unseen` have no effect on it.
    sparse_factors : bool, default=True
        Only label n-grams seen in training get weights and networks; an unknown label counts as seen with every label.
        False: all n-grams do.
    unseen : {"neutral", "forbid"}, default="neutral"
        What other label n-grams score: 0, or ``-inf``.
    tie_inputs : bool, default=False
        All labels share the input weights, and hidden state 0 of the last layer scores 0. With one layer and two states
        this is the hidden-unit CRF.
    beam_width : int, default=32
        Label sequences kept by the beam search that takes the place of exact answers with local normalisation, where
        label histories are too many for a lattice (``order=1`` never has too many for up to 63 labels). Has no effect
        otherwise.
    decoder : {"ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"}, default="ldi_exact"
        How `predict` finds labels; may be changed after `fit` by ``set_params``.

        - ``"ldi_exact"``: the most probable label sequence, hidden variables summed out; with ``n_latent=1`` this is
          Viterbi's algorithm.
        - ``"ldi_approx"``: the best label sequence among those of the `n_paths` best paths of chain states.
        - ``"bhp"``: the labels of the best joint assignment of chain states and hidden variables.
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
    constraints : None, {"iob1", "iob2", "iobes", "bilou"} or collection of (from, to), default=None
        Allowed moves between labels; in pairs, None stands for the start and the end. What is not allowed has
        probability zero in training and in every decoder. Read by `fit`.
    vectorizer : None or vectorizer, default=None
        Turns tokens into features, for `X` of tokens; a clone of it is fitted. None: `SequenceDictVectorizer()`.
    sigma : float, default=1.0
        Standard deviation of the Gaussian prior on all weights; ``np.inf`` switches it off. The objective is
        ``-sum_i w_i log P(y_i | x_i) + ||theta||^2 / (2 sigma^2)``.
    solver : {"adam", "sgd", "adf", "lbfgs"}, default="adam"
        Stochastic solvers take mini-batches of sequences and have `partial_fit`; L-BFGS takes the whole corpus.
    max_iter : int, default=100
        Passes over the corpus of a stochastic solver, iterations of L-BFGS.
    learning_rate : "auto" or float, default="auto"
        First step length of a stochastic solver, on the mean loss of a batch; "auto": 0.03 (``"adam"``), 0.1
        (``"adf"``), tried out on some sequences (``"sgd"``).
    batch_size : int, default=32
        Sequences a step; ``"adf"`` takes them one at a time.
    tol : float, default=1e-5
        Stochastic solvers have converged when no pass of `n_iter_no_change` lowered the objective by more than `tol` of
        its value; L-BFGS when it fell by less over 10 iterations, or the largest gradient entry is below `tol`.
    n_init : int, default=1
        Random starts; the best objective is kept.
    init_scale : float, default=0.1
        Weights of networks start uniform in ``[-init_scale, init_scale]``, a start that depends on their number and
        `random_state` alone; with ``n_latent > 1`` all weights do. Where the objective has one optimum they are zeros.
    dtype : {np.float64, np.float32}, default=np.float64
        Precision of the networks with dense features; sparse features are multiplied in double precision. Weights and
        the chain are always double.
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
        last) and by label n-gram; labels that the last fit did not have are refused.
    callback : callable, default=None
        Called after each iteration with an object of ``n_iter``, ``objective``, ``grad_norm``, ``seconds``, and
        ``validation_score`` (None without `early_stopping`); True stops.
    n_jobs : int, default=None
        Threads; the result is the same bits for any number.
    random_state : int, RandomState or None, default=None
        Draws the start, the sequences that `early_stopping` holds out, and the order of mini-batches.
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
        Index into `classes_` of the last label of each state; states are grouped by it.
    state_histories_ : list of tuples of labels
        The labels that each state knows, the current one last.
    ngrams_ : dict of {n: list of tuples of labels}
        Label n-grams with weights or networks, n > 1.
    ngram_coef_ : dict of {n: ndarray of shape (len(ngrams_[n]),)}
        Their weights that don't see the features. With latent states (len, most, most): those of the last two labels.
    transition_coef_ : ndarray of shape (n_units, n_units)
        Weights of label bigrams, from row to column; units are the latent states of all labels, one a label with
        ``n_latent=1``.
    start_coef_, end_coef_ : ndarray of shape (n_units,)
    coef_ : ndarray of shape (n_features, n_units)
        Of the factor (1, 1), with ``n_layers=0`` only.
    factor_coef_ : list of ndarray of shape (n_roots, I, H, ..., I, H, m * n_features)
        Input weights of each factor's networks, oldest token first, I and H once a layer. Roots are the factor's label
        n-grams (labels, for n = 1), each with the latent states of its last label. With `tie_inputs` there is no root
        axis, and state 0 of the last layer has zeros.
    factor_bias_ : list of list of ndarray
        Biases of the levels of each factor's networks, from (n_roots,) to (n_roots, I, H, ..., I, H); none without
        layers, where n-gram and boundary weights hold them.
    n_iter_ : int
    loss_curve_ : list of float
        Objective after each iteration.
    objective_ : float
    converged_ : bool
    validation_scores_ : list of float
        With early stopping: mean log-likelihood a held-out token after each iteration.
    vectorizer_ : vectorizer
        Where `fit` got tokens.

    See Also
    --------
    LatentCRFTagger : Linear local factors, made for sparse features of text.

    Notes
    -----
    The log-score of a root is ``q_0``, where for paths of (variable, state) pairs ``q_L = b + w x`` and
    ``q_{l-1} = b + sum over I variables of log sum over H states of exp q_l``. Its value at zero weights is taken off,
    so that a network says nothing before it has learnt something; without that, n-grams that have none would in effect
    be forbidden when training begins.

    A history is remembered as its longest ending that begins an n-gram with weights: the states are single labels and
    such beginnings, never ``n_classes ** order``. With ``unseen="forbid"`` they are the n-grams that exist.

    References
    ----------
    M. Ratajczak, S. Tschiatschek, F. Pernkopf, "Sum-Product Networks for Sequence Labeling", arXiv 1807.02324 (2018):
    the network (equation 5), the training criterion (equation 7), higher-order factors.
    L. van der Maaten, M. Welling, L. Saul, "Hidden-Unit Conditional Random Fields", AISTATS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_latent import SPNCRFTagger
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(5, 2)) for _ in range(60)]
    >>> y = [["same" if a * b > 0 else "other" for a, b in x] for x in X]  # no linear function tells
    >>> tagger = SPNCRFTagger(sigma=3.0, solver="lbfgs", tol=1e-3, random_state=0).fit(X, y)
    >>> round(tagger.score(X, y), 2)
    0.99
    """

    _parameter_constraints: dict = {
        **TRAINED_CONSTRAINTS,
        "n_layers": [Interval(Integral, 0, None, closed="left")],
        "n_products": [Interval(Integral, 1, None, closed="left")],
        "n_states": [Interval(Integral, 1, None, closed="left")],
        "order": [Interval(Integral, 0, None, closed="left")],
        "factors": [Iterable],
        "operator": [StrOptions({"sum", "max"})],
        "normalization": [StrOptions({"global", "local"})],
        "sparse_factors": ["boolean"],
        "unseen": [StrOptions({"neutral", "forbid"})],
        "tie_inputs": ["boolean"],
        "beam_width": [Interval(Integral, 1, None, closed="left")],
        "dtype": "no_validation",  # by network_shape
    }

    def __init__(
        self,
        n_layers=1,
        n_products=2,
        n_states=4,
        *,
        order=1,
        factors=((1, 1),),
        n_latent=1,
        operator="sum",
        normalization="global",
        sparse_factors=True,
        unseen="neutral",
        tie_inputs=False,
        beam_width=32,
        decoder="ldi_exact",
        n_paths=30,
        alpha=1.0,
        mbr_metric="chunk_f1",
        max_search=100_000,
        constraints=None,
        vectorizer=None,
        sigma=1.0,
        solver="adam",
        max_iter=100,
        learning_rate="auto",
        batch_size=32,
        tol=1e-5,
        n_init=1,
        init_scale=0.1,
        dtype=np.float64,
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
        self.n_layers = n_layers
        self.n_products = n_products
        self.n_states = n_states
        self.order = order
        self.factors = factors
        self.n_latent = n_latent
        self.operator = operator
        self.normalization = normalization
        self.sparse_factors = sparse_factors
        self.unseen = unseen
        self.tie_inputs = tie_inputs
        self.beam_width = beam_width
        self.decoder = decoder
        self.n_paths = n_paths
        self.alpha = alpha
        self.mbr_metric = mbr_metric
        self.max_search = max_search
        self.constraints = constraints
        self.vectorizer = vectorizer
        self.sigma = sigma
        self.solver = solver
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.tol = tol
        self.n_init = n_init
        self.init_scale = init_scale
        self.dtype = dtype
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- named special cases ------------------------------------------------------------------------

    @classmethod
    def hidden_unit_crf(cls, n_units: int = 250, **params) -> SPNCRFTagger:
        """Make a hidden-unit CRF: one layer of binary units whose input weights all labels share.

        Parameters
        ----------
        n_units : int, default=250
        **params
            Other constructor arguments; ``order=2`` for the second-order model.

        Returns
        -------
        SPNCRFTagger
            Not fitted.

        References
        ----------
        L. van der Maaten, M. Welling, L. Saul, "Hidden-Unit Conditional Random Fields", AISTATS 2011.
        """
        return cls(n_layers=1, n_products=n_units, n_states=2, **{"tie_inputs": True, **params})

    @classmethod
    def gmm_crf(cls, n_components: int = 4, **params) -> SPNCRFTagger:
        """Make a CRF with Gaussian mixtures: one hidden variable a label, whose states are the components.

        With linear features it is the mixture whose components share their covariance; squares and products as features
        give each its own.

        Parameters
        ----------
        n_components : int, default=4
        **params
            Other constructor arguments.

        Returns
        -------
        SPNCRFTagger
            Not fitted.
        """
        return cls(n_layers=1, n_products=1, n_states=n_components, **params)

    @classmethod
    def memm(cls, order: int = 8, **params) -> SPNCRFTagger:
        """Make a maximum-entropy Markov model with networks, which sees the previous `order` labels.

        Parameters
        ----------
        order : int, default=8
        **params
            Other constructor arguments.

        Returns
        -------
        SPNCRFTagger
            Not fitted.
        """
        return cls(order=order, **{"normalization": "local", **params})

    @classmethod
    def linear_crf(cls, **params) -> SPNCRFTagger:
        """Make a CRF with linear local factors, trained by L-BFGS unless `params` name another solver.

        Parameters
        ----------
        **params
            Other constructor arguments.

        Returns
        -------
        SPNCRFTagger
            Not fitted.
        """
        solver = {"solver": "lbfgs", "max_iter": 500} if "solver" not in params else {}
        return cls(n_layers=0, **{**solver, **params})

    # -- answers where there is no lattice ----------------------------------------------------------

    def predict_marginals(self, X, *, fixed=None):
        check_is_fitted(self)
        if self._beams is None:
            return super().predict_marginals(X, fixed=fixed)
        _, found = self._found(X, fixed, "marginals")
        return LabelSequences(self._beams.marginals(found))

    def predict_latent(self, X):
        check_is_fitted(self)
        if self._beams is None:
            return super().predict_latent(X)
        found = self._beams.search(self._check_X(X))
        return LabelSequences([codes[0].astype(np.int64) for codes, _ in found])

    def predict_latent_marginals(self, X):
        check_is_fitted(self)
        if self._beams is None:
            return super().predict_latent_marginals(X)
        _, found = self._found(X, None, "marginals")
        return LabelSequences(self._beams.marginals(found))

    def predict_nbest(self, X, n: int, *, fixed=None):
        check_is_fitted(self)
        if self._beams is None:
            return super().predict_nbest(X, n, fixed=fixed)
        n = check_n(n)
        corpus = self._check_X(X)
        clamp = None if fixed is None else self._fixed_codes(fixed, corpus)
        found = self._beams.search(corpus, clamp, width=n)
        held = self._beams.held(corpus, clamp, found)
        classes, out = self.classes_.tolist(), []
        for (codes, score), given in zip(found, held.tolist(), strict=True):
            prob = np.exp(np.minimum(score[:n] - given, 0.0))
            kept = prob > 0 if prob.any() else np.ones(len(prob), dtype=bool)
            pairs = zip(codes[:n][kept].tolist(), prob[kept].tolist(), strict=True)
            out.append([([classes[c] for c in row], p) for row, p in pairs])
        return LabelSequences(out)

    def predict_spans(self, X, spans=None, *, scheme: str = "iob2", fixed=None):
        check_is_fitted(self)
        if self._beams is None:
            return super().predict_spans(X, spans, scheme=scheme, fixed=fixed)
        classes = self.classes_.tolist()
        SpanReader(classes, check_scheme(scheme))  # judges the labels
        corpus, found = self._found(X, fixed, "probabilities of spans")
        if spans is None:
            labels = self.decode(corpus, fixed=fixed).labels
            wanted = [get_chunks(own, scheme=scheme, invalid="discard") for own in labels]
        else:
            wanted = check_spans(spans, corpus.lengths)
        return LabelSequences(self._beams.spans(found, wanted, classes, scheme))

    def log_likelihood(self, X, y):
        check_is_fitted(self)
        if self._beams is None:
            return super().log_likelihood(X, y)
        corpus = self._check_X(X)
        labels = check_labels(y, corpus.lengths)
        one_kind(labels)
        try:
            return self._beams.log_likelihood(corpus, self._codec().encode(labels))
        except TooManyHistories as error:
            raise ValueError(
                f"y[{error.sequence}] has too many unknown labels in a row: they can't be summed out exactly for a "
                f"history of order={self._model.order}"
            ) from None

    # -- fitted views -------------------------------------------------------------------------------

    @property
    def state_histories_(self) -> list[tuple]:
        """Labels that each state knows, the current one last."""
        classes = self.classes_.tolist()
        rows = self._fitted("state_histories_", any_kind=True).space.history.tolist()
        return [tuple(classes[code] for code in row if code >= 0) for row in rows]

    @property
    def ngrams_(self) -> dict[int, list[tuple]]:
        """Label n-grams with weights or networks, n > 1."""
        classes = self.classes_.tolist()
        ngrams = self._fitted("ngrams_").ngrams
        return {n: [tuple(classes[code] for code in row) for row in rows.tolist()] for n, rows in ngrams.items()}

    @property
    def ngram_coef_(self) -> dict[int, np.ndarray]:
        """Weights of `ngrams_` that don't see the features."""
        model = self._fitted("ngram_coef_")
        one = bool((model.n_latent == 1).all())
        return {n: values[:, 0, 0] if one else values for n, values in model.ngram_coef().items()}

    @property
    def transition_coef_(self) -> np.ndarray:
        """Weights of label bigrams, (n_units, n_units), from row to column."""
        return self._fitted("transition_coef_").transition_coef()

    @property
    def start_coef_(self) -> np.ndarray:
        """Start weights, (n_units,)."""
        return self._fitted("start_coef_").params["start"].copy()

    @property
    def end_coef_(self) -> np.ndarray:
        """End weights, (n_units,)."""
        return self._fitted("end_coef_").params["end"].copy()

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the linear factor (1, 1), (n_features, n_units)."""
        model = self._fitted("coef_")
        if model.shape.n_layers or (1, 1) not in model.factors:
            raise AttributeError(
                f"{type(self).__name__} has coef_ with n_layers=0 and the factor (1, 1); see factor_coef_"
            )
        return model.params[f"coef_{model.factors.index((1, 1))}"].copy()

    @property
    def factor_coef_(self) -> list[np.ndarray]:
        """Input weights of the networks of each factor."""
        model = self._fitted("factor_coef_", any_kind=True)
        return [model.network_coef(k) for k in range(len(model.factors))]

    @property
    def factor_bias_(self) -> list[list[np.ndarray]]:
        """Biases of the levels of the networks of each factor."""
        model = self._fitted("factor_bias_", any_kind=True)
        return [model.network_bias(k) for k in range(len(model.factors))]

    def _fitted(self, name: str, *, any_kind: bool = False):
        if not hasattr(self, "_model"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before fit")
        if not any_kind and not isinstance(self._model, SPNModel):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} with normalization='local'")
        return self._model

    # -- inside -------------------------------------------------------------------------------------

    @property
    def _beams(self) -> Beams | None:
        """Answers by beam search, where there is no lattice to ask."""
        model = self._model
        if isinstance(model, SPNModel) or model.in_lattice:
            return None
        return Beams(model, int(self.beam_width), self.n_jobs)

    def _found(self, X, fixed, what: str) -> tuple:
        """The corpus, what the beam found in it, and one warning that this is all that is known."""
        corpus = self._check_X(X)
        clamp = None if fixed is None else self._fixed_codes(fixed, corpus)
        found = self._beams.search(corpus, clamp)
        if corpus.n_tokens:
            warnings.warn(
                f"{what} are those of the {self._beams.width} label sequences of the beam, renormalised: histories of "
                f"order={self._model.order} are too many for exact ones; a larger beam_width comes nearer",
                InexactDecodingWarning,
                stacklevel=3,
            )
        return corpus, found

    def _decode(self, X, decoder, options, *, labels_only=False):
        check_is_fitted(self)
        if self._beams is None:
            return super()._decode(X, decoder, options, labels_only=labels_only)
        method, known, fixed = self._decode_options(decoder, options)
        corpus = self._check_X(X)
        clamp = None if fixed is None else self._fixed_codes(fixed, corpus)
        return self._beams.decode(corpus, method, int(known["n_paths"]), clamp, self._codec().decode)

    def _build(self, data: TrainingSet):
        return build_local(self, data) if self.normalization == "local" else build_spn(self, data)

    def _check_passes(self) -> None:
        """Nothing to refuse: n-grams that the first call shows have weights, later ones are what `unseen` says."""

    def _check_later(self, data: TrainingSet) -> None:
        check_later(self, self._model, data)

    def _check_earlier(self) -> None:
        model = self._model
        local = isinstance(model, LocalModel)
        n_latent = [1] * model.n_labels if local else model.n_latent.tolist()
        asked = {
            "normalization": (self.normalization, "local" if local else "global"),
            "n_layers, n_products, n_states, operator, tie_inputs or dtype": (network_shape(self), model.shape),
            "factors": (factor_sizes(self.factors), model.factors),
            "order": (int(self.order), model.order),
            "n_latent": (latent_counts(self.n_latent, self.classes_.tolist()).tolist(), n_latent),
        }
        for name, (new, old) in asked.items():
            if new != old:
                raise ValueError(f"warm_start: another {name} than the earlier fit had: {new}, it had {old}")
