"""Graph recommenders whose embedding table is sparse from the first training step to the device."""

__version__ = "0.1.0"
