"""Sphinx configuration; the package writes its own reference pages and draws its own pictures."""

import sys
from pathlib import Path

from numpydoc import docscrape_sphinx

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from pictures import write_pictures  # noqa: E402
from public_api import write_reference  # noqa: E402

import xarraylite as xl  # noqa: E402

_templates = {}


class Environment(docscrape_sphinx.SandboxedEnvironment):
    """Numpydoc makes one for each docstring, which would compile its template each time."""

    def get_template(self, name):
        if name not in _templates:
            _templates[name] = super().get_template(name)
        return _templates[name]


docscrape_sphinx.SandboxedEnvironment = Environment

project = "xarraylite"
author = "xarraylite developers"
copyright = "2026, xarraylite developers"
release = version = xl.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]

autosummary_generate = False  # pages are per category, not per name: see public_api.py
autodoc_member_order = "alphabetical"
autodoc_typehints = "none"  # numpydoc's Parameters section says it better
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "xarraylite"
html_static_path = ["_static"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "show_nav_level": 2,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
}

write_reference(HERE / "reference" / "generated")
write_pictures(HERE / "user_guide" / "generated")
