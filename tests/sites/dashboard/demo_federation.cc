#include "tests/sites/dashboard/demo_federation.h"

#include <nlohmann/json.hpp>

namespace gannet::sites {
namespace {

struct Place {
  const char* name;
  const char* state;
  bool alive;
  double latitude, longitude;
  int64_t pages, frontier, outbox;
  double round_trip;
  double urls_per_second;  // In each direction.
};

constexpr Place kPlaces[] = {
    {"tokyo", "member", true, 35.7, 139.7, 3912345, 1204871, 0, 0, 0},
    {"zurich", "member", true, 47.4, 8.5, 4120331, 1310224, 1204, 0.231, 412},
    {"lima", "member", true, -12.0, -77.0, 2870114, 801223, 310, 0.298, 96},
    {"nairobi", "leaving", true, -1.3, 36.8, 120394, 0, 12, 0.187, 7.5},
    {"sydney", "member", false, -33.9, 151.2, 3388120, 990121, 48211, 0.104, 0},
    {"<img src=x onerror=hacked=8>", "invited", false, 43.7, -79.4, 0, 0, 0, 0,
     0},
};

nlohmann::json SiteJson(const Place& place, bool quiet, double seconds) {
  const bool is_self = std::string_view(place.name) == "tokyo";
  const bool is_invited = std::string_view(place.state) == "invited";
  const double urls = quiet ? 0 : place.urls_per_second * seconds;
  const auto count = [](double value) { return static_cast<int64_t>(value); };
  nlohmann::json json = {
      {"name", place.name},
      {"state", place.state},
      {"is_self", is_self},
      {"alive", place.alive},
      {"address", is_invited ? "" : std::string(place.name) + ".example:7701"},
      {"location", {place.latitude, place.longitude}},
      {"capacity", std::string_view(place.name) == "zurich" ? 2 : 1},
      {"epoch", is_invited    ? 0
                : place.alive ? 7
                              : 5},
      {"pages", place.pages},
      {"frontier", place.frontier},
      {"outbox", quiet ? 0 : place.outbox},
      {"round_trip_seconds", place.round_trip},
      {"last_heard_seconds", place.alive ? 0.8 : 754.0},
      {"pages_per_second", quiet || !place.alive ? 0.0 : 205.5},
      {"sent_urls", count(81230 + urls)},
      {"sent_bytes", count(1423100 + 11.5 * urls)},
      {"received_urls", count(70110 + 0.8 * urls)},
      {"received_bytes", count(1301220 + 9.4 * urls)},
      {"sent_pages", 0},
      {"sent_page_bytes", 0},
      {"received_pages", 5120},
      {"received_page_bytes", 921600}};
  if (is_self) {
    for (const char* key :
         {"outbox", "round_trip_seconds", "last_heard_seconds", "sent_urls",
          "sent_bytes", "received_urls", "received_bytes", "received_pages",
          "received_page_bytes"}) {
      json[key] = 0;
    }
  }
  if (is_invited) {
    for (const char* key : {"round_trip_seconds", "last_heard_seconds"}) {
      json[key] = nullptr;
    }
  }
  return json;
}

}  // namespace

std::string DemoFederation::Json(absl::Time now) const {
  storage::MutexLock lock(&mu_);
  if (is_ == "none") return "";
  const bool quiet = is_ == "quiet";
  nlohmann::json sites = nlohmann::json::array();
  for (const Place& place : kPlaces) {
    sites.push_back(
        SiteJson(place, quiet, absl::ToDoubleSeconds(now - started_)));
  }
  nlohmann::json handing_off = nullptr;
  if (is_ == "busy" || is_ == "lost") {
    handing_off = {{"epoch", 7},
                   {"pages_left", 12043},
                   {"sites_done", {"lima", "zurich"}}};
  }
  return nlohmann::json({{"federation",
                          {{"epoch", 7},
                           {"term", 2},
                           {"registrar", "zurich"},
                           {"registrar_reachable", is_ != "lost"},
                           {"paused", is_ == "paused"},
                           {"quiet", quiet},
                           {"exchange", "urls"},
                           {"self", "tokyo"},
                           {"handing_off", handing_off},
                           {"sites", sites},
                           {"error", error_}}}})
      .dump();
}

bool DemoFederation::Do(const std::string& command, absl::Time now) {
  storage::MutexLock lock(&mu_);
  if (command.starts_with("fail ")) {
    error_ = command.substr(5);
    return true;
  }
  if (command == "begun-anew") {
    started_ = now;
    return true;
  }
  for (const char* known : {"none", "busy", "quiet", "paused", "lost"}) {
    if (command != known) continue;
    is_ = command;
    error_.clear();
    return true;
  }
  return false;
}

}  // namespace gannet::sites
