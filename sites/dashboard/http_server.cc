#include "sites/dashboard/http_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

namespace gannet::sites {
namespace {

// Nothing from elsewhere, nothing inline: a script that gets into a page as
// text has no way to run. 'self' twice over, for modules and style sheet.
constexpr std::string_view kSecurityHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";

HttpAnswer Refusal(int code, std::string text) {
  HttpAnswer answer;
  answer.code = code;
  answer.body = std::move(text) + "\n";
  return answer;
}

// What the web sent, fit for a message.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 100)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                          c == '_' || c == ':' || c == '[' || c == ']';
    out += is_plain ? c : '?';
  }
  return out + "'";
}

std::string Header(const mg_connection* connection, const char* name) {
  const char* const value = mg_get_header(connection, name);
  return value == nullptr ? std::string() : value;
}

// Opens a connection and closes it.
void Knock(const std::string& ip, uint16_t port) {
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  inet_pton(AF_INET, ip.c_str(), &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  (void)connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  close(fd);
}

HttpServer* ServerOf(const mg_connection* connection) {
  return static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)));
}

// Debian's civetweb gives its threads 100 KB of stack, and RocksDB wants more:
// the first look at a real site overflowed it. A thread for each answer costs
// some 20 us, and people and Prometheus ask a few times a second.
HttpAnswer OnARealStack(const std::function<HttpAnswer()>& handler) {
  HttpAnswer answer = Refusal(500, "This could not be looked up; try again.");
  // A library may throw (no memory, a disk that fails): one answer is lost.
  try {
    std::thread thread([&] {
      try {
        answer = handler();
      } catch (const std::exception&) {
      }
    });
    thread.join();
  } catch (const std::system_error&) {
  }
  return answer;
}

}  // namespace

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() { Stop(); }

void HttpServer::AddRoute(const std::string& path, HttpHandler handler) {
  routes_[path] = std::move(handler);
}

absl::Status HttpServer::Start(const std::string& address,
                               std::vector<std::string> names) {
  auto parsed = ParseHttpAddress(address);
  if (!parsed.ok()) return parsed.status();
  address_ = *parsed;
  names_ = std::move(names);
  static std::once_flag once;
  std::call_once(once, [] { mg_init_library(MG_FEATURES_DEFAULT); });

  const std::string ports = fmt::format("{}:{}", address_.ip, address_.port);
  // Few threads, for one person and one Prometheus; a slow sender is cut off
  // early, so that it does not hold a thread for long.
  std::array<const char*, 15> options = {"listening_ports",
                                         ports.c_str(),
                                         "num_threads",
                                         "8",
                                         "connection_queue",
                                         "64",
                                         "max_request_size",
                                         "16384",
                                         "request_timeout_ms",
                                         "5000",
                                         "enable_directory_listing",
                                         "no",
                                         "enable_auth_domain_check",
                                         "no",
                                         nullptr};
  mg_callbacks callbacks = {};
  callbacks.begin_request = &HttpServer::OnRequest;
  callbacks.http_error = &HttpServer::OnError;
  callbacks.log_message = &HttpServer::OnLog;
  std::array<char, 256> text = {};
  mg_init_data init = {&callbacks, this, options.data()};
  mg_error_data error = {nullptr, text.data(), text.size()};
  context_ = mg_start2(&init, &error);
  if (context_ == nullptr) {
    storage::MutexLock lock(&mu_);
    return absl::FailedPreconditionError(fmt::format(
        "cannot serve HTTP on {}: {}; is another process listening there? "
        "listen.http names the address",
        ports, first_log_.empty() ? text.data() : first_log_));
  }
  mg_server_port bound = {};
  if (mg_get_server_ports(context_, 1, &bound) == 1) {
    port_ = static_cast<uint16_t>(bound.port);
  }
  return absl::OkStatus();
}

