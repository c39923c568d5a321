"""Restored backups, which are new incarnations; and second copies of a site, which are refused."""

import collections
import shutil

from faults_lab import PLAIN, FaultsTest, Member, main
from federation_lab import free_port


class Restored(FaultsTest):
    def test_a_restored_backup_is_another_life_and_gets_again_what_it_missed(self) -> None:
        lab = self.lab(["tokyo", "zurich", "lima"], PLAIN, delay="60ms")
        lima = lab.sites["lima"]
        lab.inject(lab.web.seeds())
        lima.wait_for(lambda: lima.status()["pages"].get("fetched", 0) > 10, 20, "pages")
        backup = self.folder / "backup"
        lima.run("backup", "--to", str(backup))
        self.say(f"backup at {lab.fetched()} pages")
        before = lab.fetched()
        lab.wait_fetched(min(before + 100, 550))
        lima.kill()
        had = set(lima.run("export", "urls").split())
        settings = (lima.folder / "site.yaml").read_text()
        shutil.rmtree(lima.folder)
        lima.run_without_folder("restore", str(backup), "--data", str(lima.folder))
        (lima.folder / "site.yaml").write_text(settings)
        kept = {url for url, state in lima.states().items() if state == "fetched"}
        self.say(f"{len(had)} pages known before, {len(kept)} fetched ones in the backup")
        self.assertLess(len(kept), len(had))
        lima.serve()
        # It is refused while its old process might live, and then let in. (Its log began with its
        # new folder, so this is the new life's.)
        lima.wait_for(lambda: " federation_joined " in lima.log(), 30, "lima to be back")
        # It fetches again what it had fetched after the backup, and nothing else.
        self.check(lab, may_repeat=collections.Counter(had - kept))
        self.assertIn(" sent_again ", lab.sites["tokyo"].log())

    def test_a_restored_backup_of_a_quiet_site_fetches_nothing_again(self) -> None:
        lab = self.lab(["tokyo", "zurich"])
        zurich = lab.sites["zurich"]
        lab.inject(lab.web.seeds())
        lab.wait_quiet()
        backup = self.folder / "backup"
        zurich.run("backup", "--to", str(backup))
        zurich.kill()
        settings = (zurich.folder / "site.yaml").read_text()
        shutil.rmtree(zurich.folder)
        zurich.run_without_folder("restore", str(backup), "--data", str(zurich.folder))
        (zurich.folder / "site.yaml").write_text(settings)
        zurich.serve()
        zurich.wait_for(lambda: " federation_joined " in zurich.log(), 30, "zurich to be back")
        self.check(lab)


class Second(FaultsTest):
    def copy(self, of: Member, own_address: bool) -> Member:
        """Copies a stopped site; the copy has another port, and with `own_address` says so."""
        folder = self.folder / f"copy-{own_address}"
        shutil.copytree(of.folder, folder,
                        ignore=shutil.ignore_patterns("agent.sock", "agent.log"))
        copy = object.__new__(Member)
        copy.__dict__.update(of.__dict__)
        copy.folder, copy.port, copy.agent = folder, free_port(), None
        settings = (folder / "site.yaml").read_text()
        settings = settings.replace(f'peers: "127.0.0.1:{of.port}"',
                                    f'peers: "127.0.0.1:{copy.port}"')
        if own_address:
            settings = settings.replace(f'address: "127.0.0.1:{of.port}"',
                                        f'address: "127.0.0.1:{copy.port}"')
        (folder / "site.yaml").write_text(settings)
        self.addCleanup(copy.kill)
        return copy

    def refuse(self, copy: Member, tokyo: Member) -> None:
        refused = tokyo.says()["refused_calls"]
        copy.serve()
        tokyo.wait_for(lambda: tokyo.says()["refused_calls"] > refused, 20,
                       "the copy to be refused")
        self.assertIn("second copy", copy.log() + str(copy.says()))
        # The others still know the first one, not its copy.
        self.assertEqual(tokyo.says_of("zurich")["address"], copy.address)
        copy.stop()

    def test_a_copy_is_refused_whichever_address_it_gives(self) -> None:
        lab = self.lab(["tokyo", "zurich"], delay="60ms")
        tokyo, zurich = lab.sites.values()
        lab.inject(lab.web.seeds())
        lab.wait_fetched(100)
        zurich.stop()
        copies = [self.copy(zurich, own_address) for own_address in (False, True)]
        before = set(zurich.states())
        zurich.serve()
        lab.settle()
        # After so quick a restart the others believe neither for 4 s, and then the first that calls.
        zurich.wait_for(lambda: zurich.says()["registrar_reachable"], 30, "tokyo to believe it")
        again: collections.Counter[str] = collections.Counter()
        for copy in copies:
            self.refuse(copy, tokyo)
            # The copy crawls until it is refused; those pages are fetched twice.
            again.update(set(copy.states()) - before)
        self.say(f"the copies fetched {len(again)} pages")
        self.check(lab, may_repeat=again)


if __name__ == "__main__":
    main()
