"""The paper again: its tables and figures as grids, the trainings they ask for, and the report.

Beside the product and not part of its package: it imports public names of sparserec alone. `sparserec reproduce` of a
clone is its command.
"""
