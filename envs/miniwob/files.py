"""What a page gets when it asks for one of the package's files.

Pictures are put into the page and its style sheets: a picture that were still on its way when an
agent looks would have no size yet, so that what can be clicked would depend on how busy the machine
is.
"""

import base64
import mimetypes
import re
from functools import lru_cache
from pathlib import Path

_PICTURE = re.compile(rb"""url\((["']?)([^"')]+\.(?:gif|png))\1\)""")


@lru_cache(maxsize=512)
def content(path: Path) -> bytes:
    """The file with its pictures in it; those that are missing stay as they are named."""
    text = path.read_bytes()
    if path.suffix not in (".html", ".css"):
        return text

    def inlined(found: re.Match[bytes]) -> bytes:
        picture = path.parent / found[2].decode()
        if not picture.is_file():
            return found[0]
        kind = mimetypes.guess_type(picture.name)[0] or "image/png"
        data = base64.b64encode(picture.read_bytes()).decode()
        return f"url(data:{kind};base64,{data})".encode()

    return _PICTURE.sub(inlined, text)


def content_type(path: Path) -> str:
    """As a web server would say it."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
