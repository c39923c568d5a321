"""In a federation the scope is a rule of the map: changed at one site, it holds at all."""

import json
from urllib.parse import urlsplit

from commands_lab import CommandsTest, main
from federation_lab import Lab


def domain(url: str) -> str:
    """Host names of this web end in .example, .test and .invalid."""
    return ".".join(urlsplit(url).hostname.split(".")[-2:])


class ScopeOfAll(CommandsTest):
    def scopes(self, lab: Lab) -> list[str]:
        return [json.loads(site.run("scope", "--json"))["words"] for site in lab.sites.values()]

    def test_a_scope_that_is_set_at_one_site_holds_at_all(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"])
        seed = next(url for url in lab.web.truth() if urlsplit(url).path == "/")
        names = sorted({domain(url) for url in lab.web.truth()} - {domain(seed)})
        added, denied = names[0], names[1]
        lab.sites["zurich"].run("federation", "switch", "--rules", "--seed", seed, "--scope",
                                "domain", "--allow", added, "--deny", denied)
        self.wait_all(lab, lambda site: denied in site.run("scope"), "the scope to come")
        self.assertEqual(len(set(self.scopes(lab))), 1)
        # Each site refuses seeds beyond it, and scopes of its own.
        error = lab.first.refused("inject", next(url for url in lab.web.truth()
                                                 if domain(url) == denied))
        self.assertIn("out of the scope", error)
        self.assertIn("federation switch --rules",
                      lab.sites["lima"].refused("scope", "--allow", "x.example"))
        lab.inject([seed, *(url for url in lab.web.truth()
                            if domain(url) == added and urlsplit(url).path == "/")])
        lab.wait_quiet()
        crawled = {domain(url) for site in lab.sites.values()
                   for url in site.run("export", "urls", "--state", "fetched").splitlines()}
        self.assertEqual(crawled, {domain(seed), added})
        # Taken back from another site.
        lab.sites["lima"].run("federation", "switch", "--rules", "--forget", denied)
        self.wait_all(lab, lambda site: denied not in site.run("scope"), "the rule to go")
        self.assertIn("no seed or name",
                      lab.first.refused("federation", "switch", "--rules", "--forget", denied))
        self.assertIn("add --rules",
                      lab.first.refused("federation", "switch", "--allow", "x.example"))


if __name__ == "__main__":
    main()
