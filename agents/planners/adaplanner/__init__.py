"""AdaPlanner (Sun et al. 2023): plans as Python code, refined in and out of plan.

The model writes one function of guarded steps. While it runs, it asks the model to read
observations (in-plan refinement). When an assert or anything else in it fails, the model is told
where the agent is, what it holds and what it did last, writes the plan again, and the episode goes
on in the middle of it with all variables kept (refine-then-resume).

Departures from the paper: a revision is asked for as the next turn of the same chat, so the model
sees its last plan, which the paper leaves out for want of context only; a plan that ends without
the task being done is revised like one that failed.

`code=False` is the paper's ablation without the code interface, in `prose`.
"""

from agents.planners.adaplanner.asking import AskMode
from agents.planners.adaplanner.resuming import ResumeMode
from agents.planners.adaplanner.settings import AdaPlanner

__all__ = ["AdaPlanner", "AskMode", "ResumeMode"]
