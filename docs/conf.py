from importlib.metadata import version as installed_version

from detaudit.demo import load_card

project = "detaudit"
author = "The detaudit authors"
copyright = "2026, The detaudit authors"
version = release = installed_version("detaudit")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
html_theme = "sphinx_audeering_theme"
html_title = "detaudit"
html_theme_options = {"display_version": True, "footer_links": False, "logo_only": False}
exclude_patterns = ["_build"]
autodoc_typehints = "description"
autodoc_mock_imports = ["pytest"]
napoleon_use_ivar = True


def figures_of_the_bundled_model() -> dict[str, object]:
    """Substitutions for its page, so that no figure is typed by hand."""
    card = load_card()
    test = card["test"]
    return {
        "parameters": f"{card['training']['parameters']:,}",
        "sounds": test["sounds"],
        "voices": test["pitch"]["sounds"],
        **{name: test[name]["mean_absolute_error"] for name in ("pitch", "level", "noisiness")},
        **{f"{name}_base": test[name]["baseline"] for name in ("pitch", "level", "noisiness")},
        "hertz": test["pitch"]["mean_absolute_error_hertz"],
        "decibels": test["level"]["mean_absolute_error_decibels"],
        "accuracy": f"{100 * test['voicing']['accuracy']:.1f}",
        "accuracy_base": f"{100 * test['voicing']['baseline']:.1f}",
    }


rst_epilog = "\n".join(
    f".. |{name}| replace:: {value}" for name, value in figures_of_the_bundled_model().items()
)
