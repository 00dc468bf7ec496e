"""The names of all commands, in the order of the help; each is a file of this package. Needs nothing."""

COMMANDS = (
    "demo",
    "data",
    "train",
    "tune",
    "recommend",
    "similar",
    "evaluate",
    "runs",
    "track",
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
