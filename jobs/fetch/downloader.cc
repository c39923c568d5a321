#include "jobs/fetch/downloader.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "jobs/fetch/curl_failure.h"
#include "jobs/fetch/easy_handle.h"

namespace gannet::jobs {
namespace {

// Each with a hundred or so hosts when thousands are crawled.
constexpr size_t kMultis = 64;

// How much is reserved for a body because Content-Length says so.
constexpr size_t kMostReserved = 64 << 10;

}  // namespace

struct Downloader::Multi {
  CURLM* handle = nullptr;
  Downloader* owner = nullptr;
  absl::Time timeout = absl::InfiniteFuture();
};

struct Downloader::Slot {
  explicit Slot(const DownloadSettings& settings) : handle(settings) {}

  EasyHandle handle;
  Downloader* owner = nullptr;
  Multi* multi = nullptr;
  uint64_t id = 0;
  bool is_active = false;
  bool is_tls_begun = false;
  Request request;
  Response response;
  DeadlineQueue<Slot>::Place connect, first_byte, speed, end;
  absl::Duration late;     // The loop's, when it was asked.
  int64_t bytes_seen = 0;  // When the speed was looked at last.
  int socket_error = 0;    // Why there was no socket.
  bool head_complete = false;
  size_t header_bytes = 0;
  char error[CURL_ERROR_SIZE] = {};
};

absl::StatusOr<std::unique_ptr<Downloader>> Downloader::Create(
    DownloadSettings settings, EventLoop* loop, Permit permit, Done done) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK) {
    return absl::InternalError(
        fmt::format("libcurl does not start: {}", curl_easy_strerror(global)));
  }
  TlsTrust* const trust = TlsTrust::For(settings.ca_file);
  std::unique_ptr<Downloader> downloader(new Downloader(
      std::move(settings), trust, loop, std::move(permit), std::move(done)));
  const DownloadSettings& set = downloader->settings_;
  const size_t of_each = std::max<size_t>(
      1, (set.connections + set.max_idle_connections + kMultis - 1) / kMultis);
  for (size_t i = 0; i < kMultis; ++i) {
    auto multi = std::make_unique<Multi>();
    multi->owner = downloader.get();
    multi->handle = curl_multi_init();
    if (multi->handle == nullptr) {
      return absl::ResourceExhaustedError("libcurl has no memory");
    }
    curl_multi_setopt(multi->handle, CURLMOPT_SOCKETFUNCTION, OnSocket);
    curl_multi_setopt(multi->handle, CURLMOPT_SOCKETDATA, multi.get());
    curl_multi_setopt(multi->handle, CURLMOPT_TIMERFUNCTION, OnTimer);
    curl_multi_setopt(multi->handle, CURLMOPT_TIMERDATA, multi.get());
    // libcurl counts those in use and those kept together.
    curl_multi_setopt(multi->handle, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(of_each));
    downloader->multis_.push_back(std::move(multi));
  }
  return downloader;
}

Downloader::Downloader(DownloadSettings settings, TlsTrust* trust,
                       EventLoop* loop, Permit permit, Done done)
    : settings_(std::move(settings)),
      trust_(trust),
      loop_(loop),
      permit_(std::move(permit)),
      done_(std::move(done)) {}

Downloader::~Downloader() {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->is_active) {
      curl_multi_remove_handle(slot->multi->handle, slot->handle.get());
    }
  }
  slots_.clear();
  // Closing idle connections calls OnSocket, which needs the loop.
  for (const std::unique_ptr<Multi>& multi : multis_) {
    curl_multi_cleanup(multi->handle);
  }
}

