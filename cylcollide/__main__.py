"""``python -m cylcollide``: the command line."""

from cylcollide.cli import main

if __name__ == "__main__":
    main()
