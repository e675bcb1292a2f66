"""The site: `make docs` builds it without a network, and every warning is an error."""

import sys
from pathlib import Path

import shallows as sh

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "shallows"
author = "The shallows developers"
copyright = author
version = release = sh.__version__

extensions = ["myst_parser", "sphinx_gallery.gen_gallery", "sphinx_copybutton", "site_text"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
python_use_unqualified_type_names = True
highlight_language = "python"
# single backticks are code in docstrings and gallery texts, as they are in Markdown
default_role = "code"
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 88

html_theme = "furo"
html_title = "shallows"
html_favicon = "_static/logo.svg"
html_logo = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("panels.js", {"defer": "defer"}), ("figures.js", {"defer": "defer"})]
html_copy_source = False
html_search_scorer = str(HERE / "_ext" / "scorer.js")
html_use_index = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00527F", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#7CC6F0"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("pictures.scrape",),
    "reset_modules": (),
    "capture_repr": ("__repr__",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "abort_on_example_error": True,
}
