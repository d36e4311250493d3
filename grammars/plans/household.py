"""Plans for ALFWorld's households: the agent's methods there, and what they can be applied to.

Methods as in AdaPlanner, appendix 8.3.1; the object words are those of the ALFRED data set, on
which ALFWorld is built.
"""

from collections.abc import Mapping, Sequence

from grammars.plans.world import Kind, Method, PlanWorld

OBJECT_WORDS = (
    *("alarmclock", "apple", "baseballbat", "basketball", "book", "bowl", "box", "bread"),
    *("butterknife", "candle", "cd", "cellphone", "cloth", "creditcard", "cup", "dishsponge"),
    *("egg", "fork", "glassbottle", "handtowel", "kettle", "keychain", "knife", "ladle"),
    *("laptop", "lettuce", "mug", "newspaper", "pan", "papertowelroll", "pen", "pencil"),
    *("peppershaker", "pillow", "plate", "plunger", "pot", "potato", "remotecontrol"),
    *("saltshaker", "soapbar", "soapbottle", "spatula", "spoon", "spraybottle", "statue"),
    *("teddybear", "tennisracket", "tissuebox", "toiletpaper", "tomato", "towel", "vase"),
    *("watch", "wateringcan", "winebottle"),
)
"""What can be taken."""

LAMP_WORDS = ("desklamp", "floorlamp")

APPLIANCES = {"sink": "sinkbasin", "microwave": "microwave", "fridge": "fridge"}
"""Which receptacles clean, heat and cool, by the first word of their names."""

_METHODS = (
    Method("goto", ("receptacle",)),
    Method("open_receptacle", ("receptacle",)),
    Method("take", ("object", "receptacle")),
    Method("put", ("object", "receptacle")),
    Method("clean", ("object", "sink")),
    Method("heat", ("object", "microwave")),
    Method("cool", ("object", "fridge")),
    Method("turn_on", ("lamp",)),
)

_KEYWORDS = (
    *("closed", "open", "nothing", "Nothing happens"),
    *("You pick up", "You clean", "You heat", "You cool", "turn on"),
)


def household_plans(
    receptacles: Sequence[str], object_words: Sequence[str] = OBJECT_WORDS
) -> PlanWorld:
    """The plans of one episode.

    `receptacles` are the episode's own, with their numbers; `object_words` are those of the world,
    or fewer where the task or earlier observations name them.
    """
    words = tuple(object_words)
    kinds = {
        "receptacle": Kind(names=tuple(receptacles), variables=("place",)),
        "object": Kind(words=words, variables=("found",)),
        "lamp": Kind(words=LAMP_WORDS, variables=("found",)),
        **{kind: Kind(names=names) for kind, names in _appliances(receptacles).items()},
    }
    return PlanWorld(
        methods=_METHODS,
        kinds=kinds,
        lists=("receptacles",),
        texts=("location", "holding"),
        keywords=(*_KEYWORDS, *map(as_seen, (*words, *LAMP_WORDS))),
    )


def household_slots(
    receptacles: Sequence[str], object_words: Sequence[str] = OBJECT_WORDS
) -> Mapping[str, tuple[str, ...]]:
    """What can stand in the slots of a skeleton in this episode; empty where nothing can."""
    return {
        "object": tuple(object_words),
        "goal": tuple(receptacles),
        "lamp": LAMP_WORDS,
        **_appliances(receptacles),
    }


def as_seen(word: str) -> str:
    """An object word as observations show it before a number: `pen` must not be seen in `pencil`,
    nor `pan` in `saucepan`.
    """
    return f"a {word} "


def _appliances(receptacles: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {
        kind: tuple(name for name in receptacles if name.split(" ")[0] == word)
        for kind, word in APPLIANCES.items()
    }
