"""Skills: plans that solved a task and are shown as worked examples for like tasks (AdaPlanner,
section 3.3).

A skill is acquired (`acquisition`: the last plan of an episode that the world calls won), filtered
(`filtering`: the same held-out tasks with it and without it) and kept in a library of readable
files (`library`); `discovery` takes turns with both. A planner reads a library and no more.
"""
