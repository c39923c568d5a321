"""Memory is bounded whatever the web sends."""

import gzip
import os
import subprocess

import console
from small_web import SmallWebTest, page


class Memory(SmallWebTest):
    def peak_mib(self, *arguments) -> float:
        """The peak memory of a `gannet` command, which must succeed."""
        with open(self.folder / "said", "wb") as said:
            process = subprocess.Popen([console.GANNET, *arguments], cwd=self.folder, stdout=said,
                                       stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, (self.folder / "said").read_text())
        return usage.ru_maxrss / 1024

    def test_rules_of_many_hosts(self):
        rules = "User-agent: *\n" + "".join(f"Disallow: /{i:06}/nobody/knows\n"
                                            for i in range(14_000))
        server = self.serve({"/robots.txt": page(rules), "/": page("x")})
        self.configure(server, ", connections: 100")
        self.write("seeds", "".join(f"http://h{i}.example/\n" for i in range(600)))
        peak = self.peak_mib("crawl", "seeds", "--data", "site", "--quiet", "--wait", "0")
        pages = self.gannet("status", "--json", "--data", "site").json["pages"]
        self.assertEqual(pages["fetched"], 600)
        # Each file is asked for once: hosts that wait keep their rules.
        self.assertEqual(server.asked.count("/robots.txt"), 600)
        # All rules at once would take 1.2 GiB.
        self.assertLess(peak, 700)

    def test_pages_of_nothing_but_long_links(self):
        def links(number):
            text = "".join(f"<a href='/{number}/{i}/{'x' * 1900}'>" for i in range(2000))
            return page(gzip.compress(text.encode(), 1), "Content-Encoding: gzip\r\n")
        server = self.serve({f"/{i}": links(i) for i in range(120)})
        self.configure(server)
        self.write("seeds", "".join(f"http://h{i}.example/{i}\n" for i in range(120)))
        peak = self.peak_mib("crawl", "seeds", "--data", "site", "--quiet", "--rounds", "1")
        pages = self.gannet("status", "--json", "--data", "site").json["pages"]
        self.assertEqual(pages["fetched"], 120)
        self.assertLess(peak, 700)
        self.check_invariants("site")


console.main()
