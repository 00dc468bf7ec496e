"""Settings from the command line; the work is done in training.configure, which the queue shares."""

from sparserec.training.configure import build_config, configure, read_toml

__all__ = ["build_config", "configure", "read_toml"]