Downloader::Slot* Downloader::TakeSlot() {
  if (free_.empty()) {
    slots_.push_back(std::make_unique<Slot>(settings_));
    slots_.back()->owner = this;
    SetCallbacks(*slots_.back());
    return slots_.back().get();
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

void Downloader::SetCallbacks(Slot& slot) {
  CURL* easy = slot.handle.get();
  const auto set = [easy](CURLoption option, auto value) {
    curl_easy_setopt(easy, option, value);
  };
  set(CURLOPT_PRIVATE, &slot);
  set(CURLOPT_ERRORBUFFER, slot.error);
  set(CURLOPT_HEADERFUNCTION, OnHeader);
  set(CURLOPT_HEADERDATA, &slot);
  set(CURLOPT_WRITEFUNCTION, OnBody);
  set(CURLOPT_WRITEDATA, &slot);
  set(CURLOPT_OPENSOCKETFUNCTION, OnOpenSocket);
  set(CURLOPT_OPENSOCKETDATA, &slot);
  // The only way to see the request as it was sent.
  set(CURLOPT_VERBOSE, 1L);
  set(CURLOPT_DEBUGFUNCTION, OnDebug);
  set(CURLOPT_DEBUGDATA, &slot);
  set(CURLOPT_SSL_CTX_FUNCTION, OnTlsContext);
  set(CURLOPT_SSL_CTX_DATA, &slot);
  set(CURLOPT_PREREQFUNCTION, OnConnected);
  set(CURLOPT_PREREQDATA, &slot);
}

void Downloader::Start(uint64_t id, Request request) {
  Slot& slot = *TakeSlot();
  slot.id = id;
  slot.is_active = true;
  slot.multi = multis_[request.host % kMultis].get();
  slot.request = std::move(request);
  slot.response = Response();
  slot.response.started = loop_->clock().Now();
  slot.late = loop_->late();
  slot.is_tls_begun = false;
  slot.bytes_seen = 0;
  slot.socket_error = 0;
  slot.response.address = slot.request.address;
  slot.head_complete = false;
  slot.header_bytes = 0;
  slot.error[0] = 0;

  slot.handle.SetRequest(slot.request);
  ++active_;
  const absl::Time now = loop_->ServedNow();
  connects_.Add(now + settings_.connect_timeout, &slot, slot.connect);
  first_bytes_.Add(now + settings_.first_byte_timeout, &slot, slot.first_byte);
  ends_.Add(now + settings_.timeout, &slot, slot.end);
  // Only asks for a call of OnTime(); nothing is sent yet.
  curl_multi_add_handle(slot.multi->handle, slot.handle.get());
}

size_t Downloader::OnHeader(char* data, size_t size, size_t count,
                            void* data_slot) {
  Slot& slot = *static_cast<Slot*>(data_slot);
  if (slot.first_byte.is_taken()) slot.owner->OnFirstByte(slot);
  const std::string_view line(data, size * count);
  slot.header_bytes += line.size();
  slot.response.bytes += static_cast<int64_t>(line.size());
  if (slot.header_bytes > slot.owner->settings_.max_header_bytes) {
    slot.response.failure = Failure::kHeadersTooLarge;
    return 0;
  }
  if (line.starts_with("HTTP/")) {
    // A new head: what came before was "100 Continue" or its like.
    slot.response.head.clear();
    slot.head_complete = false;
  } else if (slot.head_complete) {
    return line.size();  // A trailer.
  }
  slot.response.head += line;
  slot.head_complete = line == "\r\n" || line == "\n";
  return line.size();
}

size_t Downloader::OnBody(char* data, size_t size, size_t count,
                          void* data_slot) {
  Slot& slot = *static_cast<Slot*>(data_slot);
  Downloader& owner = *slot.owner;
  size_t length = size * count;
  slot.response.bytes += static_cast<int64_t>(length);
  const size_t room = slot.request.max_bytes - slot.response.body.size();
  if (length > room) {
    if (!slot.request.keep_cut) {
      slot.response.failure = Failure::kTooLarge;
      return CURL_WRITEFUNC_ERROR;
    }
    slot.response.is_cut = true;
    length = room;
  }
  // Over the limit, those responses fail that have more than their share.
  if (owner.buffered_ + length > owner.settings_.memory &&
      slot.response.body.size() + length >
          owner.settings_.memory / owner.active_) {
    slot.response.failure = Failure::kMemory;
    return CURL_WRITEFUNC_ERROR;
  }
  if (slot.response.body.empty()) {
    // Reserves room for the whole body if the server says how large it is.
    curl_off_t announced = 0;
    curl_easy_getinfo(slot.handle.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                      &announced);
    slot.response.body.reserve(static_cast<size_t>(std::clamp<curl_off_t>(
        announced, static_cast<curl_off_t>(length),
        static_cast<curl_off_t>(std::max(length, kMostReserved)))));
  }
  slot.response.body.append(data, length);
  owner.buffered_ += length;
  return slot.response.is_cut ? CURL_WRITEFUNC_ERROR : size * count;
}

// Connected, TLS included, or connected before: now the request goes out.
int Downloader::OnConnected(void* data_slot, char*, char*, int, int) {
  Slot& slot = *static_cast<Slot*>(data_slot);
  if (slot.connect.is_taken()) {
    slot.response.request_head.clear();  // A proxy's: CONNECT.
    slot.owner->connects_.Remove(slot.connect);
  }
  return CURL_PREREQFUNC_OK;
}

int Downloader::OnDebug(CURL*, curl_infotype type, char* data, size_t size,
                        void* data_slot) {
  if (type == CURLINFO_HEADER_OUT) {
    static_cast<Slot*>(data_slot)->response.request_head.append(data, size);
  }
  return 0;
}

// TCP is connected, TLS begins.
CURLcode Downloader::OnTlsContext(CURL*, void* context, void* data_slot) {
  Slot& slot = *static_cast<Slot*>(data_slot);
  slot.is_tls_begun = true;
  slot.owner->trust_->SetUp(static_cast<SSL_CTX*>(context), slot.request.port,
                            slot.owner->loop_->clock().SteadyNow());
  return CURLE_OK;
}

curl_socket_t Downloader::OnOpenSocket(void* data_slot, curlsocktype,
                                       curl_sockaddr* address) {
  Slot& slot = *static_cast<Slot*>(data_slot);
  // libcurl asks again, at once, if a connection that it kept dies without a
  // byte. To the server that is a second request without a delay.
  if (!slot.response.request_head.empty()) {
    slot.response.failure = Failure::kReset;
    return CURL_SOCKET_BAD;
  }
  // The operator named the proxy, so its address is not checked.
  if (slot.owner->settings_.proxy.empty()) {
    const std::optional<Address> real = Address::FromSockaddr(&address->addr);
    if (!real.has_value() || !slot.owner->permit_(*real)) {
      slot.response.failure = Failure::kAddressRefused;
      slot.response.detail =
          (real.has_value() ? real->ToString()
                            : "an address of no known kind") +
          " may not be connected to";
      return CURL_SOCKET_BAD;
    }
  }
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
                        address->protocol);
  if (fd < 0) slot.socket_error = errno;
  slot.response.had_socket = fd >= 0;
  return fd;
}

int Downloader::OnSocket(CURL*, curl_socket_t fd, int what, void* data_multi,
                         void*) {
  Multi& multi = *static_cast<Multi*>(data_multi);
  if (what == CURL_POLL_REMOVE) {
    multi.owner->loop_->Forget(fd);
    return 0;
  }
  uint32_t events = 0;
  if (what & CURL_POLL_IN) events |= EPOLLIN;
  if (what & CURL_POLL_OUT) events |= EPOLLOUT;
  if (multi.owner->loop_->SetEvents(fd, events)) return 0;
  multi.owner->loop_->Watch(fd, events, [&multi, fd](uint32_t ready) {
    int action = 0;
    if (ready & EPOLLIN) action |= CURL_CSELECT_IN;
    if (ready & EPOLLOUT) action |= CURL_CSELECT_OUT;
    if (ready & (EPOLLERR | EPOLLHUP)) action |= CURL_CSELECT_ERR;
    int running = 0;
    curl_multi_socket_action(multi.handle, fd, action, &running);
    multi.owner->Drain(multi);
  });
  return 0;
}

int Downloader::OnTimer(CURLM*, long milliseconds, void* data_multi) {
  Multi& multi = *static_cast<Multi*>(data_multi);
  multi.timeout = milliseconds < 0 ? absl::InfiniteFuture()
                                   : multi.owner->loop_->clock().SteadyNow() +
                                         absl::Milliseconds(milliseconds);
  return 0;
}

void Downloader::Drain(Multi& multi) {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi.handle, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Slot* slot = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
    Finish(*slot, message->data.result);
  }
}

