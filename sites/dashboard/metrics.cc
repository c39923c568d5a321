#include "sites/dashboard/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <optional>
#include <utility>
#include <vector>

#include "jobs/fetch/failure.h"
#include "sites/admin/outcomes.h"

namespace gannet::sites {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Gathers families; a metric with a label comes as a map from its values.
class Families {
 public:
  void Gauge(const char* name, const char* help, double value) {
    Of(name, help, MetricType::Gauge).metric = {Metric(value)};
  }
  void Counter(const char* name, const char* help, double value) {
    Of(name, help, MetricType::Counter).metric = {Metric(value)};
  }
  template <typename Map>
  void Gauges(const char* name, const char* help, const char* label,
              const Map& values) {
    Labelled(Of(name, help, MetricType::Gauge), label, values);
  }
  template <typename Map>
  void Counters(const char* name, const char* help, const char* label,
                const Map& values) {
    Labelled(Of(name, help, MetricType::Counter), label, values);
  }
  // A counter by site and direction of what goes between sites, and by mode:
  // how URLs are exchanged, or pages, which move. Empty: it has none.
  using ByMode = std::map<std::string, std::map<std::string, double>>;
  void BothWays(const char* name, const char* help, const ByMode& sent,
                const ByMode& received) {
    MetricFamily& family = Of(name, help, MetricType::Counter);
    for (const auto& [direction, modes] :
         {std::pair("received", &received), std::pair("sent", &sent)}) {
      for (const auto& [mode, values] : *modes) {
        for (const auto& [site, value] : values) {
          ClientMetric metric = Metric(value);
          metric.label.push_back({"direction", direction});
          if (!mode.empty()) metric.label.push_back({"mode", mode});
          metric.label.push_back({"site", site});
          family.metric.push_back(std::move(metric));
        }
      }
    }
  }
  void Time(const char* name, const char* help,
            const google::protobuf::Timestamp& time) {
    Gauge(name, help,
          static_cast<double>(time.seconds()) + time.nanos() * 1e-9);
  }

