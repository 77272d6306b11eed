"""Configures Sphinx for the pages; `docs/site/build.py` runs it over a copy of them."""

project = "agent-rft"
author = "agent-rft"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "agent-rft"
html_static_path = ["assets"]
html_favicon = "assets/icon.svg"
html_css_files = ["pages.css"]
html_js_files = ["reference_link.js"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}
# A block is highlighted where it names a language; the others are plain.
highlight_language = "none"
pygments_style = "default"
