"""Which of MiniWoB++'s pages are played, and which seeds are whose. Data; no package is needed."""

from enum import StrEnum

FEEDBACK = (
    "search-engine",
    "tic-tac-toe",
    "terminal",
    "login-user-popup",
    "guess-number",
    "email-inbox",
    "email-inbox-nl-turk",
    "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)
"""The tasks whose page changes with what is done (AdaPlanner, section 8.1)."""

WITHOUT_FEEDBACK = (
    "choose-list",
    "click-button",
    "click-button-sequence",
    "click-checkboxes",
    "click-checkboxes-large",
    "click-checkboxes-soft",
    "click-checkboxes-transfer",
    "click-collapsible",
    "click-collapsible-2",
    "click-color",
    "click-dialog",
    "click-dialog-2",
    "click-link",
    "click-menu",
    "click-option",
    "click-scroll-list",
    "click-shades",
    "click-shape",
    "click-tab",
    "click-tab-2",
    "click-tab-2-hard",
    "click-test",
    "click-test-2",
    "click-widget",
    "count-shape",
    "enter-date",
    "enter-password",
    "enter-text",
    "enter-text-dynamic",
    "enter-time",
    "focus-text",
    "focus-text-2",
    "grid-coordinate",
    "identify-shape",
    "login-user",
    "multi-layouts",
    "multi-orderings",
    "navigate-tree",
    "simple-algebra",
    "social-media",
    "social-media-all",
    "social-media-some",
    "use-autocomplete",
    "use-spinner",
)
"""The other 44 of the 53 tasks of RCI (Kim et al. 2023) that AdaPlanner took over (section 8.1).

Source: `task_names.json` in RCI's repository (posgnu/rci-agent), which has all pages. Those from
`choose-list` to `guess-number` come first and out of the alphabet, as the ones that were run: they
are these 53 and `text-transform`.
"""

PAPER = FEEDBACK + WITHOUT_FEEDBACK

SETS = {"feedback": FEEDBACK, "no-feedback": WITHOUT_FEEDBACK, "paper": PAPER}
"""Names that stand for several tasks in `env.tasks`."""

FIRST_TRAIN_SEED = 10_000
SEEDS = 1_000_000
"""A seed is a number from 0 to one less than this."""


class Split(StrEnum):
    """Seeds below `FIRST_TRAIN_SEED` are for tests, all others for training."""

    TRAIN = "train"
    TEST = "test"

    @property
    def seeds(self) -> range:
        """The split's seeds."""
        if self is Split.TEST:
            return range(FIRST_TRAIN_SEED)
        return range(FIRST_TRAIN_SEED, SEEDS)


def split_of(seed: int) -> Split:
    """The split that a seed belongs to."""
    return next(split for split in Split if seed in split.seeds)
