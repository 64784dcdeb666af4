"""The suite of Hustings itself. The fixtures come from its own plugin (harness.pytest_plugin)."""

pytest_plugins = ["pytester"]
