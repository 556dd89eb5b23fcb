# SPDX-License-Identifier: BSD-3-Clause
"""Scorers for ``GridSearchCV(scoring=...)`` and ``cross_validate(scoring=...)``.

scikit-learn's own scorer names can't read label sequences; these can. They are module-level objects
made of module-level functions, so that they pickle to workers.
"""

from __future__ import annotations

from sklearn.metrics import make_scorer

from ._averages import AVERAGES, check_average
from ._chunk_scores import chunk_f1_score
from ._chunks import check_options
from ._sequence_scores import token_accuracy
from ._token_scores import label_collection, token_f1_score

__all__ = ["chunk_f1_scorer", "make_chunk_scorer", "make_token_scorer", "token_accuracy_scorer"]


def make_chunk_scorer(*, average="micro", scheme=None, invalid="conlleval", zero_division="warn"):
    """Scorer of the F1 over chunks, with options.

    Parameters
    ----------
    average : {"micro", "macro", "weighted"}, default="micro"
        How types are put together.
    scheme : {"io", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"} or None, default=None
        Labelling scheme; None infers it.
    invalid : {"conlleval", "discard", "raise"}, default="conlleval"
        What becomes of chunks the scheme does not allow.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Score where there is no chunk at all.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, a float; it can be pickled.

    Raises
    ------
    ValueError
        If an option is unknown, or `average` would not give one number.

    See Also
    --------
    chunk_f1_score : The score, with its options in full.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_latent.metrics import make_chunk_scorer
    >>> class Inside(BaseEstimator):
    ...     def predict(self, X):
    ...         return [["I-NP"] * len(x) for x in X]
    >>> make_chunk_scorer(scheme="iob2")(Inside(), [["rain"]], [["B-NP"]])
    1.0
    >>> make_chunk_scorer(scheme="iob2", invalid="discard")(Inside(), [["rain"]], [["B-NP"]])
    0.0
    """
    check_average(average, AVERAGES[:-1])
    check_options(scheme, invalid)
    return make_scorer(chunk_f1_score, average=average, scheme=scheme, invalid=invalid, zero_division=zero_division)


def make_token_scorer(*, labels=None, average="micro", ignore=("O",), zero_division="warn"):
    """Scorer of the F1 over tokens, with options.

    Parameters
    ----------
    labels : collection of labels or None, default=None
        Labels to score; None: all that occur without those in `ignore`.
    average : {"micro", "macro", "weighted"}, default="micro"
        How labels are put together.
    ignore : collection of labels, default=("O",)
        Labels that are not scored.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Score where there is no token of a scored label at all.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, a float; it can be pickled.

    Raises
    ------
    ValueError
        If an option is unknown, or `average` would not give one number.

    See Also
    --------
    token_f1_score : The score, with its options in full.
    token_accuracy_scorer : Share of tokens labelled right.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_latent.metrics import make_token_scorer
    >>> class Nouns(BaseEstimator):
    ...     def predict(self, X):
    ...         return [["N"] * len(x) for x in X]
    >>> make_token_scorer()(Nouns(), [["rain", "falls"]], [["N", "V"]])
    0.5
    """
    check_average(average, AVERAGES[:-1])
    labels = None if labels is None else label_collection(labels, "labels")
    ignore = tuple(label_collection(ignore, "ignore"))
    return make_scorer(token_f1_score, labels=labels, average=average, ignore=ignore, zero_division=zero_division)


#: Micro-averaged F1 over chunks, counted as the CoNLL evaluation script does.
chunk_f1_scorer = make_chunk_scorer()

#: Share of tokens labelled right; positions whose true label is None are skipped.
token_accuracy_scorer = make_scorer(token_accuracy)
