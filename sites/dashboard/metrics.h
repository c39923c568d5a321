// A site's metrics as Prometheus reads them, made when it asks: nothing is
// counted twice, and a site that nobody scrapes pays nothing. The names are a
// contract (deploy/prometheus, deploy/grafana): base units, timestamps instead
// of ages, no label whose values the web chooses. A function; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "proto/admin.pb.h"
#include "sites/dashboard/process_figures.h"

namespace gannet::sites {

// What an agent alone knows is left out if `status` has none, and so is the
// federation if the site is in none.
std::string MetricsText(const admin::Status& status,
                        const ProcessFigures& process,
                        const std::map<int, int64_t>& http_requests_by_code,
                        const admin::Federation& federation = {});

// The Content-Type that goes with it.
inline constexpr char kMetricsType[] =
    "text/plain; version=0.0.4; charset=utf-8";

}  // namespace gannet::sites
