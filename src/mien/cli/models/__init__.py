"""`mien models`: what networks there are, where their files are, and whether they may be used."""

DESCRIPTION = """\
Networks: those that come with mien and those of the field, of which mien uses the files that you have. They are looked
for in the folders given with --models, in those of the variable MIEN_MODELS, among what was downloaded, and in mien."""
EXAMPLES = """\
  mien models list --role swapper --models ~/facefusion
  mien models add mine.onnx --family inswapper
  mien models verify"""
COMMANDS = {
    "list": "list networks and where they are",
    "show": "say everything about one network",
    "add": "add a file of your own to the list",
    "verify": "check files against their checksums and contracts",
    "path": "print where a network's file is",
    "licences": "list licences and what they permit",
    "fetch": "download a network from a mirror that you name",
}
"""Name of each command (also of its module) and what it does."""
