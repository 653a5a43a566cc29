"""Real engines for the tests: a PostgreSQL server on loopback, a Spark cluster and a Dask cluster of two processes."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from conftest import require
from engines.checks import needs
from engines.people import people, plain


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return people()


@pytest.fixture(scope="session")
def parts(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The people in eight Parquet files, so that a cluster has something to share out."""
    folder = tmp_path_factory.mktemp("parts")
    size = -(-table.num_rows // 8)
    for i in range(8):
        pa.parquet.write_table(plain(table).slice(i * size, size), folder / f"part-{i}.parquet")
    return folder


# ------------------------------------------------------------------------------------------------ PostgreSQL


@dataclass(frozen=True)
class Postgres:
    """A server of our own; the only way in is the password."""

    port: int
    password: str
    log: Path

    @property
    def url(self) -> str:
        return f"postgresql://auditor:{self.password}@127.0.0.1:{self.port}/decisions"

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def scans(self, name: str) -> int:
        """How often a table has been read from its beginning."""
        with self.connect() as connection:
            connection.execute("SELECT pg_stat_force_next_flush()")
            asked = connection.execute("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = %s", [name])
            return int(asked.fetchone()[0])


def _programs() -> Path | None:
    """Where Debian keeps the programs of the newest server."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    there = shutil.which("initdb")
    return found[-1].parent if found else Path(there).parent if there else None


def _unprivileged(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def postgres(table: pa.Table) -> Iterator[Postgres]:
    """A server with the people in the table `people`, started here and stopped at the end."""
    needs("ibis")
    needs("psycopg")
    programs = _programs()
    require("PostgreSQL", programs is not None, "apt-get install postgresql")
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="evenhand-postgres-"))
    server = Postgres(free_port(), secrets.token_hex(12), folder / "log")
    secret = folder / "password"
    secret.write_text(server.password)
    if os.geteuid() == 0:
        for path in (folder, secret):
            shutil.chown(path, "postgres", "postgres")
    data = str(folder / "data")
    settings = f"-c listen_addresses=127.0.0.1 -c port={server.port} -c unix_socket_directories= -c fsync=off"
    settings += " -c max_parallel_workers_per_gather=0"  # several workers would count as several scans
    initdb = [str(programs / "initdb"), "-D", data, "-U", "auditor", "-A", "scram-sha-256", f"--pwfile={secret}"]
    control = [str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(server.log)]
    try:
        _quietly([*initdb, "-E", "UTF8", "--no-locale"], folder)
        _quietly([*control, "-o", f"{settings} -c log_statement=all", "start"], folder)
        _fill(server, table)
        yield server
    finally:
        subprocess.run(
            _unprivileged([*control, "-m", "immediate", "stop"]), cwd=folder, check=False, capture_output=True
        )
        shutil.rmtree(folder, ignore_errors=True)


def _quietly(command: list[str], folder: Path) -> None:
    with tempfile.TemporaryFile() as said:  # a pipe would stay open as long as the server runs
        done = subprocess.run(_unprivileged(command), cwd=folder, check=False, stdout=said, stderr=said)
        said.seek(0)
        assert done.returncode == 0, said.read().decode()


_TYPES = {pa.string(): "text", pa.int64(): "bigint", pa.float64(): "double precision", pa.bool_(): "boolean"}


def _fill(server: Postgres, table: pa.Table) -> None:
    import psycopg

    rows = plain(table)
    fields = ", ".join(f'"{field.name}" {_TYPES[field.type]}' for field in rows.schema)
    with psycopg.connect(server.url.replace("/decisions", "/postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE decisions")
    with server.connect() as connection:
        connection.execute(f"CREATE TABLE people ({fields})")
        with connection.cursor().copy("COPY people FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
                copy.write_row(row)
        connection.execute("VACUUM ANALYZE people")


# ------------------------------------------------------------------------------------------------ Spark


def _java() -> str | None:
    """The folder of a Java that Spark runs on: 17 or 21."""
    named = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    usual = [path for version in (17, 21) for path in sorted(Path("/usr/lib/jvm").glob(f"*{version}*"))]
    found = [path for path in (*named, *usual) if (path / "bin" / "java").exists()]
    return str(found[0]) if found else None


@pytest.fixture(scope="session")
def java() -> str:
    needs("pyspark")
    found = _java()
    require("Java", found is not None, "apt-get install openjdk-17-jre-headless")
    assert found is not None
    os.environ["JAVA_HOME"] = found
    return found


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster on this machine: a master and two worker processes of one core each."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.local.dir", str(tmp_path_factory.mktemp("spark")))
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


# ------------------------------------------------------------------------------------------------ Dask


@pytest.fixture(scope="session")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two worker processes of one thread each."""
    needs("distributed")
    from distributed import Client, LocalCluster

    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", local_directory=folder
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
