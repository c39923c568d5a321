// Downloader makes HTTP requests, many at a time, in one thread: libcurl's
// multi interface with every limit that keeps a hostile server from holding a
// connection, filling the memory, or leading us where we may not go. It knows
// no robots.txt, no politeness and no redirects: what to ask, and when, is the
// Fetcher's.
//
// A multi handle grows slow with its number of hosts, so there are several, and
// a host always uses the same one, where its connection waits for it
// (measured: 3,000 hosts in one handle 2,700 requests/s, in 40 handles 21,000).
//
// All time limits are our own, and by the loop's ServedNow(): libcurl's would
// blame a server for the time in which this machine was too busy to listen.
//
// Not thread-safe.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/deadline_queue.h"
#include "jobs/fetch/download_request.h"
#include "jobs/fetch/event_loop.h"
#include "jobs/fetch/response.h"
#include "jobs/fetch/tls_trust.h"

namespace gannet::jobs {

class Downloader {
 public:
  // Never called from Start(), only from the event loop and OnTime().
  using Done = std::function<void(uint64_t id, Response response)>;
  // Decides about the address that is really connected to.
  using Permit = std::function<bool(const Address& address)>;

  // `loop` must outlive this.
  static absl::StatusOr<std::unique_ptr<Downloader>> Create(
      DownloadSettings settings, EventLoop* loop, Permit permit, Done done);
  ~Downloader();

  void Start(uint64_t id, Request request);
  size_t active() const { return active_; }
  // Of these: still to be connected, TLS included.
  size_t connecting() const { return connects_.size(); }
  // Ends all requests with kStopped.
  void StopAll();

  // When OnTime() is to be called next.
  absl::Time NextTimeout() const;
  void OnTime();

 private:
  struct Slot;
  struct Multi;

  Downloader(DownloadSettings settings, TlsTrust* trust, EventLoop* loop,
             Permit permit, Done done);
  Slot* TakeSlot();
  void SetCallbacks(Slot& slot);
  bool IsAtProxy(const Slot& slot) const;
  void Finish(Slot& slot, CURLcode code);
  void Drain(Multi& multi);
  void OnFirstByte(Slot& slot);
  void CheckDeadlines();
  void CheckSpeed(Slot& slot, absl::Time now);
  void TimeOut(Slot& slot, Failure failure);

  static size_t OnHeader(char* data, size_t size, size_t count, void* slot);
  static size_t OnBody(char* data, size_t size, size_t count, void* slot);
  static int OnConnected(void* slot, char* address, char* local, int port,
                         int local_port);
  static int OnDebug(CURL* handle, curl_infotype type, char* data, size_t size,
                     void* slot);
  static CURLcode OnTlsContext(CURL* easy, void* context, void* slot);
  static curl_socket_t OnOpenSocket(void* slot, curlsocktype purpose,
                                    curl_sockaddr* address);
  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* multi,
                      void* socket);
  static int OnTimer(CURLM* handle, long milliseconds, void* multi);

  const DownloadSettings settings_;
  TlsTrust* const trust_;
  EventLoop* const loop_;
  const Permit permit_;
  const Done done_;
  std::vector<std::unique_ptr<Multi>> multis_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
  size_t active_ = 0;
  size_t buffered_ = 0;  // Bytes of all bodies under way.
  // Deadlines by ServedNow(): connected, first byte, enough bytes lately, whole
  // answer.
  DeadlineQueue<Slot> connects_;
  DeadlineQueue<Slot> first_bytes_;
  DeadlineQueue<Slot> speeds_;
  DeadlineQueue<Slot> ends_;
};

}  // namespace gannet::jobs
