#include "tests/fake_web/fakeweb_flags.h"

namespace gannet::fake_web {
namespace {

constexpr char kWebGroup[] = "The web (the same flags give the same web)";
constexpr char kRulesGroup[] = "The crawler's rules";

}  // namespace

CLI::Option* AddDuration(CLI::App* app, const std::string& name,
                         absl::Duration* value, const std::string& help) {
  return app
      ->add_option_function<std::string>(
          name,
          [value](const std::string& text) {
            absl::ParseDuration(text, value);
          },
          help)
      ->check([](const std::string& text) -> std::string {
        absl::Duration parsed;
        if (absl::ParseDuration(text, &parsed)) return "";
        return "'" + text + "' is not a time such as 20ms, 1.5s, 2h";
      })
      ->type_name("TIME")
      ->default_str(absl::FormatDuration(*value));
}

void AddWebFlags(CLI::App* app, WebOptions* o) {
  auto group = [](CLI::Option* option) { return option->group(kWebGroup); };
  group(
      app->add_option("--seed", o->seed, "the number that the web is made from")
          ->capture_default_str());
  group(app->add_option("--hosts", o->hosts, "how many hosts")
            ->capture_default_str());
  group(app->add_option("--pages", o->pages, "how many ordinary pages in all")
            ->capture_default_str());
  group(app->add_option("--largest-host", o->largest_host,
                        "no host has more pages than this (0: no limit)")
            ->capture_default_str());
  group(app->add_option_function<std::string>(
               "--nasty",
               [o](const std::string& text) {
                 o->nasty = ParseNasty(text).value_or(o->nasty);
               },
               "nasty things: none, all, or kinds and groups by name, with '-' "
               "to take one away: all,-stall ('gannet-fakeweb kinds' lists "
               "them)")
            ->check([](const std::string& text) {
              return std::string(ParseNasty(text).status().message());
            })
            ->type_name("LIST")
            ->default_str("none"));
  group(app->add_option("--https", o->https_share,
                        "the share of hosts that are https, 0 to 1 ('serve' "
                        "then needs --tls-port)")
            ->type_name("SHARE")
            ->capture_default_str());
  group(app->add_option("--graph", o->graph,
                        "serve this link graph instead: 'source target' lines, "
                        "plain or .zst")
            ->type_name("FILE"));
  group(
      app->add_option("--suffixes", o->suffixes, "domains are made under these")
          ->delimiter(',')
          ->default_str("example,test,invalid"));
  group(app->add_option("--trap-size", o->trap_size,
                        "after how many pages calendars and session ids end "
                        "(0: never)")
            ->capture_default_str());
  group(app->add_option("--retry-after", o->retry_after_seconds,
                        "the most seconds that a Retry-After says")
            ->capture_default_str());
  group(AddDuration(app, "--slow", &o->slow,
                    "how long slow pages and robots.txt take"));
  group(AddDuration(app, "--latency", &o->latency,
                    "a request waits this long times the distance (0 to 1.42) "
                    "of its host from the crawler"));
  group(AddDuration(app, "--change-interval", &o->change_interval,
                    "time between a page's changes (nasty kind 'changes'), in "
                    "the middle one of seven groups of domains"));
  group(app->add_flag("--gzip", o->gzip,
                      "compress pages for clients that accept it"));
}

void AddRuleFlags(CLI::App* app, CrawlRules* r) {
  auto group = [](CLI::Option* option) { return option->group(kRulesGroup); };
  group(app->add_option("--agent", r->agent, "the product token in robots.txt")
            ->capture_default_str());
  auto limit = [&](const char* name, size_t* value, const char* help) {
    group(app->add_option(name, *value, help)->capture_default_str());
  };
  limit("--max-url-bytes", &r->max_url_bytes, "bytes of a URL (0: no limit)");
  limit("--max-path-depth", &r->max_path_depth, "segments of a path");
  limit("--max-segment-repeats", &r->max_segment_repeats,
        "how often a group of segments may come in a row");
  limit("--max-query-parameters", &r->max_query_parameters, "parts of a query");
  limit("--max-query-bytes", &r->max_query_bytes, "bytes of a query");
  group(app->add_option("--retries", r->retries,
                        "how often a refused page is asked for again")
            ->capture_default_str());
  group(app->add_option_function<std::string>(
               "--truncated",
               [r](const std::string& text) {
                 r->truncated =
                     text == "fetched" ? Outcome::kFetched : Outcome::kFailed;
               },
               "what an endless body or a gzip bomb ends as: fetched or failed")
            ->check([](const std::string& text) -> std::string {
              if (text == "fetched" || text == "failed") return "";
              return "must be fetched or failed";
            })
            ->type_name("STATE")
            ->default_str("failed"));
  group(
      app->add_flag("--follow-images", r->follow_images, "img counts as link"));
  group(app->add_flag("--follow-styles", r->follow_styles,
                      "link rel=stylesheet counts as link"));
  group(app->add_flag("!--no-follow-frames", r->follow_frames,
                      "iframe and frame do not count as links"));
}

}  // namespace gannet::fake_web
