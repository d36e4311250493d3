"""A library of skills as files: `clean-0.plan`, the plan as worked examples are written, and
`clean-0.yaml`, everything else.

Whoever reads one checks it whole, so that neither a damaged file nor an edit that contradicts what
was tried becomes part of a prompt without a word.
"""

import json
import re
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import yaml

from agents.errors import RunError
from agents.prompts.plans import PlanExample
from agents.skills.skill import Interaction, Library, Origin, Skill, Trial
from grammars.plans.check import check_plan
from grammars.plans.skeleton import Skeleton
from grammars.plans.surface import HEAD
from grammars.plans.world import PlanWorld
from inference.files import write_atomically

Record = TypeVar("Record", Origin, Trial, Interaction)

SIGNATURE = HEAD.splitlines()[0]
"""How every plan begins."""

_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]*)-(0|[1-9][0-9]*)")
_HEAD = "# A skill that groundling discovered; its plan is in {name}.plan.\n"
_OPTIONAL = "plan_sha256"
_KEYS = {
    *("kind", "task", "receptacles", "verdict", "trial", "origin", "interactions"),
    _OPTIONAL,
}


class LibraryError(RunError):
    """A library of skills cannot be used. The message names the file and the way out."""


def read_library(folder: Path) -> Library:
    """Read and check every skill of a folder.

    Raises:
        LibraryError: there is no such folder, or one of its files is not what was written.
    """
    if not folder.is_dir():
        raise LibraryError(
            f"skill library {folder} is not a folder; name one that groundling discover made"
        )
    notes = {path.stem: path for path in folder.glob("*.yaml")}
    for plan in sorted(folder.glob("*.plan")):
        if plan.stem not in notes:
            raise LibraryError(
                f"skill library: {plan} has no {plan.stem}.yaml beside it; remove it or put that"
                " back (a groundling discover that was stopped writes it when it goes on)"
            )
    return Library().joined_by(*(_read(path) for _, path in sorted(notes.items())))


def write_library(folder: Path, library: Library) -> None:
    """Make the folder hold these skills and no others; equal skills, equal bytes. The notes of each
    come last and complete it.

    Raises:
        LibraryError: the folder cannot be written.
    """
    names = {skill.name for skill in library}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in [*folder.glob("*.plan"), *folder.glob("*.yaml")]:
            if _NAME.fullmatch(path.stem) and path.stem not in names:
                path.unlink()
        for skill in library:
            plan = skill.example.skeleton.source.encode()
            write_atomically(folder / f"{skill.name}.plan", plan)
            write_atomically(folder / f"{skill.name}.yaml", _notes(skill, plan).encode())
    except OSError as error:
        raise LibraryError(
            f"skill library {folder} cannot be written ({error.strerror}); free some space or"
            " choose another run_dir"
        ) from error


def digest_of(library: Library) -> str:
    """Names what of a library can change a number, in 16 hex digits: the skills in use, without
    where they came from and what they were worth; empty if there are none.
    """
    used = sorted(library.in_use.items())
    shown = [
        [kind, skill.example.task, skill.example.receptacles, skill.example.skeleton.source]
        for kind, skill in used
    ]
    return sha256(json.dumps(shown).encode()).hexdigest()[:16] if shown else ""


def _notes(skill: Skill, plan: bytes) -> str:
    trial = skill.trial
    data = {
        "kind": skill.kind,
        "task": skill.example.task,
        "receptacles": list(skill.example.receptacles),
        "verdict": skill.verdict.value,
        "trial": trial and {**asdict(trial), **_derived(trial)},
        "origin": asdict(skill.origin),
        "plan_sha256": sha256(plan).hexdigest(),
        "interactions": [asdict(each) for each in skill.interactions],
    }
    body = yaml.safe_dump(
        data, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=None
    )
    return f"# A skill that groundling discovered; its plan is {skill.name}.plan.\n{body}"


def _derived(trial: Trial) -> dict[str, int | float]:
    """What a reader wants beside the counts."""
    return {"tasks": trial.tasks, "p": round(trial.p, 6)}


def _read(path: Path) -> Skill:
    """One skill from its notes and its plan."""
    try:
        return _skill(path, yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise LibraryError(
            f"skill library: {path} cannot be used: {reason}; restore it from a copy, or remove it"
            f" and {path.stem}.plan"
        ) from error


def _skill(path: Path, read: object) -> Skill:
    name = _NAME.fullmatch(path.stem)
    if name is None:
        raise ValueError("its name is not of the form kind-number.yaml")
    data = _mapping(read, "it")
    missing = _KEYS - set(data) - {_OPTIONAL}
    unknown = set(data) - _KEYS
    _must(not missing, f"it has no {', '.join(sorted(missing))}")
    _must(not unknown, f"it has {', '.join(map(str, unknown))}, which means nothing")
    _must(data["kind"] == name[1], f"its kind is {data['kind']!r}, not {name[1]} as in its name")
    skill = Skill(
        kind=name[1],
        number=int(name[2]),
        example=PlanExample(
            task=_text(data["task"], "task"),
            receptacles=tuple(
                _text(each, "receptacles") for each in _list(data["receptacles"], "receptacles")
            ),
            skeleton=_plan(path.with_suffix(".plan"), data.get(_OPTIONAL)),
        ),
        origin=_record(Origin, data["origin"], "origin"),
        interactions=tuple(
            _record(Interaction, each, "interactions")
            for each in _list(data["interactions"], "interactions")
        ),
        trial=None if data["trial"] is None else _trial(_mapping(data["trial"], "trial")),
    )
    given, tried = data["verdict"], skill.verdict.value
    _must(given == tried, f"its verdict is {given!r}, but by its trial it is {tried}")
    return skill


def _plan(path: Path, digest: object) -> Skeleton:
    content = path.read_bytes()
    _must(
        digest in (None, sha256(content).hexdigest()),
        f"{path.name} is not the plan that was tried (to use it as it stands, take the line"
        f" {_OPTIONAL} out)",
    )
    skeleton = Skeleton(content.decode("utf-8"))
    wrong = check_plan(skeleton.example, PlanWorld(methods=())).syntax_error
    _must(not wrong, f"Python cannot read {path.name} ({wrong})")
    _must(skeleton.example.startswith(SIGNATURE), f"{path.name} does not begin with {SIGNATURE!r}")
    return skeleton


def _trial(data: dict[str, Any]) -> Trial:
    """The counts, and what was derived from them when they were written."""
    derived = {key: data[key] for key in ("tasks", "p") if key in data}
    trial = _record(Trial, {key: data[key] for key in data if key not in derived}, "trial")
    _must(min(asdict(trial).values()) >= 0, "a count of its trial is below 0")
    right = _derived(trial)
    _must(derived == right, f"its trial has {derived}, but its counts make {right}")
    return trial


def _record(kind: type[Record], data: object, where: str) -> Record:
    """A flat record, each field of its declared type."""
    types = {field.name: field.type for field in fields(kind)}
    found = _mapping(data, where)
    _must(set(found) == set(types), f"{where} must hold {', '.join(types)}")
    for key, value in found.items():
        _must(type(value) is types[key], f"{where}.{key} is {value!r}")
    return kind(**found)


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} holds no keys")
    return value


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{where} is no list")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where} holds {value!r}, which is no text")
    return value


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
