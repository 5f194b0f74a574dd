"""`mien consent`, and what `mien swap` and `mien plan` refuse with exit code 3."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from mien.cli import main
from mien.cli.consent import COMMANDS
from mien.trust.consent import ConsentStore
from support.classifier import GREEN, coloured_clip, green_classifier, plain, put_in_place


@pytest.fixture(autouse=True)
def trust(monkeypatch, tmp_path):
    """A trust folder and settings of our own."""
    monkeypatch.setenv("MIEN_TRUST", str(tmp_path / "trust"))
    monkeypatch.delenv("MIEN_POLICY", raising=False)
    return tmp_path / "trust"


@pytest.fixture
def said(capsys):
    """Run a command; give its exit code, what it printed and what it complained of."""

    def run(*arguments):
        code = main([*map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def consent(said, astronaut):
    """The id of a consent of the astronaut's, for film and trailer."""
    code, out, _ = said("consent", "add", astronaut, "--subject", "Eileen", "--scope", "film, trailer")
    assert code == 0
    return out.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_are_calls_of_that_command(command, capsys):
    with pytest.raises(SystemExit) as end:
        main(["consent", command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: mien consent {command} ")
    examples = shown[shown.index("examples:") :].splitlines()[1:]
    assert examples
    assert all(line.strip().startswith(f"mien consent {command}") for line in examples if line.strip())


class TestRecords:
    def test_a_record_is_listed_without_the_face(self, said, consent):
        _, out, _ = said("consent", "list", "--json")
        (record,) = json.loads(out)
        assert (record["id"], record["kind"], record["state"]) == (consent, "consent", "valid")
        assert (record["subject"], record["scope"]) == ("Eileen", ["film", "trailer"])
        assert "embeddings" not in record
        code, out, _ = said("consent", "list")
        assert code == 0
        assert "film, trailer" in out

    def test_an_empty_list_says_so(self, said, trust):
        assert said("consent", "list")[:2] == (0, f"there is no record in {trust}\n")

    @pytest.mark.parametrize(
        ("options", "said_of_it"),
        [
            (["--until", "soon"], "--until soon: give a day"),
            (["--from", "2026-05-01", "--until", "2026-05-01"], "before it begins"),
            (["--subject", " "], "nobody is named"),
        ],
    )
    def test_what_makes_no_sense(self, said, astronaut, options, said_of_it):
        code, _, err = said("consent", "add", astronaut, "--subject", "Eileen", *options)
        assert code == 2
        assert said_of_it in err

    def test_pictures_of_two_people_are_no_one_persons(self, said, astronaut, hopper):
        code, _, err = said("consent", "add", astronaut, hopper, "--subject", "both")
        assert code == 1
        assert "show different people" in err

    def test_check_says_what_a_job_would(self, said, consent, astronaut, hopper):
        code, out, _ = said("consent", "check", consent, astronaut, "--purpose", "film")
        assert code == 0
        assert f"{consent} permits it: identity distance 0.00" in out
        for arguments, reason in (
            ([consent, astronaut], "is for film, trailer, not for a job that names no --purpose"),
            ([consent, hopper, "--purpose", "film"], "is not the one that consented"),
        ):
            code, _, err = said("consent", "check", *arguments)
            assert code == 3
            assert reason in err
        assert said("consent", "check", "consent-1", astronaut)[0] == 2

    def test_revoked_barred_forgotten_and_audited(self, said, consent, astronaut, trust):
        assert said("consent", "revoke", consent)[0] == 0
        assert said("consent", "check", consent, astronaut, "--purpose", "film")[0] == 3
        code, out, _ = said("consent", "bar", astronaut, "--subject", "asked not to be used")
        assert code == 0
        bar = out.strip()
        assert [name for name, _ in ConsentStore(trust).barred()] == [bar]
        assert said("consent", "forget", consent, bar)[:2] == (0, "deleted: 2 records, 0 embeddings\n")
        assert said("consent", "forget")[0] == 2
        code, out, _ = said("consent", "audit", "--json")
        assert code == 0
        assert [entry["event"] for entry in json.loads(out)] == [
            *("consent.added", "consent.revoked", "barred.added", "record.forgotten", "record.forgotten")
        ]
        assert "5 entries, as they were written" in said("consent", "audit")[1]
        log = trust / "audit.log"
        log.write_text(log.read_text().replace("barred.added", "barred.found"))
        code, _, err = said("consent", "audit")
        assert code == 1
        assert "entry 3 of" in err

    def test_a_lost_key_is_said(self, said, consent, trust):
        (trust / "key").unlink()
        code, _, err = said("consent", "check", consent, "any.png")
        assert code == 1
        assert "is gone, with which the records beside it were encrypted: put it back" in err


class TestSwap:
    def test_a_policy_is_obeyed_by_swap_and_plan(self, said, consent, astronaut, hopper, tmp_path):
        policy = tmp_path / "mien.policy.toml"
        policy.write_text('consent = "required"\n', encoding="utf-8")
        job = [astronaut, hopper, "-o", tmp_path / "out.png", "--policy", policy]
        for command in ("plan", "swap"):
            code, _, err = said(command, *job)
            assert code == 3
            assert f"the job names no consent, which {policy} asks for" in err
            assert "name it in --consent" in err
        given = [*job, "--consent", consent, "--purpose", "film"]
        assert said("plan", *given)[0] == 0
        code, out, _ = said("swap", *given, "--json", "-")
        assert code == 0
        report = json.loads(out)
        assert (report["consents"], report["purpose"], report["policy"]) == ([consent], "film", str(policy))

    def test_a_policy_that_cannot_be_read_refuses_everything(self, said, astronaut, hopper, tmp_path, monkeypatch):
        monkeypatch.setenv("MIEN_POLICY", str(tmp_path / "gone.toml"))
        code, _, err = said("swap", astronaut, hopper, "-o", tmp_path / "out.png")
        assert code == 3
        assert "gone.toml cannot be read" in err

    def test_refused_content_is_told_to_people_and_programs(self, said, astronaut, tmp_path, monkeypatch):
        put_in_place(green_classifier(tmp_path / "green.onnx"), monkeypatch)
        clips = tmp_path / "clips"
        clips.mkdir()
        Image.fromarray(plain(GREEN)).save(clips / "a.png")
        coloured_clip(clips / "b.mp4", [GREEN])
        code, _, err = said("swap", astronaut, clips / "a.png", "-o", tmp_path / "out.png", "--allow-no-face")
        assert code == 3
        assert "a.png is refused: it shows sexual content" in err
        told = tmp_path / "told.json"
        code, _, _ = said("swap", astronaut, clips, "-o", tmp_path / "out", "--allow-no-face", "--json", told)
        assert code == 1
        assert [outcome["problem"] for outcome in json.loads(told.read_text())] == ["content_refused"] * 2
