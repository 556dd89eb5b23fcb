# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the documentation."""

import sklearn_latent

project = "sklearn_latent"
copyright = "2026, the sklearn_latent developers"
version = release = sklearn_latent.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
templates_path = []
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
numpydoc_show_class_members = False
autodoc_typehints = "none"
add_module_names = False
