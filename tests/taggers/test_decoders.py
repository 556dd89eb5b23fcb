# SPDX-License-Identifier: BSD-3-Clause
"""Each decoder against its definition, and what `decode` claims against enumeration."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sklearn_latent import LabelSequences, LatentCRFTagger
from sklearn_latent.datasets import make_latent_sequences
from sklearn_latent.exceptions import InexactDecodingWarning
from sklearn_latent.metrics import get_chunks
from taggers.brute import Enumeration, anything, latent_paths, only_pairs, random_inputs, random_tagger

DECODERS = ["ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"]
BIO = ["B-X", "B-Y", "I-X", "O"]
LENGTHS = [3, 0, 1, 4, 2, 3]
PAIRS = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("c", "b"), (None, "b"), (None, "a"), ("c", None), ("a", None)]


def bio(a, b):
    return not (b and b.startswith("I")) or (a is not None and a != "O" and a[1:] == b[1:])


def f1(y, ref):
    a, b = set(get_chunks(y)), set(get_chunks(ref))
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def accuracy(y, ref):
    return sum(a == b for a, b in zip(y, ref, strict=True)) / len(y)


def lopsided(y, ref):
    """No symmetry: which argument is which matters."""
    return sum((1 + (b == "O")) * (a == b) for a, b in zip(y, ref, strict=True)) / (1 + ref.count("O"))


MODELS = {
    "latent": ({}, None),
    "plain": ({"n_latent": (1, 1, 1)}, None),
    "edges": ({"edges": True}, None),
    "flat": ({"spread": 0.05}, None),
    "sharp": ({"spread": 6.0}, None),
    "pairs": ({"constraints": PAIRS}, only_pairs(PAIRS)),
    "plain pairs": ({"constraints": PAIRS, "n_latent": (1, 1, 1)}, only_pairs(PAIRS)),
    "chunks": ({"classes": BIO, "n_latent": (1, 2, 1, 2), "constraints": "iob2"}, bio),
    "free chunks": ({"classes": BIO, "n_latent": (2, 1, 2, 1)}, None),
}


@pytest.fixture(params=MODELS)
def model(request, rng):
    params, allowed = MODELS[request.param]
    tagger = random_tagger(rng, mbr_metric="token_accuracy", **params)
    X = random_inputs(rng, LENGTHS)
    return tagger, X, [Enumeration(tagger, x, allowed or anything) for x in X]


def check_result(result, tagger, X, truths):
    """Everything that `DecodeResult` promises, whichever decoder."""
    n = len(X)
    assert isinstance(result.labels, LabelSequences)
    assert [len(y) for y in result.labels] == [len(x) for x in X]
    for name, kind in (("log_prob", "f"), ("upper_bound", "f"), ("exact", "b"), ("n_paths", "i"), ("n_expanded", "i")):
        field = getattr(result, name)
        assert field.shape == (n,)
        assert field.dtype.kind == kind
    assert type(result.seconds) is float
    assert result.seconds > 0
    # Log sums of a few hundred paths, computed twice.
    np.testing.assert_allclose(result.log_prob, tagger.log_likelihood(X, result.labels), rtol=1e-10, atol=1e-10)
    for i, truth in enumerate(truths):
        best = np.log(truth.best[1])
        np.testing.assert_allclose(result.log_prob[i], truth.log_prob(result.labels[i]), rtol=1e-9, atol=1e-10)
        assert result.log_prob[i] <= best + 1e-10
        assert result.upper_bound[i] >= best - 1e-10
        assert result.upper_bound[i] >= result.log_prob[i]
        assert result.upper_bound[i] <= 0
        if result.exact[i]:
            assert result.log_prob[i] >= best - 1e-10
    empty = [len(x) == 0 for x in X]
    assert result.log_prob[empty].tolist() == [0.0]
    assert result.exact[empty].all()


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_decode_claims(model, decoder):
    tagger, X, truths = model
    check_result(tagger.decode(X, decoder), tagger, X, truths)
    assert tagger.decode(X, decoder).labels == tagger.set_params(decoder=decoder).predict(X)


@pytest.mark.parametrize(
    ("decoder", "options"),
    [
        ("ldi_exact", {"epsilon": 0.5}),
        ("ldi_exact", {"epsilon": 1e9}),
        ("ldi_approx", {"n_paths": 1}),
        ("ldi_approx", {"n_paths": 3, "alpha": 0.0}),
        ("ldi_approx", {"n_paths": 3, "alpha": 0.3}),
        ("ldi_approx", {"n_paths": 5, "alpha": 100.0}),
        ("mbr", {"n_paths": 1}),
        ("mbr", {"n_paths": 4}),
    ],
)
def test_what_decode_claims_with_options(model, decoder, options):
    tagger, X, truths = model
    check_result(tagger.decode(X, decoder, **options), tagger, X, truths)


def test_ldi_exact_is_the_best_sequence(model):
    tagger, X, truths = model
    result = tagger.decode(X)
    assert result.labels == [truth.best[0] for truth in truths]
    assert result.exact.all()
    np.testing.assert_allclose(result.log_prob, [np.log(t.best[1]) for t in truths], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(result.upper_bound, result.log_prob, rtol=1e-9, atol=1e-10)
    assert result.n_paths.tolist() == [0] * len(X)


def test_ldi_approx_with_many_paths_is_exact(model):
    tagger, X, truths = model
    result = tagger.decode(X, "ldi_approx", n_paths=10_000)
    assert result.labels == [truth.best[0] for truth in truths]
    assert result.exact.all()
    assert (result.n_paths[[len(x) > 0 for x in X]] > 0).all()
    # alpha beyond reach: all latent paths are taken
    complete = tagger.decode(X, "ldi_approx", n_paths=10_000, alpha=1e12)
    assert complete.labels == result.labels
    assert complete.exact.all()


@pytest.mark.parametrize(("n_paths", "alpha"), [(1, 1.0), (2, 1.0), (5, 0.3), (5, 1.0), (4, 3.0)])
def test_ldi_approx_by_its_definition(model, n_paths, alpha):
    """Paths in order; the best label sequence among them; stop at alpha times what is not accounted for."""
    tagger, X, truths = model
    allowed = {"iob2": bio, "None": anything}.get(str(tagger.constraints), only_pairs(PAIRS))
    result = tagger.decode(X, "ldi_approx", n_paths=n_paths, alpha=alpha)
    for i, (x, truth) in enumerate(zip(X, truths, strict=True)):
        if len(x) == 0:
            continue
        weights = latent_paths(tagger, x, allowed)
        seen, taken = {}, 0
        for path in sorted(weights, key=weights.get, reverse=True)[:n_paths]:
            taken += 1
            y = tuple(tagger.classes_[tagger.state_labels_[list(path)]].tolist())
            seen.setdefault(y, truth.prob[y])
            if max(seen.values()) >= alpha * (1.0 - sum(seen.values())):
                break
        assert tuple(result.labels[i]) == max(seen, key=seen.get)
        assert result.n_paths[i] == taken


def test_bhp_is_the_projection_of_the_best_path(model):
    tagger, X, _ = model
    result = tagger.decode(X, "bhp")
    paths = tagger.predict_latent(X)
    assert result.labels == [tagger.classes_[tagger.state_labels_[p]].tolist() for p in paths]
    plain = len(tagger.state_labels_) == len(tagger.classes_)
    if plain:
        assert result.exact.all()
    assert (result.upper_bound[~result.exact] == 0).all()


def test_bmp_is_the_best_sum_of_marginals(model):
    tagger, X, truths = model
    result = tagger.decode(X, "bmp")
    for labels, truth in zip(result.labels, truths, strict=True):
        marginals = truth.marginals()

        def value(y, marginals=marginals, truth=truth):
            return sum(row[truth.classes.index(label)] for row, label in zip(marginals, y, strict=True))

        assert value(labels) >= max(value(y) for y in truth.prob) - 1e-12
        if tagger.constraints is None:
            assert labels == [truth.classes[k] for k in marginals.argmax(axis=1)]


def test_bmp_ties_go_to_the_first_class():
    tagger = LatentCRFTagger.from_weights(["a", "b", "c"], np.zeros((1, 3)), np.zeros((3, 3)), decoder="bmp")
    assert tagger.predict([np.ones((3, 1))]) == [["a", "a", "a"]]


@pytest.mark.parametrize("n_paths", [5, 1000])
@pytest.mark.parametrize("metric", ["chunk_f1", "token_accuracy", f1, accuracy, lopsided], ids=str)
@pytest.mark.parametrize("which", ["chunks", "free chunks"])
def test_mbr_by_its_definition(rng, which, metric, n_paths):
    params, allowed = MODELS[which]
    tagger = random_tagger(rng, **params)
    X = random_inputs(rng, LENGTHS)
    result = tagger.decode(X, "mbr", mbr_metric=metric, n_paths=n_paths)
    f = {"chunk_f1": f1, "token_accuracy": accuracy}.get(metric, metric)
    for i, x in enumerate(X):
        if len(x) == 0:
            continue
        truth = Enumeration(tagger, x, allowed or anything)
        voters = truth.ranked()[:n_paths]
        values = [truth.expected(f, y, voters) for y, _ in voters]
        own = [y for y, _ in voters].index(result.labels[i])
        assert values[own] >= max(values) - 1e-12
        assert result.n_paths[i] == len(voters)


def test_mbr_ties_go_to_the_more_probable(rng):
    tagger = random_tagger(rng)
    X = random_inputs(rng, LENGTHS)
    constant = tagger.decode(X, "mbr", mbr_metric=lambda y, ref: 0.1)
    assert constant.labels == tagger.predict(X)
    assert constant.exact.all()


def test_mbr_token_accuracy_over_all_sequences_is_bmp(rng):
    for n_latent in ((1, 1, 1), (2, 1, 2)):
        tagger = random_tagger(rng, n_latent=n_latent)
        X = random_inputs(rng, LENGTHS)
        mbr = tagger.decode(X, "mbr", mbr_metric="token_accuracy", n_paths=1000)
        assert mbr.labels == tagger.decode(X, "bmp").labels


def test_mbr_on_labels_that_are_no_chunks(rng):
    tagger = random_tagger(rng, decoder="mbr")
    for call in (tagger.predict, tagger.decode):
        with pytest.raises(ValueError, match=r"'a'.*token_accuracy"):
            call(random_inputs(rng, [2]))
    assert len(tagger.set_params(mbr_metric="token_accuracy").predict(random_inputs(rng, [2]))) == 1


def test_mbr_metric_that_is_no_number(rng):
    tagger = random_tagger(rng)
    with pytest.raises(ValueError, match=r"mbr_metric.*nan"):
        tagger.decode(random_inputs(rng, [2]), "mbr", mbr_metric=lambda y, ref: float("nan"))


def test_one_state_a_label_makes_path_decoders_equal(rng):
    tagger = random_tagger(rng, n_latent=(1, 1, 1))
    X = random_inputs(rng, rng.integers(0, 6, size=60))
    exact = tagger.decode(X, "ldi_exact")
    for decoder in ("bhp", "ldi_approx"):
        other = tagger.decode(X, decoder)
        assert other.labels == exact.labels
        assert other.exact.all()


# -- options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["n_path", "decoders", "sigma", "beam_width", "metric"])
def test_options_that_are_none(rng, option):
    with pytest.raises(TypeError, match=f"no option '{option}'.*epsilon.*fixed.*max_search"):
        random_tagger(rng).decode(random_inputs(rng, [2]), **{option: 1})


@pytest.mark.parametrize(
    "options",
    [
        {"n_paths": 0}, {"n_paths": 1.5}, {"n_paths": None}, {"alpha": -1.0}, {"alpha": "a"}, {"epsilon": -0.1},
        {"epsilon": "x"}, {"max_search": -1}, {"max_search": 0.5}, {"mbr_metric": "bleu"}, {"mbr_metric": 3},
    ],
    ids=repr,
)  # fmt: skip
def test_options_of_the_wrong_value(rng, options):
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of decode"):
        random_tagger(rng).decode(random_inputs(rng, [2]), **options)


def test_unknown_decoder(rng):
    tagger = random_tagger(rng)
    with pytest.raises(ValueError, match=r"'decoder' parameter.*ldi_exact"):
        tagger.decode(random_inputs(rng, [2]), "viterbi")
    with pytest.raises(ValueError, match=r"'decoder' parameter.*ldi_exact"):
        tagger.set_params(decoder="viterbi").predict(random_inputs(rng, [2]))


def test_options_fall_back_on_parameters(rng):
    tagger = random_tagger(rng, decoder="ldi_approx", n_paths=2, alpha=1e12)
    X = random_inputs(rng, [4, 4])
    assert tagger.decode(X).n_paths.tolist() == [2, 2]
    assert tagger.decode(X, n_paths=3).n_paths.tolist() == [3, 3]
    assert tagger.n_paths == 2


def test_options_beyond_64_bits(rng):
    tagger = random_tagger(rng)
    X = random_inputs(rng, [3, 4])
    for decoder in ("ldi_approx", "mbr"):
        result = tagger.decode(X, decoder, n_paths=10**30, max_search=10**30, mbr_metric="token_accuracy")
        assert result.labels == tagger.decode(X, decoder, n_paths=10_000, mbr_metric="token_accuracy").labels
    assert tagger.decode(X, max_search=10**30).labels == tagger.predict(X)
    all_of_them = tagger.predict_nbest(X, 1000)
    assert tagger.set_params(max_search=10**30).predict_nbest(X, 1000) == all_of_them


def test_decode_before_fit():
    with pytest.raises(NotFittedError):
        LatentCRFTagger().decode([np.ones((1, 1))])


# -- searches that end early ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hard():
    """A model on which 20 expansions a token are not enough for some sequences: weak evidence, latents that persist."""
    corpus = make_latent_sequences(12, n_labels=6, n_latent=6, n_features=5, mean_length=40, scale=0.6, random_state=3)
    tagger = LatentCRFTagger.from_weights(
        list("abcdef"), corpus.coef / 6, persisting(6, 6), state_labels=corpus.state_labels, max_search=0
    )
    return tagger, corpus.data


def persisting(n_labels, n_latent):
    """Transition weights that keep the number of the latent, whatever the labels."""
    return 5.0 * np.tile(np.eye(n_latent), (n_labels, n_labels))


def test_a_search_that_ends_early_says_so(hard):
    tagger, X = hard
    with pytest.warns(InexactDecodingWarning, match="max_search=0") as record:
        labels = tagger.predict(X)
    assert len(record) == 1
    with pytest.warns(InexactDecodingWarning, match=r"(\d+) of 12 sequences") as record:
        result = tagger.decode(X)
    assert len(record) == 1
    assert record[0].filename == __file__
    assert result.labels == labels
    assert not result.exact.all()
    assert (result.upper_bound >= result.log_prob).all()
    assert (result.upper_bound[~result.exact] > result.log_prob[~result.exact]).all()
    assert np.isfinite(result.log_prob).all()
    np.testing.assert_allclose(result.log_prob, tagger.log_likelihood(X, labels), rtol=1e-10)
    # No other decoder finds more than the bound.
    for decoder in ("bhp", "bmp", "ldi_approx"):
        assert (tagger.decode(X, decoder).log_prob <= result.upper_bound + 1e-9).all()
    assert (result.n_expanded <= 20 * X.lengths + 1).all()


def test_epsilon_asks_for_less(hard):
    tagger, X = hard
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        result = tagger.decode(X, epsilon=0.5)
        loose = tagger.decode(X, epsilon=1e6)
    assert record == []
    for r in (result, loose):
        assert (r.upper_bound >= r.log_prob).all()
    assert loose.n_expanded.sum() < result.n_expanded.sum()


def test_epsilon_is_a_relative_gap(rng):
    """The gap is met wherever the search did not run out, and nothing is called exact that is not."""
    tagger = random_tagger(rng, spread=0.5)
    X = random_inputs(rng, [6] * 20)
    result, exact = tagger.decode(X, epsilon=0.2), tagger.decode(X)
    assert (result.upper_bound - result.log_prob <= np.log(1.2) + 1e-10).all()
    assert (exact.log_prob <= result.upper_bound + 1e-10).all()
    assert (result.log_prob[result.exact] >= exact.log_prob[result.exact] - 1e-10).all()


def test_early_search_under_constraints_stays_allowed():
    classes = ["B-X", "B-Y", "I-X", "I-Y", "O"]
    rng = np.random.default_rng(0)
    tagger = random_tagger(
        rng, classes=classes, n_latent=(6,) * 5, spread=0.4, constraints="iob2", max_search=0, decoder="ldi_exact"
    )
    X = random_inputs(rng, [60] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactDecodingWarning)
        for decoder in DECODERS:
            for y in tagger.decode(X, decoder).labels:
                assert all(bio(a, b) for a, b in zip([None, *y[:-1]], y, strict=True))


def test_nbest_that_ends_early_says_so(hard):
    tagger, X = hard
    with pytest.warns(InexactDecodingWarning) as record:
        tagger.predict_nbest(X, 50)
    assert len(record) == 1


def test_score_warns_once(hard):
    tagger, X = hard
    y = [["a"] * n for n in X.lengths]
    with pytest.warns(InexactDecodingWarning) as record:
        tagger.score(X, y)
    assert len(record) == 1


def test_mbr_warns_when_its_list_is_not_proven():
    rng = np.random.default_rng(0)
    labels = ["B-P", "I-P", "O"]
    model = LatentCRFTagger.from_weights(
        labels, 0.05 * rng.normal(size=(2, 12)), persisting(3, 4), decoder="mbr", max_search=0
    )
    X = [rng.normal(size=(40, 2)), rng.normal(size=(2, 2))]
    with pytest.warns(InexactDecodingWarning, match="1 of 2 sequences"):
        result = model.decode(X)
    assert len(result.labels[0]) == 40 and not result.exact[0]


@pytest.mark.parametrize("value", [None, "good", [1.0, 2.0]])
def test_mbr_metric_that_returns_no_number(value):
    model = LatentCRFTagger.from_weights(["a", "b"], np.zeros((1, 2)), np.zeros((2, 2)), decoder="mbr")
    model.set_params(mbr_metric=lambda y, reference: value)
    with pytest.raises(TypeError, match="mbr_metric must return a number, got"):
        model.predict([np.ones((2, 1))])