  std::string Text() const {
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  MetricFamily& Of(const char* name, const char* help, MetricType type) {
    MetricFamily& family = families_.emplace_back();
    family.name = name;
    family.help = help;
    family.type = type;
    return family;
  }
  // The serializer reads the one that the family's type names.
  static ClientMetric Metric(double value) {
    ClientMetric metric;
    metric.gauge.value = value;
    metric.counter.value = value;
    return metric;
  }
  template <typename Map>
  static void Labelled(MetricFamily& family, const char* label,
                       const Map& values) {
    // Sorted: protobuf's maps are not, and a diff of two scrapes should be.
    for (const auto& [key, value] :
         std::map<std::string, double>(values.begin(), values.end())) {
      ClientMetric metric = Metric(value);
      metric.label.push_back({label, key});
      family.metric.push_back(std::move(metric));
    }
  }

  std::vector<MetricFamily> families_;
};

using Values = std::map<std::string, double>;

// The named ones exist from the beginning, as zero, so that a rate sees the
// first event; the others of `map` are added.
template <typename Map>
Values WithZeros(Values values, const Map& map) {
  for (const auto& [key, value] : map) {
    values[key] = static_cast<double>(value);
  }
  return values;
}

Values Phases() {
  return {{"generate", 0}, {"fetch", 0}, {"update", 0}, {"exchange", 0}};
}

void AddStatus(const admin::Status& status, Families& out) {
  out.Gauge("gannet_round_number", "Number of the latest round.",
            static_cast<double>(status.round()));
  out.Gauges("gannet_pages", "Known pages by the outcome of their last visit.",
             "state", status.pages());
  out.Gauge("gannet_known_pages", "Pages in the crawl DB.",
            static_cast<double>(status.known()));
  out.Gauge("gannet_frontier_pages", "Pages ready to be fetched.",
            static_cast<double>(status.frontier()));
  out.Gauge("gannet_scheduled_pages", "Pages that become ready at a time.",
            static_cast<double>(status.scheduled()));
  out.Gauge("gannet_deferred_urls",
            "Found URLs over a round's quota, waiting to get in.",
            static_cast<double>(status.deferred()));
  out.Gauge("gannet_dropped_urls", "Found URLs that were never let in.",
            static_cast<double>(status.dropped()));
  if (!status.outbox().empty()) {
    out.Gauges("gannet_outbox_urls",
               "URLs found here that wait for the site that owns them.", "site",
               status.outbox());
  }
  out.Gauge("gannet_archive_files", "Archive files in the data folder.",
            static_cast<double>(status.archive().files()));
  out.Gauge("gannet_archive_bytes", "Size of the archive files.",
            static_cast<double>(status.archive().bytes()));
  out.Gauge("gannet_disk_free_bytes", "Free on the data folder's disk.",
            static_cast<double>(status.free_bytes()));
  out.Gauge("gannet_blocked_domains", "Domains that the operator has blocked.",
            static_cast<double>(status.blocked_domains()));
}

void AddRounds(const admin::AgentStatus& agent, Families& out) {
  const admin::RoundsState& rounds = agent.rounds();
  out.Counters("gannet_rounds_total",
               "Rounds that ended since the agent started.", "result",
               WithZeros({{"ok", 0}, {"failed", 0}, {"stopped", 0}},
                         agent.rounds_by_result()));
  if (agent.has_last_success()) {
    out.Time("gannet_round_last_success_timestamp_seconds",
             "When the last round ended that did not fail.",
             agent.last_success());
  }
  if (agent.has_last_round_started()) {
    out.Time("gannet_round_last_start_timestamp_seconds",
             "When the latest round began.", agent.last_round_started());
  }
  out.Gauge("gannet_round_running", "1 while a round runs.",
            rounds.state() == "running" || rounds.state() == "stopping");
  out.Gauge("gannet_rounds_paused", "1 while no round begins by itself.",
            rounds.paused() || rounds.state() == "paused");
  const admin::Progress& progress = agent.progress();
  const admin::Outcomes& done = progress.outcomes();
  out.Gauge("gannet_round_planned_pages",
            "Pages on the fetch list of the round that runs.",
            static_cast<double>(progress.planned()));
  out.Gauge("gannet_round_completed_pages",
            "Pages of it that are done, or were given back.",
            static_cast<double>(Completed(done) + done.released()));
  out.Gauge("gannet_hosts_active", "Hosts with pages left to fetch.",
            static_cast<double>(progress.hosts_active()));
  out.Gauge("gannet_connections", "Open connections.",
            static_cast<double>(progress.connections()));
  out.Gauge("gannet_network_lag_seconds",
            "How late the network thread is: longer, and this machine is too "
            "busy for the connections that it has.",
            progress.lag_seconds());
  out.Gauge("gannet_network_max_lag_seconds",
            "How late it was at most in the round that runs.",
            progress.max_lag_seconds());
}

void AddLifetime(const admin::AgentStatus& agent, Families& out) {
  const admin::RunCounts& all = agent.lifetime();
  const admin::Outcomes& outcomes = all.outcomes();
  out.Counters("gannet_fetches_total",
               "Visits of pages by outcome since the agent started.", "outcome",
               Values{{"fetched", outcomes.fetched()},
                      {"moved", outcomes.moved()},
                      {"gone", outcomes.gone()},
                      {"failed", outcomes.failed()},
                      {"blocked", outcomes.blocked()}});
  Values kinds;
  for (const std::string_view kind : jobs::FailureKinds()) {
    kinds[std::string(kind)] = 0;
  }
  out.Counters("gannet_fetch_failures_total",
               "Visits that failed, by what went wrong, since the agent "
               "started.",
               "kind", WithZeros(kinds, all.failures()));
  out.Counter("gannet_connections_held_back_seconds_total",
              "Time in which fewer connections were begun because the network "
              "thread was late, or because there were no sockets for more.",
              all.held_back_seconds());
  out.Counter("gannet_fetches_unchanged_total",
              "Fetched pages that were as at the visit before.",
              static_cast<double>(outcomes.unchanged()));
  out.Counter("gannet_fetched_bytes_total", "Bytes received with pages.",
              static_cast<double>(all.bytes()));
  out.Counters("gannet_phase_seconds_total",
               "Time spent in each phase of rounds.", "phase",
               WithZeros(Phases(), all.phase_seconds()));
  if (!agent.last_phase_seconds().empty()) {
    out.Gauges("gannet_phase_seconds",
               "Time that the last round took for each phase.", "phase",
               WithZeros(Phases(), agent.last_phase_seconds()));
  }
}

void AddAgent(const admin::AgentStatus& agent, Families& out) {
  out.Gauges("gannet_build_info", "Always 1; the version is in the label.",
             "version", Values{{agent.version(), 1}});
  out.Time("gannet_start_time_seconds", "When the agent started.",
           agent.started());
  out.Gauge("gannet_disk_min_free_bytes",
            "With less free than this, rounds stop (archive.min_free).",
            static_cast<double>(agent.min_free_bytes()));
  if (agent.has_reload()) {
    out.Gauge("gannet_config_last_reload_successful",
              "1 if the configuration was good when it was last read.",
              agent.reload().successful());
    if (agent.reload().has_last_success()) {
      out.Time("gannet_config_last_reload_success_timestamp_seconds",
               "When a good configuration was last read.",
               agent.reload().last_success());
    }
  }
  if (agent.has_certificate_expires()) {
    out.Time("gannet_certificate_expiry_timestamp_seconds",
             "When the site's TLS certificate ends.",
             agent.certificate_expires());
  }
  if (!agent.admin_requests().empty()) {
    Values none;
    for (const auto& [method, count] : agent.admin_requests()) none[method] = 0;
    out.Counters("gannet_admin_requests_total", "Calls of the admin API.",
                 "method", agent.admin_requests());
    out.Counters("gannet_admin_request_failures_total",
                 "Calls of the admin API that failed.", "method",
                 WithZeros(none, agent.admin_request_failures()));
  }
}

void AddProcess(const ProcessFigures& process, Families& out) {
  if (process.cpu_seconds.has_value()) {
    out.Counter("process_cpu_seconds_total",
                "User and system CPU time of the process.",
                *process.cpu_seconds);
  }
  const auto gauge = [&](const char* name, const char* help, auto figure) {
    if (figure.has_value()) {
      out.Gauge(name, help, static_cast<double>(*figure));
    }
  };
  gauge("process_resident_memory_bytes", "Memory of the process.",
        process.resident_bytes);
  gauge("process_open_fds", "Open file descriptors.", process.open_fds);
  gauge("process_max_fds", "File descriptors that may be open.",
        process.max_fds);
  gauge("process_start_time_seconds", "When the process started.",
        process.start_time_seconds);
}

// Labels are names of sites, which are few and the administrator's.
void AddFederation(const admin::FederationState& state, Families& out) {
  out.Gauge("gannet_federation_epoch", "Version of the map in force here.",
            static_cast<double>(state.epoch()));
  out.Gauge("gannet_federation_joined", "1 if this site is in the map.",
            !state.self().empty() && state.sites_size() > 0);
  out.Gauge("gannet_federation_registrar_up",
            "1 if whoever keeps the map can be reached.",
            state.registrar_reachable() || state.registrar().empty());
  out.Gauge("gannet_federation_quiet", "1 if no site has anything left to do.",
            state.quiet());
  out.Gauge("gannet_federation_paused", "1 if no site begins a round.",
            state.paused());
  // Not the same as pages that are left: the last site to say that it is done
  // may be away.
  out.Gauge("gannet_hand_off_running", "1 until what moves has moved.",
            state.has_handing_off());
  out.Gauge("gannet_hand_off_pages",
            "Pages that are to move to other sites, as far as is known here.",
            static_cast<double>(state.handing_off().pages_left()));
  out.Counter("gannet_peer_calls_refused_total",
              "Calls of strangers and of broken peers.",
              static_cast<double>(state.refused_calls()));
  out.Counter("gannet_peer_handshakes_refused_total",
              "Callers without a certificate of the federation's CA.",
              static_cast<double>(state.refused_handshakes()));
  out.Counter("gannet_exchange_streams_cut_total",
              "Streams of other sites that ended without a word: they stopped, "
              "the line broke, or a message was too large to be read.",
              static_cast<double>(state.cut_streams()));
  out.Counter("gannet_exchange_batches_refused_total",
              "Batches that another site sent and that could not be taken.",
              static_cast<double>(state.refused_batches()));
  out.Counter("gannet_exchange_batches_repeated_total",
              "Batches that came again, and were taken once.",
              static_cast<double>(state.repeated_batches()));
  out.Counter("gannet_sent_cache_lookups_total",
              "Found URLs of other sites looked up in the sent-URL cache.",
              static_cast<double>(state.sent_cache_lookups()));
  out.Counter("gannet_sent_cache_hits_total",
              "Of these, URLs that were sent before.",
              static_cast<double>(state.sent_cache_hits()));
  Values up, lag, round_trip;
  Families::ByMode urls_out, urls_in, pages_out, pages_in, bytes_out, bytes_in;
  for (const admin::FederationSite& site : state.sites()) {
    if (site.is_self() || site.state() == "invited") continue;
    up[site.name()] = site.alive();
    lag[site.name()] = static_cast<double>(site.lag());
    if (site.has_round_trip_seconds()) {
      round_trip[site.name()] = site.round_trip_seconds();
    }
    const auto set = [&](Families::ByMode& counter, const std::string& mode,
                         int64_t value) {
      counter[mode][site.name()] = static_cast<double>(value);
    };
    set(urls_out, "", site.sent_urls());
    set(urls_in, "", site.received_urls());
    set(pages_out, "", site.sent_pages());
    set(pages_in, "", site.received_pages());
    set(bytes_out, state.exchange(), site.sent_bytes());
    set(bytes_in, state.exchange(), site.received_bytes());
    set(bytes_out, "pages", site.sent_page_bytes());
    set(bytes_in, "pages", site.received_page_bytes());
  }
  if (up.empty()) return;
  out.Gauges("gannet_site_up", "1 if the other site is heard of.", "site", up);
  out.Gauges("gannet_site_epoch_lag",
             "Epochs that the other site's map is behind.", "site", lag);
  if (!round_trip.empty()) {
    out.Gauges("gannet_site_round_trip_seconds",
               "Time that the other site takes to answer.", "site", round_trip);
  }
  out.BothWays("gannet_exchange_urls_total",
               "URLs that sites have passed to each other.", urls_out, urls_in);
  out.BothWays("gannet_exchange_bytes_total",
               "Bytes of the batches that carried them (urls, cash), and of "
               "those with pages that moved (pages).",
               bytes_out, bytes_in);
  out.BothWays("gannet_exchange_pages_total",
               "Pages that moved between sites in hand-offs.", pages_out,
               pages_in);
}

}  // namespace

std::string MetricsText(const admin::Status& status,
                        const ProcessFigures& process,
                        const std::map<int, int64_t>& http_requests_by_code,
                        const admin::Federation& federation) {
  Families out;
  if (status.has_agent()) {
    AddAgent(status.agent(), out);
    AddRounds(status.agent(), out);
    AddLifetime(status.agent(), out);
  }
  AddStatus(status, out);
  if (federation.has_federation()) AddFederation(federation.federation(), out);
  Values requests;
  for (const auto& [code, count] : http_requests_by_code) {
    requests[std::to_string(code)] = static_cast<double>(count);
  }
  if (!requests.empty()) {
    out.Counters("gannet_http_requests_total",
                 "Requests to this port by status code.", "code", requests);
  }
  AddProcess(process, out);
  return out.Text();
}

}  // namespace gannet::sites
