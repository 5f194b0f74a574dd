from collections.abc import Iterator
from pathlib import Path

import pytest

from mien.service.valkey import EmbeddedValkey
from support.jobs import talking_clip
from support.service import Place


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedValkey]:
    with EmbeddedValkey(tmp_path_factory.mktemp("queue")) as server:
        yield server


@pytest.fixture
def place(valkey: EmbeddedValkey, tmp_path: Path) -> Iterator[Place]:
    """An empty queue and an empty storage."""
    found = Place(tmp_path, valkey)
    found.state.client.flushall()
    yield found
    found.state.client.close()


@pytest.fixture(scope="session")
def talking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with sound."""
    return talking_clip(tmp_path_factory.mktemp("clips") / "talking.mp4", seconds=3, sound=True)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """A server that speaks S3's protocol, with a bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        _, port = server.get_host_and_port()
        url = f"http://127.0.0.1:{port}"
        patch.setenv("AWS_ENDPOINT_URL_S3", url)
        boto3.client("s3", endpoint_url=url).create_bucket(Bucket="bucket")
        yield url
        server.stop()
