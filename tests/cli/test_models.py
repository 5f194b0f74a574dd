"""`mien models`: the list, the files, the licences, and downloads on request."""

from __future__ import annotations

import hashlib
import json

import pytest

from mien.cli import main
from mien.cli.models import COMMANDS
from mien.models.catalogue import bundled, catalogue, find_model
from support.mirror import serve

SPAN = find_model("span_x2")


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """No settings but a cache and a list of our own."""
    for name in ("MIEN_MODELS", "MIEN_OFFLINE", "MIEN_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MIEN_REGISTER", str(tmp_path / "settings" / "models.toml"))


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


@pytest.fixture
def own(mine):
    path = mine / "own.onnx"
    path.write_bytes(SPAN.path.read_bytes())
    return path


@pytest.fixture
def said(capsys):
    """Run a command; give its exit code, what it printed and what it complained of."""

    def run(*arguments):
        code = main(["models", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_are_calls_of_that_command(command, capsys):
    with pytest.raises(SystemExit) as end:
        main(["models", command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: mien models {command} ")
    examples = shown.partition("examples:\n")[2].splitlines()
    assert examples
    assert all(line.startswith(f"  mien models {command}") for line in examples)


def test_without_a_command_the_help_names_them_all_and_the_use_was_wrong(said):
    code, out, _ = said()
    assert code == 2
    assert all(f"    {name} " in out for name in COMMANDS)


def test_an_unknown_command_is_wrong_use(capsys):
    with pytest.raises(SystemExit) as end:
        main(["models", "lst"])
    assert end.value.code == 2
    assert "invalid choice: 'lst'" in capsys.readouterr().err


class TestList:
    def test_it_has_every_network(self, said):
        code, out, _ = said("list")
        assert code == 0
        rows = {line.split()[1]: line for line in out.splitlines()[1:]}
        assert set(rows) == set(catalogue())
        assert all(line.endswith("comes with mien") == (model in bundled()) for model, line in rows.items())
        assert rows["inswapper_128"].endswith("missing")

    def test_a_role_alone(self, said):
        _, out, _ = said("list", "--role", "restorer", "--json")
        listed = json.loads(out)
        assert {entry["role"] for entry in listed} == {"restorer"}
        assert {"gfpgan_1.4", "codeformer"} <= {entry["id"] for entry in listed}

    def test_what_is_there_alone_with_its_place(self, said, mine):
        (mine / "gfpgan_1.4.onnx").write_bytes(b"123")
        _, out, _ = said("list", "--found", "--json", "--models", mine)
        listed = {entry["id"]: entry for entry in json.loads(out)}
        assert set(listed) == {"gfpgan_1.4", *bundled()}
        assert listed["gfpgan_1.4"]["path"] == str(mine / "gfpgan_1.4.onnx")
        assert (listed["gfpgan_1.4"]["place"], listed["gfpgan_1.4"]["bytes"]) == ("folder", 3)

    def test_an_unknown_role_is_wrong_use(self, said):
        code, _, err = said("list", "--role", "painter")
        assert code == 2
        assert "detector, landmarker" in err

    def test_a_folder_that_is_none_is_wrong_use(self, said, mine):
        code, _, err = said("list", "--models", mine / "gone")
        assert code == 2
        assert "gone is no folder" in err


class TestShow:
    def test_all_there_is_to_know(self, said):
        code, out, _ = said("show", SPAN.id)
        assert code == 0
        for part in ("upscaler", "Apache-2.0", SPAN.origin, SPAN.contract, SPAN.sha256, "about 6.7 G", "411 k", "yes"):
            assert part in out

    def test_what_is_not_there(self, said):
        _, out, _ = said("show", "inswapper_128", "--json")
        shown = json.loads(out)
        assert (shown["path"], shown["bytes"], shown["verified"]) == (None, None, None)
        assert shown["operations"] == 174_000_000_000

    def test_an_unknown_network_is_an_error(self, said):
        code, _, err = said("show", "inswaper")
        assert code == 1
        assert "did you mean inswapper_128" in err


class TestAdd:
    def test_an_added_file_is_a_network_like_any_other(self, said, own):
        code, out, _ = said(
            "add", own, "--family", "span", "--id", "span-ours", "--licence", "MIT", "--permits", "commercial"
        )
        assert code == 0
        assert out.startswith("span-ours: upscaler of the family span, licence MIT")
        assert said("path", "span-ours")[1] == f"{own}\n"
        _, out, _ = said("licences", "--licence-profile", "commercial", "--json")
        assert "span-ours" in next(row for row in json.loads(out) if row["licence"] == "MIT")["networks"]
        assert said("verify", "span-ours")[0] == 0

    def test_a_file_of_another_family_is_refused_with_the_reason(self, said, own):
        code, _, err = said("add", own, "--family", "gfpgan")
        assert code == 1
        assert "is no network of the family gfpgan" in err
        assert json.loads(said("list", "--role", "restorer", "--found", "--json")[1]) == []

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"\x80\x04\x95rest of a pickle", "pickle"),
            (b"PK\x03\x04 as PyTorch writes", "zip archive"),
            (b"<!DOCTYPE html><html>", "web page"),
            (b"", "is empty"),
            (SPAN.path.read_bytes()[:100_000], "cut off or damaged"),
        ],
    )
    def test_what_is_no_network_is_refused_with_the_reason(self, said, own, content, reason):
        own.write_bytes(content)
        code, _, err = said("add", own, "--family", "span")
        assert code == 1
        assert reason in err

    def test_the_same_id_again_must_be_asked_for(self, said, own):
        assert said("add", own, "--family", "span")[0] == 0
        code, _, err = said("add", own, "--family", "span")
        assert code == 2
        assert "--overwrite" in err
        assert said("add", own, "--family", "span", "--overwrite")[0] == 0


class TestVerify:
    def test_what_comes_with_mien_is_intact(self, said):
        code, out, _ = said("verify")
        assert code == 0
        assert [line.split()[:2] for line in out.splitlines()] == [["ok", model] for model in bundled()]

    def test_each_kind_of_trouble(self, said, mine):
        (mine / "gfpgan_1.4.onnx").write_bytes(b"<html>")
        (mine / SPAN.file).write_bytes(find_model("span_x4").path.read_bytes())
        code, out, _ = said("verify", SPAN.id, "gfpgan_1.4", "codeformer", "--models", mine, "--json")
        assert code == 1
        verdicts = {verdict["id"]: verdict for verdict in json.loads(out)}
        assert {model: verdict["state"] for model, verdict in verdicts.items()} == {
            SPAN.id: "differs",
            "gfpgan_1.4": "broken",
            "codeformer": "broken",
        }
        assert "web page" in verdicts["gfpgan_1.4"]["why"]
        assert "codeformer is missing" in verdicts["codeformer"]["why"]

    def test_a_file_of_which_no_checksum_is_known_is_unverified(self, said, mine, monkeypatch):
        monkeypatch.setattr("mien.models.check.check_file", lambda _path, _family: None)
        (mine / "Jane.dfm").write_bytes(b"whatever the graph")
        code, out, _ = said("verify", "Jane", "--models", mine)
        assert (code, out) == (0, "unverified  Jane  no checksum of it is known\n")


class TestPath:
    def test_a_file_with_another_checksum_is_used_with_a_warning(self, said, mine):
        (mine / SPAN.file).write_bytes(b"another")
        code, out, err = said("path", SPAN.id, "--models", mine)
        assert (code, out) == (0, f"{mine / SPAN.file}\n")
        assert f"warning: {mine / SPAN.file}: its SHA-256 is" in err

    def test_what_is_nowhere_is_an_error(self, said):
        code, out, err = said("path", "gfpgan_1.4")
        assert (code, out) == (1, "")
        assert "--models or MIEN_MODELS" in err


def test_licences_are_listed_with_what_they_permit(said):
    _, out, _ = said("licences")
    assert out.index("Apache-2.0 (permits: commercial)") < out.index(
        "InsightFace non-commercial (permits: non-commercial)"
    )
    assert "unknown (permits: unknown)" in out
    _, out, _ = said("licences", "--licence-profile", "commercial")
    assert "permits: commercial" in out
    assert "non-commercial" not in out
    assert "inswapper_128" not in out


class TestFetch:
    CONTENT = b"what the mirror has"
    SHA256 = hashlib.sha256(CONTENT).hexdigest()

    @pytest.fixture
    def mirror(self):
        with serve({"/gfpgan_1.4.onnx": self.CONTENT, "/codeformer.onnx": self.CONTENT}) as mirror:
            yield mirror

    def test_a_download_is_told_on_standard_error_and_found_afterwards(self, said, mirror, tmp_path):
        code, out, err = said("fetch", "gfpgan_1.4", "--from", mirror.url, "--sha256", self.SHA256)
        path = tmp_path / "cache" / "models" / "gfpgan_1.4.onnx"
        assert (code, out) == (0, f"{path}\n")
        assert path.read_bytes() == self.CONTENT
        assert err == "mien: gfpgan_1.4: 19 B of 19 B, 100 %\n"
        assert said("path", "gfpgan_1.4")[1] == out

    def test_quiet_is_quiet_and_the_mirror_may_be_a_setting(self, said, mirror, monkeypatch):
        monkeypatch.setenv("MIEN_MIRROR", mirror.url)
        assert said("fetch", "gfpgan_1.4", "--sha256", self.SHA256, "--quiet")[::2] == (0, "")

    def test_the_wrong_file_is_refused(self, said, mirror):
        code, _, err = said("fetch", "gfpgan_1.4", "--from", mirror.url, "--sha256", "0" * 64)
        assert code == 1
        assert "nothing is kept" in err
        assert said("path", "gfpgan_1.4")[0] == 1

    def test_without_a_mirror_nothing_is_done(self, said):
        code, _, err = said("fetch", "gfpgan_1.4")
        assert code == 2
        assert "mien has no mirror of its own" in err

    @pytest.mark.parametrize("as_variable", [True, False])
    def test_offline_is_offline(self, said, mirror, monkeypatch, as_variable):
        if as_variable:
            monkeypatch.setenv("MIEN_OFFLINE", "1")
        options = [] if as_variable else ["--offline"]
        code, _, err = said("fetch", "gfpgan_1.4", "--from", mirror.url, "--sha256", self.SHA256, *options)
        assert code == 3
        assert "not to be touched" in err
        assert mirror.requests == []

    def test_a_licence_outside_the_profile_is_refused(self, said, mirror):
        code, _, err = said(
            "fetch", "codeformer", "--from", mirror.url, "--sha256", self.SHA256, "--licence-profile", "commercial"
        )
        assert code == 3
        assert "gfpgan_1.4 (Apache-2.0)" in err
        assert mirror.requests == []
