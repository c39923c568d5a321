"""Writes the site.yaml of the package: what `gannet init` writes, with the data folder of
gannet.service in it.

Usage: packaged_site_yaml.py GANNET OUT
"""

import pathlib
import subprocess
import sys
import tempfile

program, out = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, "init", folder, "--name", "gannet"], check=True,
                   stdout=subprocess.DEVNULL)
    text = (pathlib.Path(folder) / "site.yaml").read_text()
before = '  data: ""                  # The data folder; "" is the folder of this file.\n'
if text.count(before) != 1:
    sys.exit(f"error: 'gannet init' no longer writes this line: {before}")
path = pathlib.Path(out)
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(text.replace(before, "  data: /var/lib/gannet     # The data folder, that of gannet.service.\n"))
