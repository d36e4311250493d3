"""The `groundling` command: picks a subcommand, turns mistakes into one line and an exit code.

Nothing heavy is imported here, so that `groundling --help` answers at once. Exit codes: 0 done; 1 a
mistake that the user can mend; 2 the command line; 3 some episodes were not evaluated; 130 stopped.
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version

HELP = """\
groundling: language agents in interactive text worlds, on your own machines

usage: groundling COMMAND [ARGUMENT ...]

  run [OVERRIDE ...]      evaluate an agent in a world (-m: several; --help: parts and settings)
  serve [OVERRIDE ...]    start the model's server alone, for many runs with engine=attach
  discover [OVERRIDE ...] find skills for agent=adaplanner by trying, into a library of plans
  report RUN_DIR ...      tables of runs, finished or not; --html: a page with every trajectory
  compare RUN_DIR ...     what differs between runs, and paired tests on the tasks they share
  show RUN_DIR [EPISODE]  one episode from beginning to end, or a list of all
  verify RUN_DIR ...      replay every recorded action in a fresh world and name what differs
  watch RUN_DIR           how a run that goes on elsewhere stands, until it ends
  doctor [OVERRIDE ...]   what is there, what is missing, and the fix for each
  stage to=DIR [OVERRIDE ...]  model and data into one folder, for nodes without a network
  games make --out DIR    household games as files in ALFWorld's format (--help: settings)

  --help, --version

first run: groundling run experiment=quickstart
exit codes: 0 done, 1 a mistake to mend, 2 command line, 3 some episodes not evaluated, 130 stopped
"""

COMMANDS = (
    *("run", "serve", "discover", "report", "compare"),
    *("show", "verify", "watch", "doctor", "stage", "games"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the return value is the process's exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("--help", "-h", "help"):
        print(HELP, end="")
        return 0 if words else 2
    if words[0] == "--version":
        print(f"groundling {version('groundling')}")
        return 0
    if words[0] not in COMMANDS:
        print(
            f"groundling: no command '{words[0]}'; choose one of {', '.join(COMMANDS)}",
            file=sys.stderr,
        )
        return 2
    command: Callable[[list[str]], int] = import_module(f"agents.commands.{words[0]}").main
    return _guarded(command, words)


def _guarded(command: Callable[[list[str]], int], words: list[str]) -> int:
    """Run the command; a mistake of the user is one line, never a traceback."""
    from agents.errors import RunError
    from agents.intruders import check_ownership
    from envs.errors import WorldError
    from inference.errors import InferenceError

    try:
        check_ownership()
        return command(words[1:])
    except (RunError, WorldError, InferenceError) as error:
        print(f"groundling {words[0]}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(main())
