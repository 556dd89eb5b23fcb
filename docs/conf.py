# SPDX-License-Identifier: BSD-3-Clause
"""Configuration of the documentation."""

import os

import matplotlib

import sklearn_latent

matplotlib.use("Agg")
os.environ.setdefault("MPLBACKEND", "Agg")

project = "sklearn_latent"
copyright = "2026, the sklearn_latent developers"
version = release = sklearn_latent.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = []
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_latent {release}"
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": []}  # pages have no pages below them
numpydoc_show_class_members = False
autodoc_typehints = "none"
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10,
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_",),
    "reference_url": {"sklearn_latent": None},
}
