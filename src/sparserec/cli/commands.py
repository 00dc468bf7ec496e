"""All commands in the order of the help, each with the file of this package it is in. Needs nothing."""

COMMANDS = {
    "demo": "demo",
    "data": "data",
    "train": "train",
    "recommend": "recommend",
    "similar": "recommend",
    "evaluate": "evaluate",
    "runs": "runs",
    "compare": "compare",
    "classics": "classics",
    "export": "export",
    "inspect": "recommend",
    "config": "config",
    "estimate": "estimate",
    "doctor": "doctor",
    "methods": "methods",
    "bases": "methods",
    "sweep": "sweep",
    "table": "sweep",
    "reproduce": "reproduce",
}
