"""The language in which plans are written (AdaPlanner, section 3.1): a closed subset of Python.

    def solution(agent, start_from=1):
        # General plan: find a mug, take it and put it on a desk
        if start_from <= 1:
            print('[Step 1] look for a mug')
            places = ask(f'Where is a mug likely to be? Best first.', list_of=agent.receptacles)
            assert places, f'[Step 1] I know of no place. {agent.report()}'
        if start_from <= 2:
            ...

Numbered steps in order; each is guarded, so that a revised plan can resume in its middle, says
what it is for, and ends in an assert that reports. Values are texts and lists of texts and nothing
else, so that no expression of the language can go wrong for the type of a value: `in` has a literal
on its left, there is no indexing, no arithmetic, no `while`. The only calls are the agent's own
methods, `ask` and `print`. Every list of statements and every free text has a greatest length:
without one, a small model writes the same comment until its tokens run out.

`world` says what a world lets a plan say; `syntax`, `typed` and `skeleton` are the levels, each
contained in the one before; `check` reads a finished plan again, independently of the grammars.
`prose` is for plans that are not written in it at all, but in words.
"""
