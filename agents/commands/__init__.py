"""The subcommands of `groundling`; each module has a `main` from arguments to an exit code."""
