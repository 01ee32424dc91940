# SPDX-License-Identifier: Apache-2.0
"""How Sphinx builds the site: `make docs`. The reference and the results are written before it looks for pages."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "scripts"))

from api_pages import adapt_docstring, hide_colons, list_names, show_colons, write_api_pages  # noqa: E402 - found from here on
from results_pages import write_result_pages  # noqa: E402 - likewise

import equipoise  # noqa: E402 - sorted after them

project = "Equipoise"
author = "the authors of Equipoise"
version = release = equipoise.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
pygments_dark_style = "monokai"  # that of the theme underlines names of modules
html_title = f"Equipoise {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
smartquotes_action = "qe"  # quotes and dots; two hyphens begin an option
default_role = "code"  # what docstrings have between single backticks
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
nitpicky = True
# types in signatures that have no page: those of other projects, and those of modules that are not public
nitpick_ignore_regex = [("py:.*", r"(?!equipoise\.).*"), ("py:.*", r"equipoise\.\w+\..*")]


def setup(app: Sphinx) -> None:
    """Tells Sphinx what else to do."""
    app.add_config_value("draws_results", True, "env", bool)  # which takes longer than all the rest
    app.connect("builder-inited", write_pages)
    app.connect("source-read", trim_blocks)
    app.connect("autodoc-process-docstring", read_docstring, priority=400)  # napoleon, which reads sections, has 500
    app.connect("autodoc-process-docstring", lambda *given: show_colons(given[-1]), priority=600)


def trim_blocks(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Takes the empty line away with which what is typed at a prompt ends, so that the suite can read it."""
    source[0] = re.sub(r"(^```python\n[^`]*?\n)\n+(?=```$)", r"\1", source[0], flags=re.MULTILINE)


def write_pages(app: Sphinx) -> None:
    """Writes the pages that are made from the package and from stored results."""
    write_api_pages(DOCS / "api")
    write_result_pages(DOCS / "results", draws=app.config.draws_results)


def read_docstring(_app: Sphinx, what: str, _name: str, value: object, _options: Any, lines: list[str]) -> None:
    """Makes a docstring as it is written here one that Sphinx understands."""
    if what == "data" and isinstance(value, Mapping):
        lines[:] = [list_names(value)]
    adapt_docstring(lines)
    if what in {"attribute", "property", "data"}:
        hide_colons(lines)
