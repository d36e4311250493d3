"""Prompt templates: read from their files, strict about what they know."""

from dataclasses import fields
from functools import cache, lru_cache
from importlib import resources
from typing import Any, TypeVar

from jinja2 import Environment, StrictUndefined, Template

T = TypeVar("T")

_JINJA = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@lru_cache(maxsize=256)
def template_of(text: str) -> Template:
    """The template that a text is; a name that it does not get is an error, never a blank."""
    return _JINJA.from_string(text)


@cache
def template(path: str) -> Template:
    """The template in a file below `agents/prompts`."""
    return template_of(resources.files(__package__).joinpath(path).read_text(encoding="utf-8"))


def load(prompts: type[T], folder: str) -> T:
    """A dataclass of templates, each field from the file of its name in that folder."""
    named: Any = prompts
    return prompts(**{each.name: template(f"{folder}/{each.name}.j2") for each in fields(named)})
