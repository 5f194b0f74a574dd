"""`mien keys`: the API keys of a service."""

DESCRIPTION = """\
Make, list and revoke the API keys of a service. A key is shown once, when it is made; what is kept does not open
anything."""
EXAMPLES = """\
  mien keys add acme --name "acme's website"
  mien keys list
  mien keys revoke 3f9a2c71d05e"""
COMMANDS = {
    "add": "make a key and show it",
    "list": "list the keys",
    "revoke": "make a key invalid at once",
    "audit": "show what keys were used for, and check the log",
}
