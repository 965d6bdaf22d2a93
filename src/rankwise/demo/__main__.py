"""``python -m rankwise.demo``, which is ``rankwise demo``."""

from rankwise.commands.app import App
from rankwise.demo import demo

if __name__ == "__main__":
    app = App()
    app.command()(demo)
    app(prog_name="rankwise demo")
