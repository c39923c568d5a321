#include "sites/console/inject_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/seed_reader.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

// A synced write costs some milliseconds, a seed some 100 bytes.
constexpr size_t kBatch = 10'000;
// A file of another kind would fill the screen.
constexpr int64_t kMostNamed = 20;

struct Flags {
  SiteFlags site;
  std::vector<std::string> sources;
};

class Injection {
 public:
  explicit Injection(storage::CrawlDb& db) : db_(db) {}

  absl::Status Take(storage::PageKey seed) {
    batch_.push_back(std::move(seed));
    return batch_.size() < kBatch ? absl::OkStatus() : Write();
  }

  void TakeBad(const std::string& where, const std::string& why) {
    if (++bad_ <= kMostNamed) {
      fmt::print(stderr, "{}: {}\n", ForTerminal(where), ForTerminal(why));
    }
  }

  absl::Status Write() {
    absl::StatusOr<storage::PutCounts> counts = db_.Inject(batch_, absl::Now());
    if (!counts.ok()) return counts.status();
    batch_.clear();
    counts_.added += counts->added;
    counts_.known += counts->known;
    counts_.blocked += counts->blocked;
    return absl::OkStatus();
  }

  ExitCode Print(bool json) const {
    if (bad_ > kMostNamed) {
      fmt::print(stderr, "... and {} more that are bad\n", bad_ - kMostNamed);
    }
    Output out;
    if (json) {
      out.WriteJson({{"added", counts_.added},
                     {"known", counts_.known},
                     {"blocked", counts_.blocked},
                     {"bad", bad_}});
    } else {
      out.Write(fmt::format(
          "{} added, {} known before, {} bad{}\n", counts_.added, counts_.known,
          bad_,
          counts_.blocked == 0
              ? ""
              : fmt::format(", {} of blocked domains", counts_.blocked)));
    }
    const ExitCode written = out.Finish();
    const bool nothing = counts_.added == 0 && counts_.known == 0;
    if (!nothing || bad_ + counts_.blocked == 0) return written;
    fmt::print(stderr, "error: none of the seeds could be added\n");
    return kFailed;
  }

 private:
  storage::CrawlDb& db_;
  std::vector<storage::PageKey> batch_;
  storage::PutCounts counts_;
  int64_t bad_ = 0;
};

ExitCode Inject(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site, IfMissing::kMakeIfHasConfig);
  if (!store.ok()) return Report(store.status());
  Injection injection((*store)->crawl_db());
  auto reader = SeedReader::Create(
      site->config,
      [&](storage::PageKey seed) { return injection.Take(std::move(seed)); },
      [&](const std::string& where, const std::string& why) {
        injection.TakeBad(where, why);
      });
  if (!reader.ok()) return Report(reader.status());
  for (const std::string& source : flags.sources) {
    absl::Status read = (*reader)->Read(source);
    if (!read.ok()) return Report(read);
  }
  if (absl::Status s = injection.Write(); !s.ok()) return Report(s);
  return injection.Print(flags.site.json());
}

}  // namespace

void AddInjectCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("inject", "add seeds");
  command
      ->add_option("FILE|URL", flags->sources,
                   "URLs, and files with a URL a line; '-' is standard input")
      ->required();
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet inject https://example.org/ seeds.txt --data "
      "./tokyo\n\n"
      "In a file, lines that begin with # are comments. A bad line is named,\n"
      "counted and skipped; the filters of site.yaml apply. Exit code 1 if\n"
      "nothing could be added and something was bad.");
  command->callback([flags, &exit_code] { exit_code = Inject(*flags); });
}

}  // namespace gannet::sites
