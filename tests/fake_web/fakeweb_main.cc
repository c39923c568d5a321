// gannet-fakeweb: serves a web that does not exist, prints the truth about it,
// and judges crawlers by its log. One function per command; main() is the list
// of them. Exit codes are the design's: 0 done, 1 failed (or not polite), 2
// wrong usage.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/fake_web/certificate_maker.h"
#include "tests/fake_web/fakeweb_flags.h"
#include "tests/fake_web/judge.h"
#include "tests/fake_web/server.h"
#include "tests/fake_web/truth.h"

namespace gannet::fake_web {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int Fail(const absl::Status& status) {
  fmt::print(stderr, "gannet-fakeweb: {}\n", std::string(status.message()));
  return absl::IsInvalidArgument(status) ? kWrongUsage : kFailed;
}

struct Flags {
  WebOptions web;
  CrawlRules rules;
  ServerOptions server;
  double change_speed = 1;
  bool json = false;
  std::string ca_out;
  std::string at;
  std::string log;
  JudgeOptions judge;
};

void PrintSummary(const Served& served, bool json) {
  if (json) {
    nlohmann::json kinds;
    for (size_t i = 0; i < served.by_kind.size(); ++i) {
      if (served.by_kind[i] > 0) {
        kinds[std::string(Name(static_cast<Nasty>(i)))] = served.by_kind[i];
      }
    }
    fmt::print("{}\n", nlohmann::json{{"connections", served.connections},
                                      {"requests", served.requests},
                                      {"bytes", served.bytes},
                                      {"kinds", kinds}}
                           .dump());
    return;
  }
  fmt::print("\n{} requests on {} connections, {:.1f} MB\n", served.requests,
             served.connections, static_cast<double>(served.bytes) / 1e6);
  for (size_t i = 0; i < served.by_kind.size(); ++i) {
    if (served.by_kind[i] == 0) continue;
    const NastyInfo& info = Info(static_cast<Nasty>(i));
    fmt::print("{:>10}  {:<18} {}\n", served.by_kind[i], info.name, info.what);
  }
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  FILE* file = fopen(path.c_str(), "w");
  if (file == nullptr) {
    return absl::PermissionDeniedError(
        fmt::format("cannot write {}: {}", path, strerror(errno)));
  }
  const bool written = fwrite(text.data(), 1, text.size(), file) == text.size();
  if (fclose(file) != 0 || !written) {
    return absl::DataLossError(fmt::format("cannot write all of {}", path));
  }
  return absl::OkStatus();
}

void PrintStart(const Flags& flags, const Web& web, const Server& server) {
  const std::vector<Ref> seeds = web.Seeds();
  const std::string seed = web.Url(seeds[0]);
  const uint16_t port = server.port();
  if (flags.json) {
    nlohmann::json line = {{"port", port},
                           {"seed", seed},
                           {"seeds", seeds.size()},
                           {"hosts", web.hosts().count()},
                           {"pages", web.hosts().pages()}};
    if (server.tls_port() != 0) line["tls_port"] = server.tls_port();
    fmt::print("{}\n", line.dump());
    return;
  }
  std::string ports = fmt::format("{}", port), ca_flag, ca_line;
  if (server.tls_port() != 0) {
    ports += fmt::format(",{}", server.tls_port());
    ca_flag = fmt::format("--ca-file {} ",
                          flags.ca_out.empty() ? "FILE" : flags.ca_out);
    if (flags.ca_out.empty()) {
      ca_line = fmt::format("the CA:    gannet-fakeweb ca --seed {} > FILE\n",
                            flags.web.seed);
    }
  }
  fmt::print(
      "A fake web of {} hosts and {} pages (seed {}; nasty: {}).\n"
      "listening on 127.0.0.0/8 port {}{}\n"
      "crawl it:  gannet crawl {} --scope any --connect-to 127.0.0.0/8:{} {}--delay 0.02 "
      "--data DIR\n"
      "{}see it:    http://127.0.0.1:{}/\nCtrl-C ends.\n",
      web.hosts().count(), web.hosts().pages(), flags.web.seed,
      FormatNasty(flags.web.nasty), port,
      server.tls_port() == 0
          ? ""
          : fmt::format(", and port {} for https", server.tls_port()),
      seed, ports, ca_flag, ca_line, port);
}

int Serve(const Flags& flags) {
  // Blocked before any thread starts, so that only sigtimedwait takes them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto web = Web::Create(flags.web);
  if (!web.ok()) return Fail(web.status());
  const WebClock clock(flags.change_speed);
  auto server = Server::Start(web->get(), &clock, flags.server);
  if (!server.ok()) return Fail(server.status());
  if (!flags.ca_out.empty()) {
    // Written before the start is announced, because readers of that line may
    // then read the file.
    const auto status = WriteFile(
        flags.ca_out, CertificateMaker((*web)->options().seed).CaPem());
    if (!status.ok()) return Fail(status);
  }
  PrintStart(flags, **web, **server);
  fflush(stdout);
  // Wakes every second to flush the log, so that it can be judged meanwhile.
  const timespec second = {.tv_sec = 1, .tv_nsec = 0};
  while (sigtimedwait(&signals, nullptr, &second) < 0) {
    if (auto status = (*server)->FlushLog(); !status.ok()) return Fail(status);
  }
  const absl::Status status = (*server)->Stop();
  PrintSummary((*server)->served(), flags.json);
  return status.ok() ? kDone : Fail(status);
}

int WithWeb(const WebOptions& options,
            const std::function<int(const Web&)>& command) {
  auto web = Web::Create(options);
  return web.ok() ? command(**web) : Fail(web.status());
}

int Seeds(const Flags& flags) {
  return WithWeb(flags.web, [](const Web& web) {
    for (const Ref& seed : web.Seeds()) fmt::print("{}\n", web.Url(seed));
    return kDone;
  });
}

int ListHosts(const Flags& flags) {
  return WithWeb(flags.web, [&](const Web& web) {
    for (uint32_t host = 0; host < web.hosts().count(); ++host) {
      const Nasty robots = web.RobotsKind(host), tls = web.TlsKind(host);
      fmt::print("{}\t{}\t{}\t{}\n", web.hosts().Name(host),
                 web.hosts().Pages(host),
                 Name(robots == Nasty::kNone ? Nasty::kRobots : robots),
                 tls != Nasty::kNone ? Name(tls)
                 : web.IsHttps(host) ? "https"
                                     : "http");
    }
    return kDone;
  });
}

int PrintCa(const Flags& flags) {
  return WithWeb(flags.web, [](const Web& web) {
    fmt::print("{}", CertificateMaker(web.options().seed).CaPem());
    return kDone;
  });
}

int TruthUrls(const Flags& flags) {
  return WithWeb(flags.web, [&](const Web& web) {
    Truth truth(&web, flags.rules);
    for (const TruePage& page : truth.AllUrls()) {
      fmt::print("{}\t{}\t{}\n", web.Url(page.ref), Name(page.outcome),
                 Name(web.KindOf(page.ref)));
    }
    return kDone;
  });
}

int TruthReachable(const Flags& flags) {
  return WithWeb(flags.web, [&](const Web& web) {
    Truth truth(&web, flags.rules);
    for (const TruePage& page : truth.Reachable()) {
      fmt::print("{}\t{}\t{}\n", web.Url(page.ref), Name(page.outcome),
                 Name(web.KindOf(page.ref)));
    }
    return kDone;
  });
}

int TruthLinks(const Flags& flags) {
  return WithWeb(flags.web, [&](const Web& web) {
    Truth truth(&web, flags.rules);
    std::vector<Ref> found;
    for (const TruePage& page : truth.Reachable()) {
      found.clear();
      truth.AppendFound(page.ref, page.outcome, &found);
      const std::string from = web.Url(page.ref);
      for (const Ref& to : found) fmt::print("{}\t{}\n", from, web.Url(to));
    }
    return kDone;
  });
}

int TruthPageRank(const Flags& flags) {
  return WithWeb(flags.web, [&](const Web& web) {
    Truth truth(&web, flags.rules);
    const std::vector<TruePage> pages = truth.Reachable();
    const std::vector<double> rank = PageRank(truth, pages);
    std::vector<size_t> order(pages.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return rank[a] > rank[b]; });
    for (size_t i : order) {
      fmt::print("{}\t{:.12g}\n", web.Url(pages[i].ref), rank[i]);
    }
    return kDone;
  });
}

