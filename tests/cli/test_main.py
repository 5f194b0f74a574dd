"""The front door: help, version, exit codes, and no bare traceback ever."""

import re
import subprocess
import sys

import pytest

import mien
from mien.cli import COMMANDS, doctor, main
from mien.errors import EngineError, Interrupted, PolicyError, RecipeError, UnreadableError

HEAVY = {"numpy", "cv2", "av", "openvino", "PIL"}


def mien_process(*arguments, **settings):
    return subprocess.run([sys.executable, "-m", "mien", *arguments], capture_output=True, text=True, **settings)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_imports_nothing_heavy(command):
    code = (
        "import sys, mien.cli\n"
        f"try: mien.cli.main({[*command, '--help']})\n"
        "except SystemExit as end: assert end.code == 0\n"
        f"print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert done.stdout.startswith("usage: mien")


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    for name, summary in COMMANDS.items():
        assert re.search(rf"{name} +{summary}", shown)


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_are_calls_of_that_command(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    examples = capsys.readouterr().out.partition("examples:\n")[2].splitlines()
    assert examples
    assert all(line.startswith(f"  mien {command}") for line in examples)


def test_without_arguments_the_help_is_shown_and_the_use_was_wrong():
    done = mien_process()
    assert done.returncode == 2
    assert "swap" in done.stdout


def test_the_version_is_the_package_s(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"mien {mien.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["swop"],
        ["swap", "--nonsense"],
        ["swap", "a.jpg", "b.mp4", "-o", "c.mp4", "--crf", "good"],
        ["compare", "a.mp4"],
    ],
)
def test_what_argparse_refuses_is_wrong_use(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_options_are_not_abbreviated():
    with pytest.raises(SystemExit):
        main(["swap", "a.jpg", "b.mp4", "-o", "c.mp4", "--over"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnreadableError("a.mp4 is missing"), 1),
        (EngineError("no such device"), 1),
        (RecipeError("no"), 2),
        (PolicyError("not allowed"), 3),
        (Interrupted("stopped"), 4),
        (KeyboardInterrupt(), 4),
    ],
)
def test_an_error_is_one_line_and_its_exit_code(error, code, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "run", raiser(error))
    assert main(["doctor"]) == code
    shown = capsys.readouterr().err
    assert shown.startswith("mien: error: ")
    assert (str(error) or "interrupted") in shown
    assert shown.count("\n") == 1


def test_a_fault_of_mien_is_told_as_one_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "run", raiser(ZeroDivisionError("division by zero")))
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().err
    assert "fault in mien itself" in shown
    assert "ZeroDivisionError: division by zero" in shown
    assert "--debug" in shown
    assert "Traceback" not in shown


def test_debug_shows_the_traceback(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "run", raiser(UnreadableError("a.mp4 is missing")))
    assert main(["doctor", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "mien", "doctor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 1


def raiser(error):
    def run(_options):
        raise error

    return run
