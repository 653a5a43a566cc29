"""Which version this is, and which versions of other libraries it works with here."""

from __future__ import annotations

__version__ = "0.1.0"

_LIBRARIES = (
    "numpy",
    "scipy",
    "narwhals",
    "duckdb",
    "click",
    "rich",
    "jinja2",
    "pandas",
    "polars",
    "pyarrow",
    "scikit-learn",
)


def show_versions() -> str:
    """The versions that a bug report needs, a line each; nothing is imported for it."""
    import platform
    from importlib import metadata

    lines = [f"evenhand {__version__}", f"Python {platform.python_version()} on {platform.system()}"]
    for name in _LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} not installed")
    return "\n".join(lines)
