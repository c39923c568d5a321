// Decides how a request is answered: the bytes, and how they are sent (late,
// slowly, without end, cut off). Knows HTTP but no sockets; the server does the
// sending. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "storage/mutex.h"
#include "tests/fake_web/html_page.h"
#include "tests/fake_web/http_request.h"
#include "tests/fake_web/web.h"
#include "tests/fake_web/web_clock.h"

namespace gannet::fake_web {

// What follows a reply's last byte.
enum class ReplyEnd : uint8_t {
  kKeepAlive,
  kClose,
  kReset,    // RST instead of FIN.
  kStall,    // Silence, until the asker gives up.
  kEndless,  // `endless` again and again, until the asker gives up.
};

struct Reply {
  std::string bytes;  // Head and body.
  size_t head_size = 0;
  int status = 0;  // 0 if no status line is sent.
  Nasty kind = Nasty::kNone;
  ReplyEnd end = ReplyEnd::kKeepAlive;
  absl::Duration delay;  // How long to wait before the first byte.
  absl::Duration drip;   // If not zero, the bytes are spread over this time.
  std::string_view endless;

  void Clear() {
    bytes.clear();  // Keeps its memory.
    head_size = 0;
    status = 0;
    kind = Nasty::kNone;
    end = ReplyEnd::kKeepAlive;
    delay = drip = absl::ZeroDuration();
    endless = {};
  }
};

class Responder {
 public:
  // `web` and `clock` must outlive this.
  Responder(const Web* web, const WebClock* clock);

  // `asker`: IPv4 address, host byte order. `reply` is cleared first.
  void Respond(const Request& request, uint32_t asker, Reply* reply)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Answers bytes that are not a request, or a request with too long a head.
  static void RespondBad(ParseResult why, Reply* reply);

  const Web& web() const { return *web_; }

  // The ports that the page for people names; without TLS it names the port
  // that was asked. REQUIRES: no thread calls Respond yet.
  void set_ports(uint16_t port, uint16_t tls_port) {
    port_ = port;
    tls_port_ = tls_port;
  }

 private:
  void RespondRobots(const Request& request, uint32_t host, Reply* reply);
  void RespondPage(const Request& request, const Ref& ref, Reply* reply);
  void RespondOdd(const Request& request, const Ref& ref, Reply* reply)
      ABSL_LOCKS_EXCLUDED(mu_);
  void RespondHostile(const Ref& ref, Reply* reply);
  void RespondHtml(const Request& request, const Ref& ref,
                   std::string_view extra_headers, Reply* reply);
  void RespondNonHtml(const Ref& ref, Reply* reply);
  // Answers people: for unknown hosts and /_web/HOST/PATH. (people_page.cc)
  void RespondPerson(const Request& request, Reply* reply);

  // Counts a request; returns how often `ref` was asked for before.
  uint32_t CountTry(const Ref& ref) ABSL_LOCKS_EXCLUDED(mu_);

  const Web* const web_;
  const WebClock* const clock_;
  const HtmlPages pages_;
  uint16_t port_ = 0;
  uint16_t tls_port_ = 0;  // 0: none.

  storage::Mutex mu_;
  // Has only pages that recover after some tries.
  absl::flat_hash_map<Ref, uint32_t> tries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::fake_web
