"""A reader of WARC/1.1 that shares no code with Gannet: standard library only.

read_warc.py MAKER            makes a sample archive with MAKER and checks it
read_warc.py MAKER --bsdtar   lets bsdtar list it too (exit code 77: no bsdtar)

Each gzip member must hold exactly one record, each digest must be right, each
id and each reference must make sense, and each line of the CDXJ must lead to
its record.
"""
import base64
import glob
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

UUID = re.compile(r"<urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}>")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def members(data):
    """(offset, length, content) of each gzip member."""
    offset = 0
    while offset < len(data):
        inflater = zlib.decompressobj(wbits=31)
        content = inflater.decompress(data[offset:])
        assert inflater.eof, f"member at {offset} has no end"
        end = len(data) - len(inflater.unused_data)
        yield offset, end - offset, content
        offset = end


def record(content):
    head, rest = content.split(b"\r\n\r\n", 1)
    lines = head.decode("utf-8").split("\r\n")
    assert lines[0] == "WARC/1.1", lines[0]
    fields = {}
    for line in lines[1:]:
        assert not re.search(r"[\x00-\x1f\x7f]", line), repr(line)
        name, value = line.split(": ", 1)
        assert name.lower() not in fields, f"{name} twice"
        fields[name.lower()] = value
    length = int(fields["content-length"])
    assert rest[length:] == b"\r\n\r\n", "record does not end where it says"
    return fields, rest[:length]


def check_record(fields, block, ids):
    kind = fields["warc-type"]
    assert kind in ("warcinfo", "request", "response", "revisit", "metadata")
    assert UUID.fullmatch(fields["warc-record-id"]), fields["warc-record-id"]
    assert fields["warc-record-id"] not in ids, "id used twice"
    assert DATE.fullmatch(fields["warc-date"])
    assert fields["warc-block-digest"] == sha1(block)
    if kind == "warcinfo":
        assert b"software: gannet\r\n" in block
        return
    assert re.fullmatch(r"[!-~]+", fields["warc-target-uri"])
    if kind == "response":
        payload = block.split(b"\r\n\r\n", 1)[1]
        assert fields["warc-payload-digest"] == sha1(payload)
    if kind == "revisit":
        assert fields["warc-profile"].startswith(
            "http://netpreserve.org/warc/1.1/revisit/")
        assert fields["warc-refers-to-target-uri"] == fields["warc-target-uri"]
        assert DATE.fullmatch(fields["warc-refers-to-date"])
    if kind == "metadata":
        for line in block.decode().splitlines():
            assert re.fullmatch(r"outlink: [!-~]+", line), line


def check_cdxj(path, name, captures):
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    assert lines.pop() == b"", "no line end at the end"
    assert lines == sorted(lines), "not sorted"
    assert len(lines) == len(captures), (len(lines), len(captures))
    for line in lines:
        key, timestamp, text = line.decode("ascii").split(" ", 2)
        entry = json.loads(text)
        assert list(entry) == ["url", "mime", "status", "digest", "length",
                               "offset", "filename"], entry
        length, fields = captures.pop(int(entry["offset"]))
        assert int(entry["length"]) == length
        assert entry["filename"] == name
        assert entry["url"] == fields["warc-target-uri"]
        assert entry["digest"] == fields["warc-payload-digest"]
        assert timestamp == re.sub(r"\D", "", fields["warc-date"])
        host = re.match(r"https?://(?:www\d*\.)?([^/]*)", entry["url"]).group(1)
        assert key.startswith(",".join(reversed(host.split("."))) + ")/"), key


def check_archive(folder):
    counts = {}
    paths = sorted(glob.glob(os.path.join(folder, "*.warc.gz")))
    for path in paths:
        name = os.path.basename(path)
        with open(path, "rb") as file:
            data = file.read()
        ids, wanted, captures = set(), set(), {}
        for i, (offset, length, content) in enumerate(members(data)):
            fields, block = record(content)
            assert (i == 0) == (fields["warc-type"] == "warcinfo")
            check_record(fields, block, ids)
            ids.add(fields["warc-record-id"])
            if "warc-concurrent-to" in fields:
                wanted.add(fields["warc-concurrent-to"])
            if i == 0:
                assert fields["warc-filename"] == name
            if fields["warc-type"] in ("response", "revisit"):
                captures[offset] = (length, fields)
            kind = fields["warc-type"]
            counts[kind] = counts.get(kind, 0) + 1
        assert wanted <= ids, "a record belongs to one that is not there"
        check_cdxj(path[:-len(".warc.gz")] + ".cdxj", name, captures)
    files = counts.pop("warcinfo")
    assert files == len(paths) > 1, "the sample should have rolled over"
    assert counts == {"request": 60, "response": 61, "metadata": 60,
                      "revisit": 12}, counts
    return paths


def bsdtar_reads(path, scratch):
    """Checks that bsdtar, which knows WARC/1.0 only, lists the paths of the responses."""
    with gzip.open(path) as file:
        content = file.read()
    targets = re.findall(
        rb"WARC/1\.1\r\nWARC-Type: response\r\n(?:[^\r]+\r\n)*?"
        rb"WARC-Target-URI: http://[^/\r]+/([^\r]*[^\r/])\r\n", content)
    old = os.path.join(scratch, "old.warc.gz")
    with gzip.open(old, "wb") as file:
        file.write(re.sub(rb"WARC/1\.1(?=\r\nWARC-Type)", b"WARC/1.0", content))
    listed = subprocess.run(["bsdtar", "-tf", old], check=True,
                            capture_output=True).stdout
    listed = listed.replace(b"\\\\", b"\\").split(b"\n")  # It escapes backslashes.
    missing = set(targets) - set(listed)
    assert targets and not missing, sorted(missing)[:3]


def main():
    maker = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "archive")
        subprocess.run([maker, folder], check=True)
        paths = check_archive(folder)
        if "--bsdtar" in sys.argv:
            if shutil.which("bsdtar") is None:
                print("skipped: no bsdtar here (libarchive-tools)")
                sys.exit(77)
            for path in paths:
                bsdtar_reads(path, scratch)
    print(f"{len(paths)} files are good")


main()
