"""Files of JSON lines that are only ever appended to: a line is there whole or not at all."""

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any


def append_line(path: Path, data: Mapping[str, Any]) -> None:
    """Add one line and sync it; a line that could be written only in part is taken back."""
    line = as_json(data) + b"\n"
    with path.open("ab", buffering=0) as file:
        end = file.tell()
        try:
            written = file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), end)
            raise


def mend_torn_end(path: Path) -> None:
    """Cut off a last line that was never finished: its writer was killed, so it was not
    committed.
    """
    if not path.exists():
        return
    with path.open("rb+") as file:
        body = file.read()
        end = body.rfind(b"\n") + 1
        if end < len(body):
            file.truncate(end)
            os.fsync(file.fileno())


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that were written to their ends; none if it is not there."""
    if not path.exists():
        return []
    body = path.read_bytes()
    return body[: body.rfind(b"\n") + 1].splitlines()


def as_json(data: Any, indent: int | None = None) -> bytes:
    """Readable UTF-8, or ASCII with escapes where a text holds half of a surrogate pair, which a
    model may say and UTF-8 cannot. Records become objects, without being copied first.
    """

    def dump(*, ascii_only: bool) -> bytes:
        return json.dumps(
            data,
            default=_fields_of,
            ensure_ascii=ascii_only,
            indent=indent,
            sort_keys=bool(indent),
        ).encode()

    try:
        return dump(ascii_only=False)
    except UnicodeEncodeError:
        return dump(ascii_only=True)


def _fields_of(record: Any) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(record)}
