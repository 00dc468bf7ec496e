"""`python -m sparserec` is the `sparserec` command."""

from sparserec.cli import main

if __name__ == "__main__":
    main()
