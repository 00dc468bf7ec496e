"""The names of all commands, in the order of the help; each is a file of this package. Needs nothing."""

COMMANDS = (
    "demo",
    "data",
    "train",
    "recommend",
    "similar",
    "evaluate",
    "runs",
    "compare",
    "classics",
    "export",
    "inspect",
    "config",
    "estimate",
    "doctor",
    "methods",
    "bases",
    "sweep",
    "reproduce",
)
