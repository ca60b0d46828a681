from importlib.metadata import version as installed_version

project = "detaudit"
author = "The detaudit authors"
copyright = "2026, The detaudit authors"
version = release = installed_version("detaudit")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
html_theme = "sphinx_audeering_theme"
html_title = "detaudit"
html_theme_options = {"display_version": True, "footer_links": False, "logo_only": False}
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_mock_imports = []
napoleon_use_ivar = True
