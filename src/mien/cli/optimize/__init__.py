"""`mien optimize`: make networks cheaper, and prove that they stayed good."""

DESCRIPTION = """\
Make a network smaller and faster, measured on faces of your own. Every artefact gets a card that says what it was made
of, what it costs and how good it is; one under the bar never becomes a default. Needs the extra mien[optimize]."""
EXAMPLES = """\
  mien optimize quantize dlib_face_recognition --calibration portraits/ -o identity_int8.onnx
  mien optimize convert inswapper_128 --to fp16 --calibration clip.mp4 --models ~/facefusion -o inswapper_fp16.onnx
  mien optimize report artefacts/ -o report.html"""
COMMANDS = {
    "convert": "make a float16 form, with sensitive nodes kept in float32",
    "quantize": "make an INT8 form, with harmful layers kept in float32",
    "promote": "let an artefact that passed take its parent's place",
    "report": "draw quality against latency of all artefacts as a page",
}
"""Name of each command (also of its module) and what it does."""
