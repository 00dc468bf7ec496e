"""Before anything is trained: what a run will take, what fits a budget, and whether this machine is in order."""
