#include "sites/dashboard/json_api.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "sites/admin/message_json.h"

namespace gannet::sites {
namespace {

// Reports of more rounds ago are not looked for: each is read to get there.
constexpr uint64_t kMostRounds = 1000;
constexpr uint32_t kTopHosts = 10;

std::string Dump(const nlohmann::json& value, int indent = -1) {
  return value.dump(indent, ' ', false,
                    nlohmann::json::error_handler_t::replace);
}

int HttpCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
      return 503;
    default:
      return 500;
  }
}

HttpAnswer JsonAnswer(int code, std::string body) {
  HttpAnswer answer;
  answer.code = code;
  answer.type = "application/json";
  answer.body = std::move(body) + "\n";
  return answer;
}

HttpAnswer Answer(absl::StatusOr<std::string> text) {
  if (text.ok()) return JsonAnswer(200, *std::move(text));
  const nlohmann::json why = {{"error", std::string(text.status().message())}};
  return JsonAnswer(HttpCode(text.status()), Dump(why));
}

HttpAnswer Answer(absl::StatusOr<std::optional<std::string>> cached) {
  if (!cached.ok()) return Answer(absl::StatusOr<std::string>(cached.status()));
  if (!cached->has_value()) return JsonAnswer(202, R"({"pending":true})");
  return JsonAnswer(200, **std::move(cached));
}

// The query, if it has no other keys.
absl::StatusOr<Query> QueryWith(const std::string& text,
                                const std::set<std::string>& keys) {
  auto query = Query::Parse(text);
  if (!query.ok()) return query;
  if (absl::Status known = query->HasOnly(keys); !known.ok()) return known;
  return query;
}

// The last `most` reports, oldest first.
absl::StatusOr<std::vector<nlohmann::json>> LastReports(Admin& admin,
                                                        uint64_t most) {
  admin::ListRoundsRequest request;
  request.set_most(static_cast<uint32_t>(most));
  admin::RoundReports reply;
  if (absl::Status got = admin.ListRounds(request, reply); !got.ok()) {
    return got;
  }
  std::vector<nlohmann::json> reports;
  for (const std::string& text : reply.reports()) {
    auto report = nlohmann::json::parse(text, nullptr, false);
    if (report.is_object()) reports.push_back(std::move(report));
  }
  return reports;
}

uint64_t NumberOf(const nlohmann::json& report) {
  const auto number = report.find("round");
  return number != report.end() && number->is_number_unsigned()
             ? number->get<uint64_t>()
             : 0;
}

}  // namespace

// Short, so that a person sees a change within a second or two; longer for
// hosts, because all of them are read.
JsonApi::JsonApi(Admin& admin, const RateSampler& rates,
                 FederationJson federation, storage::Clock& clock)
    : admin_(admin),
      rates_(rates),
      federation_json_(std::move(federation)),
      clock_(clock),
      status_(absl::Milliseconds(500), clock),
      frontier_(absl::Seconds(10), clock),
      failing_hosts_(absl::Seconds(60), clock),
      slow_hosts_(absl::Seconds(60), clock),
      federation_(absl::Milliseconds(500), clock) {}

void JsonApi::AddRoutes(HttpServer& server) {
  const auto add = [&](const char* path, std::set<std::string> keys,
                       std::function<HttpAnswer(const Query&)> answer) {
    server.AddRoute(path, [keys = std::move(keys), answer = std::move(answer)](
                              const std::string& text) {
      const auto query = QueryWith(text, keys);
      return query.ok() ? answer(*query)
                        : Answer(absl::StatusOr<std::string>(query.status()));
    });
  };
  add("/api/status", {}, [this](const Query&) {
    return Answer(status_.Get([this] { return Status(); }));
  });
  add("/api/rates", {}, [this](const Query&) { return Answer(Rates()); });
  add("/api/frontier", {}, [this](const Query&) {
    return Answer(frontier_.Get([this] { return Frontier(); }));
  });
  add("/api/hosts", {"by"}, [this](const Query& query) {
    const std::string by = query.Text("by");
    if (by != "failures" && by != "slow") {
      return Answer(Text(absl::InvalidArgumentError(
          "'by' says which hosts: by=failures or by=slow")));
    }
    CachedAnswer& kept = by == "slow" ? slow_hosts_ : failing_hosts_;
    return Answer(kept.Get([&] { return Hosts(by); }));
  });
  add("/api/rounds", {"most"},
      [this](const Query& query) { return Answer(Rounds(query)); });
  add("/api/round", {"number"},
      [this](const Query& query) { return Answer(Round(query)); });
  add("/api/page", {"url"},
      [this](const Query& query) { return Answer(Page(query)); });
  add("/api/federation", {}, [this](const Query&) {
    return Answer(federation_.Get([this] { return Federation(); }));
  });
}

