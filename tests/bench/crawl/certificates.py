"""Certificates for a test web of many host names, made with the openssl command in about a second.

The chain is like those of the real web: a root (RSA 2048) that clients know, an intermediate
(ECDSA P-256) that the server sends along, and leaves (ECDSA P-256). A client verifies two
signatures per handshake, and the server signs with the curve that is cheapest for it.

A leaf names 100 hosts, as a CDN's does: 2,000 hosts need 20 certificates. Rejected: a
certificate per host, for which openssl takes half a minute, and which nginx loads either from
disk at every handshake or as 2,000 server blocks; and a wildcard "*.example", which OpenSSL and
libcurl both refuse, because it would cover a top-level domain.
"""

import dataclasses
import pathlib
import subprocess

NAMES_PER_CERTIFICATE = 100
DAYS = "30"
SYSTEM_ROOTS = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


@dataclasses.dataclass
class Leaf:
    """What a server needs to answer for `names`; `chain` is the leaf and its intermediate."""
    names: list[str]
    chain: pathlib.Path
    key: pathlib.Path


def _openssl(*arguments: object) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr[-1000:]}")


def _issue(folder: pathlib.Path, name: str, issuer: str, key: pathlib.Path,
           extensions: list[str]) -> pathlib.Path:
    """Signs `key` with the issuer's key; returns the certificate."""
    request, certificate = folder / f"{name}.csr", folder / f"{name}.pem"
    settings = folder / f"{name}.ext"
    settings.write_text("".join(f"{line}\n" for line in extensions))
    _openssl("req", "-new", "-key", key, "-subj", f"/CN=Gannet test {name}", "-out", request)
    _openssl("x509", "-req", "-in", request, "-CA", folder / f"{issuer}.pem",
             "-CAkey", folder / f"{issuer}.key", "-CAcreateserial", "-days", DAYS,
             "-extfile", settings, "-out", certificate)
    return certificate


def make(folder: pathlib.Path, hosts: list[str]) -> tuple[pathlib.Path, list[Leaf]]:
    """Returns the root's certificate, and leaves that name every host once."""
    root, between_key, leaf_key = (folder / name for name in
                                   ("root.pem", "intermediate.key", "leaf.key"))
    _openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "root.key",
             "-out", root, "-days", DAYS, "-subj", "/CN=Gannet test root",
             "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    # All leaves share one key, which no client notices.
    for key in (between_key, leaf_key):
        _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    between = _issue(folder, "intermediate", "root", between_key,
                     ["basicConstraints=critical,CA:TRUE,pathlen:0",
                      "keyUsage=critical,keyCertSign,cRLSign"])
    leaves = []
    for first in range(0, len(hosts), NAMES_PER_CERTIFICATE):
        names = hosts[first:first + NAMES_PER_CERTIFICATE]
        leaf = _issue(folder, f"leaf-{first}", "intermediate", leaf_key,
                      ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                       "extendedKeyUsage=serverAuth",
                       "subjectAltName=" + ",".join(f"DNS:{name}" for name in names)])
        chain = folder / f"chain-{first}.pem"
        chain.write_text(leaf.read_text() + between.read_text())
        leaves.append(Leaf(names, chain, leaf_key))
    return root, leaves


def with_system_roots(root: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Writes `root` together with the machine's own roots: what a crawler of the real web loads."""
    system = SYSTEM_ROOTS.read_text() if SYSTEM_ROOTS.is_file() else ""
    out.write_text(system + root.read_text())
    return out