// Whether the proxy has not yet connected us to the host.
bool Downloader::IsAtProxy(const Slot& slot) const {
  if (settings_.proxy.empty() || !slot.connect.is_taken()) return false;
  // TLS may be the proxy's own; its answer to CONNECT comes later.
  if (!settings_.proxy.starts_with("http")) return !slot.is_tls_begun;
  long status = 0;
  curl_easy_getinfo(slot.handle.get(), CURLINFO_HTTP_CONNECTCODE, &status);
  return status / 100 != 2;
}

void Downloader::Finish(Slot& slot, CURLcode code) {
  CurlEnd end;
  end.code = code;
  end.text = slot.error;
  curl_off_t connect_us = 0;
  long connections = 0;
  long status = 0;
  curl_easy_getinfo(slot.handle.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(slot.handle.get(), CURLINFO_NUM_CONNECTS, &connections);
  curl_easy_getinfo(slot.handle.get(), CURLINFO_CONNECT_TIME_T, &connect_us);
  Response response = std::move(slot.response);
  response.status = static_cast<int>(status);
  // If the loop was late, the sample would measure this machine and not the
  // host.
  if (connections > 0 && slot.late == loop_->late()) {
    response.connect_time = absl::Microseconds(connect_us);
  }
  if (response.failure == Failure::kNone && !response.is_cut) {
    if (code != CURLE_OK) {
      curl_easy_getinfo(slot.handle.get(), CURLINFO_SSL_VERIFYRESULT,
                        &end.verify_result);
      curl_easy_getinfo(slot.handle.get(), CURLINFO_OS_ERRNO, &end.os_error);
      if (slot.socket_error != 0) end.os_error = slot.socket_error;
      end.is_ipv6 = !slot.request.address.is_ipv4();
      end.at_proxy = IsAtProxy(slot);
      end.was_in_handshake = slot.is_tls_begun && slot.connect.is_taken();
      end.was_asked = !slot.connect.is_taken();
      end.had_answer = !response.head.empty();
      end.had_head = slot.head_complete;
    }
    response.failure = FailureOf(end);
  }
  curl_multi_remove_handle(slot.multi->handle, slot.handle.get());
  if (response.failure != Failure::kNone && response.detail.empty()) {
    response.detail = slot.socket_error != 0 ? std::strerror(slot.socket_error)
                      : slot.error[0] != 0   ? slot.error
                      : code != CURLE_OK     ? curl_easy_strerror(code)
                                             : "";
  }
  buffered_ -= response.body.size();
  connects_.Remove(slot.connect);
  first_bytes_.Remove(slot.first_byte);
  speeds_.Remove(slot.speed);
  ends_.Remove(slot.end);
  slot.is_active = false;
  --active_;
  free_.push_back(&slot);
  done_(slot.id, std::move(response));
}

// If there is no connection yet, the failure is that of connecting.
void Downloader::TimeOut(Slot& slot, Failure failure) {
  if (slot.connect.is_taken() && failure != Failure::kStopped) {
    failure =
        slot.is_tls_begun ? Failure::kTlsTimeout : Failure::kConnectTimeout;
  }
  slot.response.failure = failure;
  Finish(slot, CURLE_OPERATION_TIMEDOUT);
}

// From now on the speed is limited, not the time to the first byte.
void Downloader::OnFirstByte(Slot& slot) {
  first_bytes_.Remove(slot.first_byte);
  if (settings_.min_speed == 0) return;
  speeds_.Add(loop_->ServedNow() + settings_.min_speed_time, &slot, slot.speed);
}

void Downloader::CheckSpeed(Slot& slot, absl::Time now) {
  const int64_t received = slot.response.bytes - slot.bytes_seen;
  const double least = static_cast<double>(settings_.min_speed) *
                       absl::ToDoubleSeconds(settings_.min_speed_time);
  if (static_cast<double>(received) < least) {
    return TimeOut(slot, Failure::kTooSlow);
  }
  slot.bytes_seen = slot.response.bytes;
  speeds_.Remove(slot.speed);
  speeds_.Add(now + settings_.min_speed_time, &slot, slot.speed);
}

void Downloader::CheckDeadlines() {
  const absl::Time now = loop_->ServedNow();
  while (connects_.NextDue() <= now) {
    TimeOut(*connects_.First(), Failure::kConnectTimeout);
  }
  while (first_bytes_.NextDue() <= now) {
    TimeOut(*first_bytes_.First(), Failure::kFirstByte);
  }
  while (speeds_.NextDue() <= now) CheckSpeed(*speeds_.First(), now);
  while (ends_.NextDue() <= now) TimeOut(*ends_.First(), Failure::kTimeout);
}

void Downloader::StopAll() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i]->is_active) TimeOut(*slots_[i], Failure::kStopped);
  }
}

absl::Time Downloader::NextTimeout() const {
  absl::Time next =
      loop_->ToSteady(std::min({connects_.NextDue(), first_bytes_.NextDue(),
                                speeds_.NextDue(), ends_.NextDue()}));
  for (const std::unique_ptr<Multi>& multi : multis_) {
    next = std::min(next, multi->timeout);
  }
  return next;
}

void Downloader::OnTime() {
  const absl::Time now = loop_->clock().SteadyNow();
  for (const std::unique_ptr<Multi>& multi : multis_) {
    if (multi->timeout > now) continue;
    multi->timeout = absl::InfiniteFuture();
    int running = 0;
    curl_multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
    Drain(*multi);
  }
  // Otherwise an answer may be ready that was not read yet.
  if (loop_->is_drained()) CheckDeadlines();
}

}  // namespace gannet::jobs
