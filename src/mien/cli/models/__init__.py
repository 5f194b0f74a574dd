"""`mien models`: what networks there are, where their files are, and whether they may be used."""

DESCRIPTION = """\
Networks: those that come with mien and those of the field, of which mien uses the files that you have. They are looked
for in the folders given with --models, in those of the variable MIEN_MODELS, among what was downloaded, and in mien."""
EXAMPLES = """\
  mien models list --role swapper --models ~/facefusion
  mien models add mine.onnx --family inswapper
  mien models verify
  mien models check inswapper_128 --precision bf16 --pictures me.jpg
  mien models compile face_mesh_478"""
COMMANDS = {
    "list": "list networks and where they are",
    "show": "say everything about one network",
    "add": "add a file of your own to the list",
    "verify": "check files against their checksums and contracts",
    "path": "print where a network's file is",
    "licences": "list licences and what they permit",
    "fetch": "download a network from a mirror that you name",
    "check": "compare a network in another precision with itself in float32",
    "compile": "prepare networks for this machine before they are needed",
}
"""Name of each command (also of its module) and what it does."""
