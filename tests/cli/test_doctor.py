"""The doctor names what is there, what is not and what brings it."""

import json
import sys

import pytest

from mien.cli import checks, doctor, main
from mien.cli.checks import Check, run_checks
from mien.cli.trust_checks import trust_checks
from mien.engine import machine
from mien.errors import InstallationError, ModelError
from mien.installing import install_command
from mien.media.capabilities import Support
from mien.models.catalogue import BundledEntry, bundled
from mien.native import loading


@pytest.fixture(scope="module")
def found():
    return run_checks()


def test_this_installation_is_sound(capsys):
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert findings["ok"] is True
    assert {"packages", "engines", "devices", "models", "trust", "codecs", "containers", "pictures", "machine"} == {
        check["topic"] for check in findings["checks"]
    }


def test_every_network_of_the_catalogue_is_verified(found):
    assert [check.name for check in found if check.topic == "models"] == list(bundled())
    assert all(check.state == "ok" for check in found if check.topic == "models")


def test_the_processor_is_a_device_with_its_precisions(found):
    (cpu,) = (check for check in found if check.topic == "devices" and check.name == "cpu")
    assert "fp32" in cpu.detail


def test_a_policy_or_record_that_cannot_be_used_breaks_the_installation(monkeypatch, tmp_path):
    monkeypatch.setenv("MIEN_TRUST", str(tmp_path / "trust"))
    assert {check.state for check in trust_checks()} <= {"ok", "absent"}
    (tmp_path / "trust" / "records").mkdir(parents=True)
    (tmp_path / "trust" / "records" / "consent-1.sealed").write_bytes(b"")
    records = list(trust_checks())[-1]
    assert (records.name, records.state) == ("records", "broken")
    assert "is gone, with which the records beside it were encrypted" in records.detail
    monkeypatch.setenv("MIEN_POLICY", str(tmp_path / "gone.toml"))
    (policy,) = trust_checks()
    assert (policy.name, policy.state) == ("policy", "broken")


def test_essential_formats_are_there(found):
    there = {check.name for check in found if check.state == "ok"}
    assert there >= checks.ESSENTIAL


def test_a_damaged_network_breaks_the_installation(monkeypatch, capsys):
    def verify(self):
        raise ModelError(f"{self.id} is damaged")

    monkeypatch.setattr(BundledEntry, "verify", verify)
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "broken" in shown
    assert install_command("mien", anew=True) in shown
    assert "not ready" in shown


def test_the_variant_of_the_kernels_is_named(found):
    (kernels,) = (check for check in found if check.name == "kernels")
    assert (kernels.state, kernels.detail.partition(",")[0]) == ("ok", loading.runnable()[-1])


def test_missing_kernels_break_the_installation(monkeypatch, capsys):
    def library():
        raise InstallationError("they are gone")

    monkeypatch.setattr(loading, "library", library)
    assert main(["doctor"]) == 1
    assert "they are gone" in capsys.readouterr().out


def test_a_missing_package_is_named_and_nothing_else_is_tried(monkeypatch):
    monkeypatch.setattr(checks, "PACKAGES", {"json": "pytest", "no_such_module": "no-such-package"})
    monkeypatch.setattr(checks, "ENGINES", {})
    found = run_checks()
    assert [check.state for check in found] == ["ok", "broken"]
    assert found[1].remedy == install_command("no-such-package", anew=True)


@pytest.mark.parametrize(("name", "state"), [("h264", "broken"), ("ffv1", "absent")])
def test_a_codec_that_cannot_be_written_is_broken_only_if_essential(name, state):
    check = checks.format_check("codecs", Support(name, reads=True, writes=False), "av")
    assert check.state == state
    assert check.detail == "read, not written"
    assert check.remedy


def test_what_an_extra_brings_is_said_with_the_command_for_it():
    check = checks.format_check("pictures", Support("heic", reads=False, writes=False, extra="heic"), "pillow")
    assert (check.state, check.remedy) == ("absent", install_command("mien[heic]"))


def test_a_cache_that_cannot_be_written_is_told_with_what_helps(monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("MIEN_CACHE", str(tmp_path / "file" / "cache"))
    (cache,) = (check for check in checks.machine_checks() if check.name == "cache")
    assert cache.state == "absent"
    assert "MIEN_CACHE" in cache.remedy


def test_the_remedy_stands_below_what_it_mends():
    text = doctor.format_checks(
        [Check("codecs", "h264", "broken", "not written", "do this"), Check("codecs", "av1", "ok", "x")]
    )
    lines = text.splitlines()
    assert lines[0] == "codecs"
    assert lines[1].split() == ["broken", "h264", "not", "written"]
    assert lines[2].strip() == "-> do this"


def test_an_optional_engine_that_is_not_there_is_absent_and_no_fault(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    found = {check.name: check for check in run_checks() if check.topic == "engines"}
    assert (found["openvino"].state, found["onnxruntime"].state) == ("ok", "absent")
    assert "mien[cuda]" in (found["onnxruntime"].remedy or "")


def test_two_distributions_of_one_engine_break_it(monkeypatch):
    several = ("onnxruntime", "onnxruntime-gpu")
    monkeypatch.setattr(machine, "onnxruntime_distributions", lambda: several)
    (found,) = (check for check in run_checks() if check.name == "onnxruntime" and check.topic == "engines")
    assert found.state == "broken"
    assert "onnxruntime and onnxruntime-gpu" in found.detail
