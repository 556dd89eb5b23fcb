# SPDX-License-Identifier: BSD-3-Clause
"""Taggers: labels of every kind, probabilities that are probabilities, unknown and unseen labels."""

from __future__ import annotations

import contextlib
import io
import pickle
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._sequences import LabelSequences
from .corpora import first_of, main_corpora, taken
from .tools import answers, assert_same, fitted, prepared, refused

__all__ = ["of_taggers"]


def check_label_sequences(name, estimator):
    """`predict` gives a list of plain lists of Python scalars that numpy turns into one object a sequence."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        found = est.predict(corpus.X)
        assert isinstance(found, list), f"{name}.predict gives a {type(found).__name__}"
        assert isinstance(found, LabelSequences), f"{name}.predict gives a plain list, of which numpy makes a rectangle"
        assert all(type(labels) is list for labels in found), f"{name}.predict: a sequence of labels is no list"
        assert {type(label) for labels in found for label in labels} <= {str}
        for method in ("predict_marginals", "predict_latent", "predict_latent_marginals"):
            if hasattr(est, method):
                found = getattr(est, method)(corpus.X)
                assert np.asarray(found).shape == (len(corpus.X),), f"{name}.{method} is no LabelSequences"
                assert all(isinstance(entry, np.ndarray) for entry in found)


def check_learns(name, estimator):
    """The first feature, or the word, says the label: it is learnt."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        score = est.score(corpus.X, corpus.y)
        assert type(score) is float and score > 0.75, f"{name}: {score:.3f} of the tokens right on an easy corpus"
        assert score == np.mean(
            [a == b for own, true in zip(est.predict(corpus.X), corpus.y, strict=True)
             for a, b in zip(own, true, strict=True)]
        )  # fmt: skip


def check_classes(name, estimator):
    """`classes_` is sorted, as scikit-learn sorts; labels come back in the kind they were given."""
    corpus = taken(estimator)[0]
    for names in (("b", "a"), (11, 3), (True, False), (2.0, 1.0), (("P", 2), ("P", 1)), ("x", ""), (b"b", b"a")):
        y = [[names[label == "O"] for label in own] for own in corpus.y]
        est = prepared(estimator)
        if "mbr_metric" in est.get_params():
            est.set_params(mbr_metric="token_accuracy")
        found = est.fit(corpus.X, y).predict(corpus.X)
        assert est.classes_.tolist() == sorted(names), f"{name}: classes_ is {est.classes_!r} for labels {names}"
        kinds = {type(label) for labels in found for label in labels}
        assert kinds == {type(names[0])}, f"{name}: labels {names} come back as {kinds}"
        assert est.score(corpus.X, found) == 1.0


def check_one_label(name, estimator):
    """One label only: it is learnt, with probability one."""
    for corpus in main_corpora(estimator):
        y = [["O"] * n for n in corpus.lengths]
        est = prepared(estimator).fit(corpus.X, y)
        assert est.classes_.tolist() == ["O"] and est.predict(corpus.X) == y, f"{name} with one label predicts another"
        if hasattr(est, "predict_marginals"):
            for rows in est.predict_marginals(corpus.X):
                np.testing.assert_allclose(rows, 1.0, rtol=1e-12)
        if hasattr(est, "log_likelihood"):
            np.testing.assert_allclose(est.log_likelihood(corpus.X, y), 0.0, atol=1e-9)
        if "sample_weight" in est.fit.__code__.co_varnames or hasattr(est, "set_fit_request"):
            weight = [float(i == 3) for i in range(len(y))]
            one = prepared(estimator).fit(corpus.X, [["B"] * n if i != 3 else ["O"] * n for i, n in
                                                     enumerate(corpus.lengths)], sample_weight=weight)  # fmt: skip
            assert one.predict(corpus.X) == y, f"{name}: a label whose sequences weigh nothing is predicted"


