"""Where torch keeps what it generates. Importing torch makes a folder among the temporary files,
which nobody removes; ours goes into the cache, beside the models.
"""

import os

from inference.hashing import cache_dir


def keep_torch_files_in_cache() -> None:
    """Call before the first import of torch or transformers; a choice of the user's is
    respected.
    """
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache_dir() / "torchinductor"))
