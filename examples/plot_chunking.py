# SPDX-License-Identifier: BSD-3-Clause
"""
Chunk English text
==================

A latent CRF learns to cut sentences into phrases, from the small corpus that comes with the package, and says what
its answers are worth.
"""

from sklearn_latent import LatentCRFTagger
from sklearn_latent.datasets import load_chunks
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.inspection import MarginalsDisplay, explain, show_sequence
from sklearn_latent.metrics import chunk_classification_report

X, y = load_chunks(subset="train", return_X_y=True)
X_test, y_test = load_chunks(subset="test", return_X_y=True)
print(X[0][:4], y[0][:4])

# %%
# A token is a word and its part of speech. The vectorizer makes features of them and of their neighbours; inside
# the tagger it lets one object go from tokens to labels.

tagger = LatentCRFTagger(n_latent=2, vectorizer=TemplateVectorizer("chunking"), tol=1e-4, random_state=0).fit(X, y)
print(chunk_classification_report(y_test, tagger.predict(X_test)))

# %%
# The sentence of which the model is least sure, and the probability of each of its chunks:

least = int(tagger.decode(X_test).log_prob.argmin())
sentence = X_test[least]
show_sequence(tagger, sentence)

# %%
# Its three most probable labellings differ in few places:

for labels, probability in tagger.predict_nbest([sentence], 3)[0]:
    print(f"{probability:.3f}  {' '.join(labels)}")

# %%
# What speaks for the label of the token with the most doubtful label? The parts add up to the log-odds against the
# runner-up; what is above zero speaks for the label.

marginals = tagger.predict_marginals([sentence])[0]
doubtful = int(marginals.max(axis=1).argmin())
parts = explain(tagger, sentence, doubtful)
print(f"{sentence[doubtful][0]!r}: {parts.attrs['label']} against {parts.attrs['against']},", end=" ")
print(f"log-odds {parts.attrs['log_odds']:.2f}")
print(parts.head(8).round(2).to_string(index=False))

# %%
# The probabilities of labels at all tokens, of those that reach 0.15 somewhere. Where two rows share a column the
# model hesitates.

MarginalsDisplay.from_estimator(tagger, sentence, least=0.15)