def check_probabilities(name, estimator):
    """Marginals add up to one; the probability told with labels is that of `log_likelihood`; the best come first."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        X = corpus.X
        if hasattr(est, "predict_marginals"):
            for rows in est.predict_marginals(X):
                assert rows.shape[1] == len(est.classes_)
                assert (rows >= 0).all() and (rows <= 1 + 1e-12).all()
                np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-9)
        if hasattr(est, "decode") and hasattr(est, "log_likelihood"):
            result = est.decode(X)
            own = est.log_likelihood(X, result.labels)
            np.testing.assert_allclose(result.log_prob, own, rtol=1e-9, atol=1e-9, err_msg=f"{name}.decode")
            assert (result.log_prob <= 1e-9).all() and (result.upper_bound >= result.log_prob - 1e-9).all()
        if hasattr(est, "predict_nbest"):
            for i, answers_ in enumerate(est.predict_nbest(X, 3)):
                chances = [p for _, p in answers_]
                assert chances == sorted(chances, reverse=True), f"{name}.predict_nbest is not sorted"
                assert len({tuple(labels) for labels, _ in answers_}) == len(answers_)
                if hasattr(est, "log_likelihood"):
                    own = [float(np.exp(est.log_likelihood([X[i]], [labels])[0])) for labels, _ in answers_]
                    np.testing.assert_allclose(chances, own, rtol=1e-7, err_msg=f"{name}.predict_nbest")


def check_unknown_labels(name, estimator):
    """None in y marks a label to be summed over: it is no class, and a sequence of Nones teaches nothing wrong."""
    for corpus in main_corpora(estimator):
        y = [[None if (i + t) % 3 == 0 else label for t, label in enumerate(own)] for i, own in enumerate(corpus.y)]
        est = prepared(estimator).fit(corpus.X, y)
        classes = est.classes_.tolist()
        assert classes == ["B-PER", "O"], f"{name}: classes_ is {classes} after labels of which some are None"
        assert all(label is not None for labels in est.predict(corpus.X) for label in labels), f"{name} predicts None"
        if hasattr(est, "log_likelihood"):
            nothing = est.log_likelihood(corpus.X, [[None] * n for n in corpus.lengths])
            np.testing.assert_allclose(nothing, 0.0, atol=1e-9, err_msg=f"{name}: log P of no label")
        if hasattr(est, "score"):
            known = [[label if label is not None else "?" for label in own] for own in y]
            share = sum(label is not None for own in y for label in own) / sum(corpus.lengths)
            np.testing.assert_allclose(est.score(corpus.X, y) * share, est.score(corpus.X, known), rtol=1e-12)


def check_unseen_labels(name, estimator):
    """Labels not seen in training are wrong to `score` and impossible to `log_likelihood`."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        strange = [["B-LOC"] * n for n in corpus.lengths]
        assert est.score(corpus.X, strange) == 0.0, f"{name}.score counts labels not seen in training as right"
        if hasattr(est, "log_likelihood"):
            found = est.log_likelihood(corpus.X, strange)
            assert (found == -np.inf).all(), f"{name}.log_likelihood of labels not seen in training is {found}"


def check_unseen_features(name, estimator):
    """Features not seen in training say nothing, and don't stay in the model."""
    corpus = first_of(estimator, "dicts")
    if corpus is None:
        return
    est = fitted(estimator, corpus)
    size = len(pickle.dumps(est))
    a, b = (answers(est, [[{"word": word, "pos": "?", "length": 3}]], [["O"]]) for word in ("zzz", "yyy"))
    assert_same(a, b, f"{name} on two words never seen: ", rtol=1e-12)
    assert len(pickle.dumps(est)) == size, f"{name} grows while it predicts"


def check_fixed_labels(name, estimator):
    """`fixed=` holds labels; all held: they come back; one that is no class: ValueError with its place."""
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        if "fixed" not in getattr(est.predict, "__kwdefaults__", None or {}):
            return
        turned = [["O" if label != "O" else "B-PER" for label in own] for own in corpus.y]
        assert est.predict(corpus.X, fixed=turned) == turned, f"{name}.predict changes labels that are held"
        free = [[None] * n for n in corpus.lengths]
        assert est.predict(corpus.X, fixed=free) == est.predict(corpus.X)
        strange = [["?" if (i, t) == (3, 1) else None for t in range(n)] for i, n in enumerate(corpus.lengths)]
        refused(lambda est=est, X=corpus.X, y=strange: est.predict(X, fixed=y), f"{name}.predict(fixed=...)",
                "fixed[3][1]", errors=(ValueError,))  # fmt: skip


