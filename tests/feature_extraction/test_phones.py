"""`PhoneSegments` against the formulas, against Kaldi, and what it refuses."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from feature_extraction.phones_twin import mfcc, segments
from sklearn_latent import SequenceMatrix, SPNCRFTagger
from sklearn_latent.feature_extraction import PerToken, PhoneSegments, SequenceUnion, Window
from sklearn_latent.feature_extraction._cepstra import Framing, cepstra
from sklearn_latent.io import load_model, save_model


def speech(n, seed=0):
    """Noise with a moving tone, within ±1."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / 16000
    return 0.3 * np.sin(2 * np.pi * (300 + 2000 * t) * t) + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("rate", "ranges"),
    [
        (16000, [[0, 1600], [1600, 1700], [1700, 3200], [3200, 6001]]),
        (16000, [[10, 11], [6000, 6001], [0, 6001], [50, 400], [300, 700]]),
        (8000, [[0, 200], [200, 2000], [2000, 6001]]),
        (11025, [[0, 3000], [3000, 6001]]),
    ],
)
def test_like_the_formulas(rate, ranges):
    audio = speech(6001)
    found = PhoneSegments(rate).transform([(audio, ranges)])
    np.testing.assert_allclose(found.values, segments(audio, ranges, rate), rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_like_the_formulas_for_any_segments(data):
    n = data.draw(st.integers(1, 1500))
    ranges = []
    for _ in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, n - 1))
        ranges.append([start, data.draw(st.integers(start + 1, n))])
    audio = speech(n, seed=1)
    found = PhoneSegments(4000).transform([(audio, ranges)])
    assert found.lengths.tolist() == [len(ranges)]
    np.testing.assert_allclose(found.values, segments(audio, ranges, 4000), rtol=1e-8, atol=1e-8)


