# SPDX-License-Identifier: BSD-3-Clause
"""Chunk English text with a latent CRF, and ask what the answer is worth.

Trains on the small corpus that comes with the package, compares the decoders on held-out sentences, and shows one
sentence's most probable labellings, the probability of its chunks, and where the model is least sure.
"""

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.metrics import chunk_classification_report, chunk_f1_score, mcnemar_test

X, y = load_chunks(subset="train", return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)

tagger = LatentCRFTagger(n_latent=2, vectorizer=TemplateVectorizer("chunking"), random_state=0).fit(X, y)
plain = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("chunking")).fit(X, y)

for decoder in ("ldi_exact", "ldi_approx", "bhp", "bmp", "mbr"):
    result = tagger.decode(X_test, decoder)
    f1 = chunk_f1_score(y_test, result.labels)
    print(f"{decoder:<11} F1 {100 * f1:.2f}, {100 * result.exact.mean():.0f} % proven to be the most probable")

print(chunk_classification_report(y_test, tagger.predict(X_test)))
print("latent against plain, by sentence:", mcnemar_test(y_test, tagger.predict(X_test), plain.predict(X_test)))

# One sentence: the one whose labelling is least certain.
least = int(tagger.decode(X_test).log_prob.argmin())
print("\n" + " ".join(word for word, _ in X_test[least]))
for labels, probability in tagger.predict_nbest([X_test[least]], 3)[0]:
    print(f"{probability:.3f}  {' '.join(labels)}")
for start, stop, kind, probability in tagger.predict_spans([X_test[least]])[0]:
    print(f"{probability:.3f}  [{kind} {' '.join(word for word, _ in X_test[least][start:stop])}]")
