"""``python -m reproductions``: list the studies, or run one."""

from reproductions.cli import main

main()
