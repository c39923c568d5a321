#include "sites/console/injection.h"

#include <fmt/format.h>

#include "sites/admin/seed_judge.h"
#include "sites/admin/utf8.h"
#include "sites/console/seed_line.h"
#include "sites/console/seed_reader.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

// A synced write costs some milliseconds, a seed some 100 bytes; a message has
// its limit.
constexpr int kBatch = 10'000;
constexpr size_t kBatchBytes = 2 << 20;
// A file of another kind would fill the screen.
constexpr int64_t kMostNamed = 20;
// No filter lets a longer URL through (urls.max_bytes).
constexpr size_t kMostBytes = 1 << 20;

void Name(const std::string& where, const std::string& why) {
  fmt::print(stderr, "{}: {}\n", ForTerminal(where), ForTerminal(why));
}

void SayHowManyMore(int64_t bad) {
  if (bad > kMostNamed) {
    fmt::print(stderr, "... and {} more that are bad\n", bad - kMostNamed);
  }
}

}  // namespace

absl::Status CheckSources(const SiteConfig& config,
                          const std::vector<std::string>& sources) {
  const absl::StatusOr<SeedJudge> judge = SeedJudge::Create(config);
  if (!judge.ok()) return judge.status();
  std::vector<std::pair<std::string, std::string>> named;
  int64_t bad = 0;
  SeedReader reader([&](std::string_view url, const std::string& where) {
    const auto line = ParseSeedLine(url);
    absl::Status status = line.status();
    if (line.ok()) status = judge->Judge(line->url).status();
    if (status.ok()) return absl::CancelledError("enough");
    if (++bad <= kMostNamed) named.emplace_back(where, status.message());
    return absl::OkStatus();
  });
  bool some_are_good = false;
  for (const std::string& source : sources) {
    if (!SeedReader::CanBeReadAgain(source)) {
      some_are_good = true;
      continue;
    }
    const absl::Status read = reader.Read(source);
    if (absl::IsCancelled(read)) {
      some_are_good = true;
    } else if (!read.ok()) {
      return read;
    }
  }
  if (some_are_good || bad == 0) return absl::OkStatus();
  for (const auto& [where, why] : named) Name(where, why);
  SayHowManyMore(bad);
  return absl::InvalidArgumentError("no URL to begin with");
}

absl::Status Injection::Add(std::string_view text, const std::string& where) {
  const auto line = ParseSeedLine(text);
  if (!line.ok()) {
    counts_.set_bad(counts_.bad() + 1);
    if (++named_ <= kMostNamed) {
      Name(where, std::string(line.status().message()));
    }
    return absl::OkStatus();
  }
  admin::InjectRequest::Seed& seed = *batch_.add_seeds();
  // Browsers read what is not UTF-8 in the same way.
  seed.set_url(Utf8(line->url.substr(0, kMostBytes)));
  seed.set_where(Utf8(where));
  seed.set_scope(line->scope.empty() ? scope_.scope() : line->scope);
  const std::optional<uint32_t> max_depth =
      line->max_depth.has_value() ? line->max_depth : scope_.max_depth();
  if (max_depth.has_value()) seed.set_max_depth(*max_depth);
  batch_bytes_ += seed.ByteSizeLong();
  return batch_.seeds_size() < kBatch && batch_bytes_ < kBatchBytes
             ? absl::OkStatus()
             : Send();
}

absl::Status Injection::Send() {
  admin::Injected reply;
  batch_.set_default_scope(scope_.default_scope());
  if (absl::Status s = site_.Inject(batch_, reply); !s.ok()) return s;
  batch_.Clear();
  batch_bytes_ = 0;
  for (const admin::Injected::BadSeed& bad : reply.bad_seeds()) {
    if (++named_ <= kMostNamed) Name(bad.where(), bad.why());
  }
  counts_.set_scope(reply.scope());
  counts_.set_added(counts_.added() + reply.added());
  counts_.set_known(counts_.known() + reply.known());
  counts_.set_blocked(counts_.blocked() + reply.blocked());
  counts_.set_bad(counts_.bad() + reply.bad());
  return absl::OkStatus();
}

absl::Status Injection::ReadAll(const std::vector<std::string>& sources) {
  if (absl::Status s = scope_.Send(site_); !s.ok()) return s;
  SeedReader reader([&](std::string_view text, const std::string& where) {
    return Add(text, where);
  });
  for (const std::string& source : sources) {
    if (absl::Status s = reader.Read(source); !s.ok()) return s;
  }
  if (absl::Status s = Send(); !s.ok()) return s;
  SayHowManyMore(counts_.bad());
  return absl::OkStatus();
}

}  // namespace gannet::sites
