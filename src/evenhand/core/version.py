"""The version of the library, which pyproject.toml reads from here, and the versions of the libraries around it."""

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
    """The versions that a bug report needs, one per line; no library is imported to find them.

    Returns
    -------
    str
        The text, to be pasted into the report.

    Examples
    --------
    >>> show_versions().splitlines()[0]
    'evenhand 0.1.0'
    """
    import platform
    from importlib import metadata

    lines = [f"evenhand {__version__}", f"Python {platform.python_version()} on {platform.system()}"]
    for name in _LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} not installed")
    return "\n".join(lines)