def test_silence_and_constants_are_finite():
    for audio in (np.zeros(2000), np.full(2000, 0.7), np.zeros(1)):
        found = PhoneSegments().transform([(audio, [[0, len(audio)]])])
        assert np.isfinite(found.values).all()
        np.testing.assert_allclose(found.values, segments(audio, [[0, len(audio)]], 16000), rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("rate", [8000, 16000])
def test_cepstra_are_those_of_kaldi(rate):
    knf = pytest.importorskip("kaldi_native_fbank")
    audio = speech(9001, seed=2)
    options = knf.MfccOptions()
    options.frame_opts.samp_freq = rate
    options.frame_opts.dither = 0.0
    options.frame_opts.snip_edges = False
    options.frame_opts.window_type = "hamming"
    kaldi = knf.OnlineMfcc(options)
    kaldi.accept_waveform(rate, (audio * 32768).tolist())
    kaldi.input_finished()
    expected = np.array([kaldi.get_frame(k) for k in range(kaldi.num_frames_ready)])
    found = cepstra(audio, Framing(rate))
    assert found.shape == expected.shape
    # Single precision over there, with a short series for the filters.
    np.testing.assert_allclose(found[:, :12], expected[:, 1:], rtol=0, atol=2e-3)
    np.testing.assert_allclose(found[:, 12] + 2 * np.log(32768), expected[:, 0], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found, mfcc(audio, rate), rtol=1e-9, atol=1e-9)


def test_long_recordings_are_worked_on_in_blocks():
    audio, framing = speech(5000 * 40, seed=3), Framing(4000)
    whole = cepstra(audio, framing)
    assert len(whole) == 5000
    # Frame 4,100 and its neighbours again, from their samples alone.
    own = cepstra(audio[4090 * 40 : 4110 * 40], framing)
    np.testing.assert_allclose(own[3:-3], whole[4093:4107], rtol=1e-9, atol=1e-9)


def test_scale_of_integers():
    audio = np.round(speech(4000) * 20000).astype(np.int16)
    ranges = [[0, 1500], [1500, 4000]]
    pairs = [(audio, ranges), (audio / 32768, np.array(ranges)), ((audio.astype(np.int32) << 16), tuple(ranges))]
    corpus = PhoneSegments().fit_transform([*pairs, (audio.astype(np.float32) / 32768, ranges), (audio.tolist(), [])])
    assert corpus.lengths.tolist() == [2, 2, 2, 2, 0]
    for k in (1, 2, 3):
        np.testing.assert_allclose(corpus[k], corpus[0], rtol=1e-12)


def test_names_and_shapes():
    segmenter = PhoneSegments()
    names = segmenter.get_feature_names_out().tolist()
    assert len(set(names)) == len(names) == 92
    assert names[13] == "mfcc1_middle" and names[39] == "delta_mfcc1_begin" and names[-2] == "delta2_energy_end"
    corpus = segmenter.transform(iter([(speech(900), [[0, 900]]), ([], [])]))
    assert isinstance(corpus, SequenceMatrix) and corpus.feature_names.tolist() == names
    assert corpus.lengths.tolist() == [1, 0]
    assert segmenter.transform([]).shape == (0,) and segmenter.transform([]).n_features == 92
    # Each name says what stands there: the energies of a recording that grows louder.
    audio = speech(16000) * np.linspace(0.01, 1, 16000)
    row = dict(zip(names, segmenter.transform([(audio, [[0, 16000]])])[0][0], strict=True))
    assert row["energy_first"] < row["energy_middle"] < row["energy_last"]
    assert row["delta_energy_begin"] > row["delta_energy_end"] and row["log_duration"] == 0.0


def test_copies(tmp_path):
    segmenter = PhoneSegments(8000)
    X = [(speech(3000), [[0, 1000], [1000, 3000]])]
    expected = segmenter.transform(X).values
    save_model(segmenter, tmp_path / "m.zip")
    for copy in (clone(segmenter), pickle.loads(pickle.dumps(segmenter)), load_model(tmp_path / "m.zip")):
        assert copy.get_params() == {"sample_rate": 8000}
        np.testing.assert_array_equal(copy.transform(X).values, expected)


@pytest.mark.filterwarnings("ignore::sklearn_latent.exceptions.ConvergenceWarning")
def test_in_a_pipeline(tmp_path):
    X = [(speech(4000, seed), [[0, 1000], [1000, 3000], [3000, 4000]]) for seed in range(8)]
    y = [["a", "b", "a"]] * 8
    union = SequenceUnion([("own", "passthrough"), ("around", Window(1, 1))])
    model = make_pipeline(PhoneSegments(), union, PerToken(StandardScaler()), SPNCRFTagger(max_iter=3, random_state=0))
    model.fit(X, y)
    assert model.predict(X) == y
    tagger = make_pipeline(PhoneSegments(), Window(1, 1), SPNCRFTagger(max_iter=3, random_state=0)).fit(X, y)
    save_model(tagger, tmp_path / "m.zip")
    assert load_model(tmp_path / "m.zip").predict(X) == tagger.predict(X)


GOOD = (speech(800), [[0, 800]])


@pytest.mark.parametrize(
    ("pair", "error", "message"),
    [
        ((GOOD[0], [[0, 400], [400, 801]]), ValueError, r"X\[1\], segment 1: samples \[400, 801\] .* of 800 samples"),
        ((GOOD[0], [[-1, 400]]), ValueError, r"X\[1\], segment 0: samples \[-1, 400\]"),
        ((GOOD[0], [[0, 5], [5, 5]]), ValueError, r"X\[1\], segment 1: samples \[5, 5\]"),
        ((GOOD[0], [[7, 5]]), ValueError, r"X\[1\], segment 0: samples \[7, 5\]"),
        (([], [[0, 5]]), ValueError, "a recording of 0 samples"),
        ((np.where(np.arange(800) == 33, np.nan, 0.0), GOOD[1]), ValueError, r"X\[1\]: sample 33 is nan"),
        ((np.where(np.arange(800) == 7, -np.inf, 0.0), GOOD[1]), ValueError, r"X\[1\]: sample 7 is -inf"),
        ((GOOD[0] * 1e200, GOOD[1]), ValueError, "beyond any scale"),
        ((np.zeros((400, 2)), GOOD[1]), ValueError, r"one channel, \(n_samples,\), got shape \(400, 2\)"),
        ((np.zeros(800, np.uint8), GOOD[1]), TypeError, "signed integers or floats, got dtype uint8"),
        ((["a"] * 800, GOOD[1]), TypeError, "signed integers or floats"),
        (([[0.0], [0.0, 1.0]], GOOD[1]), TypeError, "signed integers or floats"),
        ((None, GOOD[1]), TypeError, "signed integers or floats"),
        ((GOOD[0], [0, 800]), ValueError, r"shape \(T, 2\), got \(2,\)"),
        ((GOOD[0], [[0, 400, 800]]), ValueError, r"shape \(T, 2\), got \(1, 3\)"),
        ((GOOD[0], [[0.0, 400.0]]), TypeError, r"integers of shape \(T, 2\), got dtype float64"),
        ((GOOD[0], [[0, 400], [400]]), TypeError, r"integers of shape \(T, 2\)"),
        ((GOOD[0], [["a", "b"]]), TypeError, r"integers of shape \(T, 2\)"),
        ((GOOD[0],), TypeError, r"X\[1\] has 1 parts, but samples and ranges"),
        (GOOD[0], TypeError, r"X\[1\] has 800 parts"),
        ("speech.wav", TypeError, r"X\[1\] is the string"),
        (3, TypeError, r"X\[1\] is 3"),
    ],
)
def test_refused(pair, error, message):
    with pytest.raises(error, match=message):
        PhoneSegments().transform([GOOD, pair])


@pytest.mark.parametrize("rate", [0, -1, 3999, 16000.5, "16000", None])
def test_wrong_rate(rate):
    with pytest.raises(ValueError, match="sample_rate"):
        PhoneSegments(rate).fit()
    with pytest.raises(ValueError, match="sample_rate"):
        PhoneSegments(rate).transform([GOOD])
