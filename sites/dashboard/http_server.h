// HttpServer shows what handlers answer to GET and HEAD, on one address. It is
// civetweb with everything else turned off: no files, no methods that change,
// no keep-alive (a connection would hold one of the few threads), bounded
// requests, and on every answer, errors too, the headers that keep a browser
// from running what the web has written into our pages.
//
// Handlers run on the server's threads, several at once. Thread-safe once
// started.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sites/dashboard/http_address.h"
#include "storage/mutex.h"

struct mg_connection;
struct mg_context;

namespace gannet::sites {

struct HttpAnswer {
  int code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  // With quotes: a browser that has it already gets 304. Empty: must not be
  // kept.
  std::string etag;
};

// Gets the text after the question mark, as it came.
using HttpHandler = std::function<HttpAnswer(const std::string& query)>;

class HttpServer {
 public:
  HttpServer();
  ~HttpServer();  // Stops.
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // `path` is the whole path: "/api/status". REQUIRES: not started.
  void AddRoute(const std::string& path, HttpHandler handler);

  // Answers requests whose Host is one of `names`, or a name that no page of
  // the web can have (http_address.h). kInvalidArgument: no address.
  // kFailedPrecondition: cannot listen there, and why. Ignores SIGPIPE in the
  // process from now on, as civetweb does.
  absl::Status Start(const std::string& address,
                     std::vector<std::string> names = {});

  // Answers what is being asked, then returns; does nothing if not started.
  void Stop();

  uint16_t port() const { return port_; }

  // Since the start, by status code.
  std::map<int, int64_t> RequestsByCode() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  static int OnRequest(mg_connection* connection);
  static int OnError(mg_connection* connection, int code, const char* text);
  static int OnLog(const mg_connection* connection, const char* text);

  HttpAnswer AnswerTo(const mg_connection* connection) const;
  void Send(mg_connection* connection, const HttpAnswer& answer, bool with_body)
      ABSL_LOCKS_EXCLUDED(mu_);

  HttpAddress address_;
  std::vector<std::string> names_;
  uint16_t port_ = 0;
  std::map<std::string, HttpHandler> routes_;
  mg_context* context_ = nullptr;

  mutable storage::Mutex mu_;
  std::map<int, int64_t> requests_by_code_ ABSL_GUARDED_BY(mu_);
  std::string first_log_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