JsonApi::Text JsonApi::Status() {
  admin::Status status;
  if (absl::Status got = admin_.GetStatus({}, status); !got.ok()) return got;
  nlohmann::json json = MessageJson(status);
  // So that "3 minutes ago" does not depend on the reader's clock.
  json["now"] = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", clock_.Now(),
                                 absl::UTCTimeZone());
  return Dump(json);
}

JsonApi::Text JsonApi::Rates() {
  nlohmann::json points = nlohmann::json::array();
  for (const Rate& rate : rates_.Rates()) {
    points.push_back({absl::ToUnixMillis(rate.at), rate.pages_per_second,
                      rate.bytes_per_second});
  }
  return Dump({{"every", absl::ToDoubleSeconds(rates_.every())},
               {"now", absl::ToUnixMillis(clock_.Now())},
               {"points", points}});
}

JsonApi::Text JsonApi::Frontier() {
  admin::Frontier frontier;
  if (absl::Status got = admin_.GetFrontier({}, frontier); !got.ok()) {
    return got;
  }
  return Dump(MessageJson(frontier));
}

JsonApi::Text JsonApi::Hosts(const std::string& by) {
  admin::ListHostsRequest request;
  request.set_top(kTopHosts);
  request.set_by(by);
  admin::Hosts hosts;
  if (absl::Status got = admin_.ListHosts(request, hosts); !got.ok()) {
    return got;
  }
  return Dump(MessageJson(hosts));
}

JsonApi::Text JsonApi::Rounds(const Query& query) {
  const auto most = query.Number("most", 10, 1, kMostRounds);
  if (!most.ok()) return most.status();
  auto reports = LastReports(admin_, *most);
  if (!reports.ok()) return reports.status();
  return Dump({{"rounds", nlohmann::json(std::vector<nlohmann::json>(
                              reports->rbegin(), reports->rend()))}});
}

JsonApi::Text JsonApi::Round(const Query& query) {
  const auto number = query.Number("number", 0, 1, UINT64_MAX);
  if (!number.ok()) return number.status();
  if (*number == 0) {
    return absl::InvalidArgumentError("'number' says which round: number=1");
  }
  auto reports = LastReports(admin_, 1);
  if (!reports.ok()) return reports.status();
  const uint64_t last = reports->empty() ? 0 : NumberOf(reports->back());
  if (*number < last && last - *number < kMostRounds) {
    reports = LastReports(admin_, last - *number + 1);
    if (!reports.ok()) return reports.status();
  }
  for (const nlohmann::json& report : *reports) {
    if (NumberOf(report) == *number) return Dump(report, /*indent=*/2);
  }
  return absl::NotFoundError(
      fmt::format("there is no report of round {} among the last {}", *number,
                  kMostRounds));
}

JsonApi::Text JsonApi::Page(const Query& query) {
  admin::GetPageRequest request;
  request.set_url(query.Text("url"));
  request.set_links(true);
  if (request.url().empty()) {
    return absl::InvalidArgumentError("'url' says which page: url=https://...");
  }
  admin::Page page;
  if (absl::Status got = admin_.GetPage(request, page); !got.ok()) return got;
  return Dump(MessageJson(page));
}

JsonApi::Text JsonApi::Federation() {
  std::string json = federation_json_ ? federation_json_() : "";
  if (json.empty()) json = R"({"federation":null})";
  return json;
}

}  // namespace gannet::sites