def check_decoder_after_fit(name, estimator):
    """`set_params(decoder=...)` changes predictions without a refit; each decoder gives labels of the classes."""
    if "decoder" not in estimator.get_params(deep=False):
        return
    for corpus in main_corpora(estimator):
        est = fitted(estimator, corpus)
        for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
            own = est.decode(corpus.X, decoder).labels
            assert est.set_params(decoder=decoder).predict(corpus.X) == own, f"{name} with decoder={decoder!r}"
            assert {label for labels in own for label in labels} <= set(est.classes_.tolist())
        refused(
            lambda est=est, X=corpus.X: est.set_params(decoder="viterby").predict(X), f"{name} with an unknown decoder",
            "decoder",
        )  # fmt: skip


def check_class_weight(name, estimator):
    """A heavy label is predicted more often; "balanced" is the weights it stands for."""
    if "class_weight" not in estimator.get_params(deep=False):
        return
    corpus = taken(estimator)[0]
    labels = [label for own in corpus.y for label in own]
    weight = {c: len(labels) / (2 * labels.count(c)) for c in ("B-PER", "O")}
    a = prepared(estimator, class_weight="balanced").fit(corpus.X, corpus.y)
    b = prepared(estimator, class_weight=weight).fit(corpus.X, corpus.y)
    assert_same(
        answers(a, corpus.X, corpus.y), answers(b, corpus.X, corpus.y), f"{name} with balanced weights: ", rtol=1e-6,
        atol=1e-9,
    )  # fmt: skip
    if hasattr(a, "predict_marginals"):
        # The same token with one label and the other: only weights can decide.
        X, y = corpus.part([2]).X * 10, [["B-PER"], ["O"]] * 5
        models = [prepared(estimator, class_weight={"B-PER": w}).fit(X, y) for w in (0.1, 1.0, 10.0)]
        share = [float(est.predict_marginals(X)[0][0, 0]) for est in models]
        assert share[0] < share[1] < share[2], f"{name}: class_weight doesn't move the marginals: {share}"


def check_n_iter(name, estimator):
    """Training that ends too early says so once, and leaves a model that answers."""
    if "max_iter" not in estimator.get_params(deep=False):
        return
    for corpus in main_corpora(estimator):
        est = prepared(estimator, max_iter=1)
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            est.fit(corpus.X, corpus.y)
        told = [w for w in record if issubclass(w.category, ConvergenceWarning)]
        assert len(told) == 1, f"{name}: {len(told)} ConvergenceWarnings after one iteration"
        assert est.n_iter_ == 1 and not est.converged_, f"{name}: n_iter_ is {est.n_iter_}"
        assert np.isfinite(est.loss_curve_).all()
        answers(est, corpus.X, corpus.y)


def check_silence(name, estimator):
    """Nothing is printed unless `verbose` asks for it."""
    corpus = taken(estimator)[0]
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        answers(fitted(estimator, corpus), corpus.X, corpus.y)
    assert out.getvalue() == error.getvalue() == "", f"{name} prints {(out.getvalue() + error.getvalue())[:60]!r}"


def check_partial_fit(name, estimator):
    """`partial_fit`, where there is one: from scratch, labels to come, the same width, unknown labels refused."""
    if not hasattr(estimator, "partial_fit"):
        return
    for corpus in main_corpora(estimator):
        est = prepared(estimator)
        few = corpus.part([2, 6])
        est.partial_fit(few.X, [["O"] * n for n in few.lengths], classes=["B-PER", "O"])
        est.partial_fit(corpus.X, corpus.y)
        assert est.classes_.tolist() == ["B-PER", "O"]
        answers(est, corpus.X, corpus.y)
        refused(
            lambda est=est, c=corpus: est.partial_fit(c.X, [["B-LOC"] * n for n in c.lengths]),
            f"{name}.partial_fit with a new label", "B-LOC", errors=(ValueError,),
        )  # fmt: skip
        if corpus.kind == "numbers":
            refused(
                lambda est=est, c=corpus: est.partial_fit([x[:, :2] for x in c.X], c.y),
                f"{name}.partial_fit with another width", "2", "3", errors=(ValueError,),
            )  # fmt: skip


of_taggers = [
    check_label_sequences,
    check_learns,
    check_classes,
    check_one_label,
    check_probabilities,
    check_unknown_labels,
    check_unseen_labels,
    check_unseen_features,
    check_fixed_labels,
    check_decoder_after_fit,
    check_class_weight,
    check_n_iter,
    check_silence,
    check_partial_fit,
]
