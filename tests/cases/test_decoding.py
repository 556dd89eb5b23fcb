# SPDX-License-Identifier: BSD-3-Clause
"""G14 to G17: labels, marginals, legal sequences, and the confidence of an entity."""

import inspect

import numpy as np
import pytest

from cases.helpers import DECODERS
from sklearn_latent.metrics import get_chunks
from taggers.brute import random_inputs


@pytest.mark.parametrize("decoder", DECODERS)
def test_g14_decoded_path_and_marginals(tagger, decoder, rng):
    est = tagger.random(rng, decoder=decoder, mbr_metric="token_accuracy")
    data = random_inputs(rng, rng.integers(1, 8, size=50))
    found, marginals = est.predict(data), est.predict_marginals(data)
    for p, m in zip(found, marginals, strict=True):
        np.testing.assert_allclose(m.sum(axis=1), 1.0, rtol=0, atol=1e-9)
        assert m.shape == (len(p), 3)
        if decoder == "bmp":
            assert p == est.classes_[m.argmax(axis=1)].tolist()
    result = est.decode(data)
    np.testing.assert_allclose(result.log_prob, est.log_likelihood(data, result.labels), rtol=1e-9, atol=1e-9)
    for x, ((labels, p), *_) in zip(data, est.predict_nbest(data, 1), strict=True):
        np.testing.assert_allclose(np.log(p), est.log_likelihood([x], [labels])[0], rtol=1e-9, atol=1e-9)


def test_g14_ties_go_to_the_first_class(tagger):
    est = tagger.crf1().fit([[{"w": "a"}], [{"w": "a"}]], [["q"], ["p"]])
    np.testing.assert_allclose(est.predict_marginals([[{"w": "a"}]])[0], 0.5, rtol=1e-12)
    assert est.decode([[{"w": "a"}]], "bmp").labels == [["p"]]


def test_g14_columns_are_in_the_order_of_classes(tagger):
    est = tagger().fit([[{"w": "z"}, {"w": "a"}]] * 9, [["Z", "A"]] * 9)
    assert est.classes_.tolist() == ["A", "Z"]
    assert est.predict_marginals([[{"w": "z"}]])[0].argmax() == 1


def test_g15_one_state_a_label_is_a_plain_crf(tagger, rng):
    est = tagger.random_crf(rng)
    data = random_inputs(rng, rng.integers(1, 5, size=200 if tagger.cls.__name__ == "LatentCRFTagger" else 60))
    truths = [tagger.enumeration(est, x) for x in data]
    best = [truth.ranked()[0][0] for truth in truths]
    for decoder in ("ldi_exact", "ldi_approx", "bhp"):
        assert est.decode(data, decoder).labels == best
    by_token = [[est.classes_[k] for k in truth.marginals().argmax(axis=1)] for truth in truths]
    assert est.decode(data, "bmp").labels == by_token
    assert est.decode(data, "mbr", mbr_metric="token_accuracy", n_paths=81).labels == by_token
    for own, truth in zip(est.predict_marginals(data), truths, strict=True):
        np.testing.assert_allclose(own, truth.marginals(), rtol=1e-10, atol=1e-12)


def legal(labels) -> bool:
    return all(b[0] != "I" or a[1:] == b[1:] for a, b in zip(["O", *labels[:-1]], labels, strict=True))


@pytest.mark.parametrize("n_latent", [1, 2])
def test_g16_illegal_tag_sequences(tagger, n_latent):
    train = [[{"w": "New"}, {"w": "York"}, {"w": "calls"}], [{"w": "Ana"}, {"w": "calls"}]] * 5
    y = [["B-LOC", "I-LOC", "O"], ["B-PER", "O"]] * 5
    york = {"w": "York"}
    data = [[york], [york, york], [{"w": "calls"}, york], [{"w": "Ana"}, york, york], [{"w": "New"}, york, york]]
    strict = tagger(n_latent=n_latent, constraints="iob2", sigma=5.0).fit(train, y)
    free = tagger(n_latent=n_latent, sigma=5.0).fit(train, y)
    for decoder in DECODERS:
        assert all(legal(labels) for labels in strict.decode(data, decoder).labels), decoder
    assert np.isfinite(free.log_likelihood(data[:1], [["I-LOC"]])).all()  # without constraints it can come out
    assert strict.predict(data)[-1][:2] == ["B-LOC", "I-LOC"]
    for answers in strict.predict_nbest(data, 100):
        assert all(legal(labels) for labels, _ in answers)
    assert strict.log_likelihood(data[:1], [["I-LOC"]]).tolist() == [-np.inf]
    assert not any(m[0, strict.classes_.tolist().index("I-LOC")] for m in strict.predict_marginals(data))


@pytest.mark.parametrize("classes", [("B-P", "I-P", "O"), ("B", "I", "O"), ("B-L", "B-P", "I-P", "O")])
def test_g17_confidence_of_an_entity(tagger, classes, rng):
    est = tagger.random(rng, n_features=3, classes=classes)
    data = random_inputs(rng, [3, 1, 2, 3], n_features=3)
    kinds = sorted({label[2:] for label in classes if label != "O"})
    asked = [[(i, j, kind) for i in range(len(x)) for j in range(i + 1, len(x) + 1) for kind in kinds] for x in data]
    for x, marginals, found in zip(data, est.predict_marginals(data), est.predict_spans(data, asked), strict=True):
        probability = tagger.enumeration(est, x).prob
        for i, j, kind, p in found:
            inside = [q for y, q in probability.items()
                      if (i, j, kind) in get_chunks(list(y), scheme="iob2", invalid="discard")]  # fmt: skip
            np.testing.assert_allclose(p, sum(inside), rtol=1e-9, atol=1e-12)
            names = est.classes_.tolist()
            tags = [f"{'B' if t == i else 'I'}{'-' + kind if kind else ''}" for t in range(i, j)]
            own = [
                marginals[t, names.index(tag)] if tag in names else 0.0
                for t, tag in zip(range(i, j), tags, strict=True)
            ]
            assert p <= min(own) + 1e-12
            if len(x) == 1:
                np.testing.assert_allclose(p, own[0], rtol=1e-9)
    for labels, spans in zip(est.predict(data), est.predict_spans(data), strict=True):
        assert [span[:3] for span in spans] == get_chunks(labels, scheme="iob2", invalid="discard")


def test_g17_the_docs_state_the_meaning(tagger):
    text = " ".join(inspect.getdoc(tagger.cls.predict_spans).split())
    assert "The probability that exactly this chunk with this type is among the chunks" in text
