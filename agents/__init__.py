"""Agents: planners, reflection and memory, the prompts they use, and the evaluation that runs
them.
"""