// civetweb notices that it must stop when it next accepts a connection, or
// after two seconds: opening one saves the wait.
void HttpServer::Stop() {
  if (context_ == nullptr) return;
  std::atomic<bool> has_stopped = false;
  std::thread knocking([&] {
    while (!has_stopped) {
      Knock(address_.ip == "0.0.0.0" ? "127.0.0.1" : address_.ip, port_);
      absl::SleepFor(absl::Milliseconds(
          5));  // Machine time: civetweb knows no other clock.
    }
  });
  mg_stop(context_);
  has_stopped = true;
  knocking.join();
  context_ = nullptr;
}

std::map<int, int64_t> HttpServer::RequestsByCode() const {
  storage::MutexLock lock(&mu_);
  return requests_by_code_;
}

HttpAnswer HttpServer::AnswerTo(const mg_connection* connection) const {
  const mg_request_info& request = *mg_get_request_info(connection);
  // A request without Host is not from a browser, so it cannot be DNS
  // rebinding.
  const std::string host = Header(connection, "Host");
  if (!host.empty() && !IsKnownHost(host, address_, names_)) {
    return Refusal(
        403,
        fmt::format(
            "This dashboard does not answer to the name {}. Ask {}; or add "
            "the name to listen.http_names in site.yaml and start the "
            "site again. (Other names are refused because a page of the "
            "web could read the dashboard through one of its own.)",
            Quoted(host),
            address_.IsLoopback() ? "localhost or 127.0.0.1"
                                  : "by an IP address or localhost"));
  }
  const std::string_view method = request.request_method;
  if (method != "GET" && method != "HEAD") {
    return Refusal(405,
                   "Only GET and HEAD: nothing can be changed here. "
                   "'gannet --help' lists the commands that do.");
  }
  const auto route =
      routes_.find(request.local_uri == nullptr ? "" : request.local_uri);
  if (route == routes_.end()) {
    return Refusal(404, "There is no such page. The dashboard is at /.");
  }
  const std::string query =
      request.query_string == nullptr ? "" : request.query_string;
  return OnARealStack([&] { return route->second(query); });
}

void HttpServer::Send(mg_connection* connection, const HttpAnswer& answer,
                      bool with_body) {
  {
    storage::MutexLock lock(&mu_);
    ++requests_by_code_[answer.code];
  }
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\nConnection: close\r\nCache-Control: {}\r\n",
      answer.code, mg_get_response_code_text(connection, answer.code),
      answer.etag.empty() ? "no-store" : "no-cache");
  if (answer.code != 304) {
    out += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n",
                       answer.type, answer.body.size());
  }
  if (!answer.etag.empty()) out += fmt::format("ETag: {}\r\n", answer.etag);
  if (answer.code == 405) out += "Allow: GET, HEAD\r\n";
  if (answer.code == 503) out += "Retry-After: 2\r\n";
  out += kSecurityHeaders;
  out += "\r\n";
  if (with_body) out += answer.body;
  mg_write(connection, out.data(), out.size());
}

int HttpServer::OnRequest(mg_connection* connection) {
  HttpServer& server = *ServerOf(connection);
  HttpAnswer answer = server.AnswerTo(connection);
  const std::string_view method =
      mg_get_request_info(connection)->request_method;
  const std::string wanted = Header(connection, "If-None-Match");
  if (answer.code == 200 && !answer.etag.empty() &&
      wanted.find(answer.etag) != std::string::npos) {
    answer.code = 304;
    answer.body.clear();
  }
  server.Send(connection, answer, method != "HEAD");
  return answer.code;
}

// What civetweb refuses by itself: requests that are too long or make no sense.
int HttpServer::OnError(mg_connection* connection, int code,
                        const char* /*text*/) {
  ServerOf(connection)
      ->Send(connection,
             Refusal(code,
                     fmt::format("{} {}", code,
                                 mg_get_response_code_text(connection, code))),
             /*with_body=*/true);
  return 0;
}

// Kept for the error of Start(); messages about requests are not logged.
int HttpServer::OnLog(const mg_connection* connection, const char* text) {
  HttpServer* const server = ServerOf(connection);
  if (server != nullptr) {
    storage::MutexLock lock(&server->mu_);
    // The first says why: "cannot bind to ...".
    if (server->first_log_.empty()) server->first_log_ = text;
  }
  return 1;
}

}  // namespace gannet::sites