int TruthVersions(const Flags& flags) {
  absl::Time at = WebClock::DefaultOrigin();
  std::string error;
  if (!flags.at.empty() &&
      !absl::ParseTime(absl::RFC3339_full, flags.at, &at, &error)) {
    return Fail(absl::InvalidArgumentError("--at: " + error));
  }
  return WithWeb(flags.web, [&](const Web& web) {
    for (uint32_t host = 0; host < web.hosts().count(); ++host) {
      for (uint32_t id = 0; id < web.hosts().Pages(host); ++id) {
        const Ref ref{.host = host, .id = id};
        fmt::print("{}\t{}\t{}\n", web.Url(ref), web.VersionAt(ref, at),
                   absl::ToDoubleSeconds(web.ChangeInterval(ref)));
      }
    }
    return kDone;
  });
}

int JudgeLog(const Flags& flags) {
  auto log = LogFile::Read(flags.log);
  if (!log.ok()) return Fail(log.status());
  return WithWeb(log->options, [&](const Web& web) {
    const Verdict verdict = Judge(web, std::move(log->entries), flags.judge);
    fmt::print("{}", flags.json ? FormatVerdictJson(verdict) + "\n"
                                : FormatVerdict(verdict));
    return verdict.ok() ? kDone : kFailed;
  });
}

