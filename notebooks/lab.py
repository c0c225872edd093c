"""Reads the tables of an experiment from a notebook or from the shell.

    from lab import study, sql
    dir = study()                       # $STUDY, or ../out/quickstart
    sql("from summary limit 3")         # a pandas DataFrame
    reproduced()                        # {experiment: folder} of all that have expectations

    python lab.py ../out/quickstart queries.sql     # runs every query of a file

Tables are read with the package duckdb where it is installed, and by the
program (`.bin/switchyard query`) where it is not.
"""

import io
import os
import pathlib
import re
import subprocess
import sys

import pandas

try:
    import duckdb
except ImportError:
    duckdb = None

HERE = pathlib.Path(__file__).resolve().parent
_connections = {}


def study(default="../out/quickstart"):
    """The experiment's folder: $STUDY, or the default seen from this file."""
    folder = pathlib.Path(os.environ.get("STUDY") or HERE / default).resolve()
    if not (folder / "views.sql").exists():
        raise FileNotFoundError(f"{folder} has no views.sql: run the experiment first, or set STUDY to its folder")
    return folder


def reproduced(default="../out"):
    """The folders in $REPRODUCED, or the default seen from this file, that have
    verdicts, by experiment; that of a quick run only where there is no other."""
    base = pathlib.Path(os.environ.get("REPRODUCED") or HERE / default).resolve()
    folders = {}
    for table in sorted(base.glob("*/expectations")):
        folder = table.parent
        name = folder.name.removesuffix("-quick")
        if name == folder.name or name not in folders:
            folders[name] = folder
    return dict(sorted(folders.items()))


def published(expectation, folder):
    """The published points that an expectation's SQL lists in a CTE of the name
    published, as a DataFrame."""
    text = sql(f"select sql from expectations where name = '{expectation}'", folder)["sql"][0]
    start = text.index("published(")
    depth, end = 0, text.index(" as (", start) + len(" as ")
    while True:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
        if depth == 0:
            return sql(f"with {text[start:end]} from published", folder)


def comment(experiment):
    """What stands above the first key of a built-in experiment's file."""
    lines = (HERE.parent / "pipeline" / "experiments" / f"{experiment}.yaml").read_text().splitlines()
    length = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[:length])


def sql(text, folder=None):
    """The rows of a query over the experiment's tables, as a DataFrame."""
    folder = pathlib.Path(folder or study()).resolve()
    if duckdb is None:
        return _ask_program(text, folder)
    return _connect(folder).execute(text).df()


def _connect(folder):
    if folder not in _connections:
        connection = duckdb.connect()
        connection.execute(f"set file_search_path = '{str(folder).replace(chr(39), chr(39) * 2)}'")
        connection.execute((folder / "views.sql").read_text())
        _connections[folder] = connection
    return _connections[folder]


def _ask_program(text, folder):
    program = HERE.parent / ".bin" / "switchyard"
    done = subprocess.run(
        [str(program), "query", str(folder), text, "--format", "csv"],
        check=False, capture_output=True, text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return pandas.read_csv(io.StringIO(done.stdout))


def queries(path):
    """The queries of a file as (title, text): the title is the comment above."""
    found = []
    for block in re.split(r";\s*(?:\n|$)", pathlib.Path(path).read_text()):
        lines = block.strip().splitlines()
        title = [line[2:].strip() for line in lines if line.startswith("--")]
        text = "\n".join(line for line in lines if not line.startswith("--")).strip()
        if text:
            found.append((title[-1] if title else "", text))
    return found


def main(folder, path):
    for title, text in queries(path):
        rows = sql(text, folder)
        print(f"{len(rows):5d} rows  {title}")
        if rows.empty:
            raise SystemExit(f"no rows: {title}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python lab.py FOLDER FILE.sql")
    main(*sys.argv[1:])
