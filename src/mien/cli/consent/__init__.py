"""`mien consent`: who has agreed to what, and whose face is never used."""

DESCRIPTION = """\
Records of consent, and of faces that are barred. They are encrypted with a key of this installation and lie in the
folder that the policy or the variable MIEN_TRUST names, otherwise in mien's folder of settings."""
EXAMPLES = """\
  mien consent add ada.jpg --subject "Ada, contract 17" --until 2027-06-30 --scope film,trailer
  mien consent list
  mien consent check consent-5f0c2a81b3d4 me.jpg
  mien consent revoke consent-5f0c2a81b3d4"""
COMMANDS = {
    "add": "record a consent",
    "bar": "record a face that is never used, neither as source nor in a target",
    "list": "list records",
    "check": "say whether a consent permits a job with these pictures",
    "revoke": "end a consent, or lift a bar, from now on",
    "forget": "delete records with the faces in them, or all embeddings that are kept",
    "audit": "check the log of what was done, and show it",
}
"""Name of each command (also of its module) and what it does."""
