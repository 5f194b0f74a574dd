"""`mien remote`: what other commands do, done by a service."""

DESCRIPTION = "Let a mien service do the work. Options are those of the command of the same name."
EXAMPLES = """\
  mien remote swap me.jpg clip.mp4 -o result.mp4 --service https://mien.example --key-file mien.key"""
COMMANDS = {
    "swap": "replace faces in a picture, a video, or many of them",
}