int Kinds() {
  std::string_view group;
  for (const NastyInfo& info : AllNasty()) {
    if (info.group.empty()) continue;
    if (info.group != group) fmt::print("{}\n", info.group);
    group = info.group;
    fmt::print("  {:<20}{}\n", info.name, info.what);
  }
  return kDone;
}

int Main(int argc, char** argv) {
  Flags flags;
  std::function<int()> run;
  CLI::App app(
      "A whole web made from a number, to try crawlers on.\n"
      "Example: gannet-fakeweb serve --hosts 500 --pages 10000 --port 8080");
  app.require_subcommand(1);
  auto add = [&](CLI::App* parent, const char* name, std::string what,
                 const char* example, std::function<int()> command) {
    CLI::App* sub = parent->add_subcommand(name, std::move(what));
    sub->footer(fmt::format("Example:\n  gannet-fakeweb {}", example));
    sub->callback([&run, command = std::move(command)] { run = command; });
    return sub;
  };

  CLI::App* serve = add(
      &app, "serve", "serve a web on 127.0.0.0/8 until Ctrl-C",
      "serve --hosts 500 --pages 10000 --nasty all --port 8080 --log asked.tsv",
      [&] { return Serve(flags); });
  AddWebFlags(serve, &flags.web);
  serve->add_option("--port", flags.server.port, "0: any free one, printed")
      ->capture_default_str();
  serve
      ->add_option("--tls-port", flags.server.tls_port,
                   "the port for https (0: any free one, printed); without it "
                   "there is no TLS")
      ->type_name("PORT");
  serve
      ->add_option("--ca-out", flags.ca_out,
                   "write the CA's certificate to this file (PEM), for a "
                   "crawler's "
                   "--ca-file")
      ->type_name("FILE");
  serve->add_option("--threads", flags.server.threads, "how many threads serve")
      ->capture_default_str();
  serve
      ->add_option("--log", flags.server.log_path,
                   "write each request to this file (tab-separated), for "
                   "'judge'")
      ->type_name("FILE");
  serve
      ->add_option("--change-speed", flags.change_speed,
                   "how many times faster than real time pages change")
      ->capture_default_str();
  serve->add_flag("--json", flags.json, "print JSON");

  CLI::App* seeds = add(&app, "seeds", "print where a crawl should start",
                        "seeds --seed 7", [&] { return Seeds(flags); });
  AddWebFlags(seeds, &flags.web);
  CLI::App* hosts = add(
      &app, "hosts",
      "print each host, its pages, its robots.txt's kind, and its scheme "
      "or what is wrong with its TLS",
      "hosts --nasty robots,tls --https 0.5", [&] { return ListHosts(flags); });
  AddWebFlags(hosts, &flags.web);
  CLI::App* ca = add(&app, "ca",
                     "print the CA certificate (PEM) that https hosts' "
                     "certificates are signed "
                     "by; it depends on --seed only",
                     "ca --seed 7 > ca.pem", [&] { return PrintCa(flags); });
  AddWebFlags(ca, &flags.web);

  CLI::App* truth = app.add_subcommand("truth", "print the truth about a web");
  truth->require_subcommand(1);
  truth->footer("Example:\n  gannet-fakeweb truth reachable --nasty all");
  auto add_truth = [&](const char* name, const char* what, const char* example,
                       int (*command)(const Flags&)) {
    CLI::App* sub = add(truth, name, what, example,
                        [&, command] { return command(flags); });
    AddWebFlags(sub, &flags.web);
    AddRuleFlags(sub, &flags.rules);
    return sub;
  };
  add_truth("urls", "every URL, what a crawler makes of it, and its kind",
            "truth urls --nasty errors", TruthUrls);
  add_truth("reachable",
            "the URLs that a polite crawler finds, how each ends, and its kind",
            "truth reachable --nasty all", TruthReachable);
  add_truth("links", "from<TAB>to: the links that it follows",
            "truth links --hosts 10 --pages 100", TruthLinks);
  add_truth("pagerank",
            "URL and PageRank of the reachable pages, highest first",
            "truth pagerank --hosts 10 --pages 100", TruthPageRank);
  add_truth("versions",
            "each page's version at a moment of web time, and the seconds "
            "between its changes",
            "truth versions --nasty changes --at 2020-01-02T00:00:00Z",
            TruthVersions)
      ->add_option("--at", flags.at, "web time (serve starts at 2020-01-01)");

  CLI::App* judge =
      add(&app, "judge", "judge a log: was the crawler polite? Exit code 1: no",
          "judge asked.tsv --delay 20ms", [&] { return JudgeLog(flags); });
  judge->add_option("log", flags.log, "what serve --log wrote")->required();
  AddDuration(judge, "--delay", &flags.judge.delay,
              "the least time between an answer's last byte and the next "
              "request");
  AddDuration(judge, "--crawl-delay-cap", &flags.judge.crawl_delay_cap,
              "the longest Crawl-delay that must be obeyed");
  judge->add_option("--agent", flags.judge.agent, "the product token")
      ->capture_default_str();
  judge
      ->add_option("--most-listed", flags.judge.most_listed,
                   "list at most so many URLs of each kind")
      ->capture_default_str();
  judge->add_flag("--robots-free", flags.judge.robots_free,
                  "do not count requests for robots.txt");
  judge->add_flag("--no-repeats", flags.judge.no_repeats,
                  "a page that is asked for again after a 200 is a violation");
  judge->add_flag("!--not-per-address", flags.judge.per_address,
                  "judge by host only (a crawl through one address)");
  judge->add_flag("--json", flags.json, "print JSON");

  add(&app, "kinds", "list the nasty kinds, by group", "kinds",
      [] { return Kinds(); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  return run();
}

}  // namespace
}  // namespace gannet::fake_web

int main(int argc, char** argv) { return gannet::fake_web::Main(argc, argv); }
