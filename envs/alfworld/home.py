"""What never changes in a game, and how everything stands at its start."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from envs.alfworld.names import readable_names
from envs.alfworld.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Rooms, receptacles and objects of one game, by the ids of its PDDL problem."""

    names: Mapping[str, str]
    """What everything is called in commands and texts."""
    start: str
    """The location at which the agent starts; usually none of a receptacle's."""
    receptacles: tuple[str, ...]
    """In the order in which the world lists them."""
    place: Mapping[str, str]
    """The location of a receptacle; several may share one."""
    receptacle_type: Mapping[str, str]
    object_type: Mapping[str, str]
    accepts: Mapping[str, frozenset[str]]
    """From a type of receptacle to the types of objects that may be put there."""
    contents: Mapping[str, frozenset[str]]
    """From a receptacle to what is in it at the start. An object may be in several."""
    object_places: frozenset[tuple[str, str]]
    """At the start: object and location. It need not be that of the receptacle it is in."""
    nested: Mapping[str, tuple[str, ...]]
    """From a dish to what is seen in it; nothing of it can be taken out."""
    sink_types: frozenset[str]
    """Types of receptacles in which objects are cleaned."""
    openable: frozenset[str]
    opened: frozenset[str]
    pickupable: frozenset[str]
    cleanable: frozenset[str]
    heatable: frozenset[str]
    coolable: frozenset[str]
    sliceable: frozenset[str]
    toggleable: frozenset[str]
    dishes: frozenset[str]
    """Objects that can hold others."""
    clean: frozenset[str]
    hot: frozenset[str]
    cool: frozenset[str]
    sliced: frozenset[str]
    toggled: frozenset[str]


def read_home(problem: Problem, sink_types: frozenset[str]) -> Home:
    """The home that a problem describes, under a domain that cleans in sinks of these types.

    Raises:
        ValueError: it is not a problem of ALFWorld's domain.
    """
    place = dict(problem.pairs("receptacleatlocation"))
    receptacle_type = dict(problem.pairs("receptacletype"))
    starts = problem.pairs("atlocation")
    if len(starts) != 1 or not place or set(place) - set(receptacle_type):
        raise ValueError(
            "the PDDL problem must put one agent at a location, and give every receptacle a type"
        )
    if len(place) != len(problem.pairs("receptacleatlocation")) or problem.pairs("holds"):
        raise ValueError("a receptacle is at two locations, or something is held at the start")
    accepts = defaultdict(set)
    for receptacle_kind, object_kind in problem.pairs("cancontain"):
        accepts[receptacle_kind].add(object_kind)
    contents = defaultdict(set)
    for item, receptacle in problem.pairs("inreceptacle"):
        contents[receptacle].add(item)
    nested = defaultdict(set)
    for inner, outer in problem.pairs("inreceptacleobject"):
        nested[outer].add(inner)
    return Home(
        names=readable_names(
            word
            for facts in problem.relations.values()
            for arguments in facts
            for word in arguments
        ),
        start=starts[0][1],
        receptacles=tuple(sorted(place)),
        place=place,
        receptacle_type=receptacle_type,
        object_type=dict(problem.pairs("objecttype")),
        accepts={kind: frozenset(kinds) for kind, kinds in accepts.items()},
        contents={receptacle: frozenset(contents[receptacle]) for receptacle in place},
        object_places=frozenset(problem.pairs("objectatlocation")),
        nested={outer: tuple(sorted(inner - {outer})) for outer, inner in nested.items()},
        sink_types=sink_types,
        openable=problem.members("openable"),
        opened=problem.members("opened"),
        pickupable=problem.members("pickupable"),
        cleanable=problem.members("cleanable"),
        heatable=problem.members("heatable"),
        coolable=problem.members("coolable"),
        sliceable=problem.members("sliceable"),
        toggleable=problem.members("toggleable"),
        dishes=problem.members("isreceptacleobject"),
        clean=problem.members("isclean"),
        hot=problem.members("ishot"),
        cool=problem.members("iscool"),
        sliced=problem.members("issliced"),
        toggled=problem.members("istoggled"),
    )
