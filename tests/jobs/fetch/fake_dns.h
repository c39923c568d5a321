// FakeDns is a DNS server on a loopback UDP port that says what a test told it
// to. It answers in the thread of the test's EventLoop, so nothing is hidden
// from the test. Not thread-safe.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/fetch/event_loop.h"

namespace gannet::jobs {

struct DnsRecord {
  std::string name;  // "www.example"
  uint16_t type;     // 1: A, 5: CNAME, 28: AAAA.
  uint32_t ttl;
  std::string data;  // "192.0.2.1", "2001:db8::1", or a name.
};

class FakeDns {
 public:
  enum Code {
    kNoError = 0,
    kFormErr = 1,
    kServFail = 2,
    kNxDomain = 3,
    kRefused = 5
  };

  explicit FakeDns(EventLoop* loop);
  ~FakeDns();

  // "127.0.0.1:40000"
  std::string server() const;

  // What a question for `name` gets, whatever is asked for; answers of another
  // type than asked for are left out (but CNAMEs).
  void Say(const std::string& name, std::vector<DnsRecord> records,
           Code code = kNoError);
  // No answer at all.
  void Ignore(const std::string& name);
  // These bytes, after the id of the question.
  void SayBytes(const std::string& name, std::string bytes);
  // A wrong answer first: another id than the question's.
  void SayForged(const std::string& name, std::vector<DnsRecord> forged,
                 std::vector<DnsRecord> real);

  // How often `name` was asked for as `type` (0: any).
  int asked(const std::string& name, uint16_t type = 0) const;
  int asked() const { return static_cast<int>(questions_.size()); }

 private:
  struct Answer {
    std::vector<DnsRecord> records;
    Code code = kNxDomain;
    bool silent = false;
    std::string bytes;
    std::vector<DnsRecord> forged;
  };

  void OnQuestion();
  void Send(const std::string& message, const sockaddr_in& to);

  EventLoop* const loop_;
  int fd_;
  std::map<std::string, Answer> answers_;
  std::vector<std::pair<std::string, uint16_t>> questions_;
};

}  // namespace gannet::jobs
