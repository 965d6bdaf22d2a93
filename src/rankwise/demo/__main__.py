"""``python -m rankwise.demo``."""

from rankwise.demo import main

if __name__ == "__main__":
    main()
