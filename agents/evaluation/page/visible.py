"""Text as a reader can see it."""

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb]"
)


def visible(text: str) -> str:
    """With characters that would not be seen, or would turn what follows around, shown by their
    numbers. `base.js` does the same to what it shows.
    """
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
