#include "jobs/fetch/downloader.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

#include "jobs/fetch/steady_now.h"

namespace gannet::jobs {
namespace {

// Each with a hundred or so hosts when thousands are crawled.
constexpr size_t kMultis = 64;

// Of a body, on the server's word alone.
constexpr size_t kMostReserved = 64 << 10;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListDeleter>;

void Append(List& list, const std::string& line) {
  list.reset(curl_slist_append(list.release(), line.c_str()));
}

Failure FailureOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return Failure::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Failure::kDns;
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED:
      return Failure::kConnect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ISSUER_ERROR:
      return Failure::kTls;
    case CURLE_OPERATION_TIMEDOUT:
      return Failure::kTimeout;
    case CURLE_FILESIZE_EXCEEDED:
      return Failure::kTooLarge;
    case CURLE_PARTIAL_FILE:
      return Failure::kCutShort;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
    case CURLE_HTTP2:
      return Failure::kReset;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9: not a word of HTTP.
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure::kGarbage;
    default:
      return Failure::kInternal;
  }
}

}  // namespace

struct Downloader::Multi {
  CURLM* handle = nullptr;
  Downloader* owner = nullptr;
  absl::Time timeout = absl::InfiniteFuture();
};

struct Downloader::Slot {
  CURL* easy = nullptr;
  Downloader* owner = nullptr;
  Multi* multi = nullptr;
  uint64_t id = 0;
  uint64_t serial = 0;  // 0: free.
  Request request;
  Response response;
  absl::Time asked;  // As SteadyNow() sees it.
  // What the handle has been told, and need not be told again.
  List headers;
  bool headers_are_plain = false;  // No validators among them.
  bool headers_compressed = false;
  List connect_to;
  Address address;
  uint16_t port = 0;
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
  absl::StatusOr<TlsTrust*> trust = TlsTrust::For(settings.ca_file);
  if (!trust.ok()) return trust.status();
  std::unique_ptr<Downloader> downloader(new Downloader(
      std::move(settings), *trust, loop, std::move(permit), std::move(done)));
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
    curl_multi_setopt(
        multi->handle, CURLMOPT_MAXCONNECTS,
        static_cast<long>(std::max<size_t>(
            1, downloader->settings_.max_idle_connections / kMultis)));
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
    if (slot->serial != 0) {
      curl_multi_remove_handle(slot->multi->handle, slot->easy);
    }
    curl_easy_cleanup(slot->easy);
  }
  // Closing idle connections calls OnSocket, which needs the loop.
  for (const std::unique_ptr<Multi>& multi : multis_) {
    curl_multi_cleanup(multi->handle);
  }
}

Downloader::Slot* Downloader::TakeSlot() {
  if (free_.empty()) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->owner = this;
    slots_.back()->easy = curl_easy_init();
    SetUp(*slots_.back());
    return slots_.back().get();
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

// What is the same for all requests is set once in a handle's life.
void Downloader::SetUp(Slot& slot) {
  CURL* easy = slot.easy;
  const auto set = [easy](CURLoption option, auto value) {
    curl_easy_setopt(easy, option, value);
  };
  const auto milliseconds = [](absl::Duration duration) {
    return static_cast<long>(absl::ToInt64Milliseconds(duration));
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

  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(settings_.http2 ? CURL_HTTP_VERSION_2TLS
                                        : CURL_HTTP_VERSION_1_1));
  // Bodies are archived as they came; who reads them decodes.
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_PROXY, settings_.proxy.c_str());
  if (!settings_.source_address.empty()) {
    set(CURLOPT_INTERFACE, ("host!" + settings_.source_address).c_str());
  }
  // Whom to trust, and sessions, are TlsTrust's.
  set(CURLOPT_CAINFO, static_cast<const char*>(nullptr));
  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  set(CURLOPT_SSL_CTX_FUNCTION, OnTlsContext);
  set(CURLOPT_SSL_CTX_DATA, trust_);
  set(CURLOPT_USERAGENT, settings_.user_agent.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(settings_.connect_timeout));
  set(CURLOPT_TIMEOUT_MS, milliseconds(settings_.timeout));
  set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(settings_.min_speed));
  set(CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(absl::ToInt64Seconds(settings_.min_speed_time)));
  if (settings_.bandwidth > 0) {
    set(CURLOPT_MAX_RECV_SPEED_LARGE,
        static_cast<curl_off_t>(settings_.bandwidth));
  }
  // Names are resolved before they come here; otherwise each request would
  // prune the whole cache.
  set(CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  set(CURLOPT_TCP_NODELAY, 1L);
}

void Downloader::SetHeaders(Slot& slot) {
  const Request& request = slot.request;
  // A slot asks for page after page with the same fields.
  const bool is_plain =
      request.if_none_match.empty() && request.if_modified_since.empty();
  if (is_plain && slot.headers_are_plain &&
      slot.headers_compressed == request.compressed) {
    return;
  }
  slot.headers_are_plain = is_plain;
  slot.headers_compressed = request.compressed;
  slot.headers.reset();
  Append(slot.headers, "Accept: " + settings_.accept);
  if (!settings_.accept_language.empty()) {
    Append(slot.headers, "Accept-Language: " + settings_.accept_language);
  }
  Append(slot.headers, request.compressed
                           ? "Accept-Encoding: gzip, deflate, br, zstd"
                           : "Accept-Encoding: identity");
  if (!request.if_none_match.empty()) {
    Append(slot.headers, "If-None-Match: " + request.if_none_match);
  }
  if (!request.if_modified_since.empty()) {
    Append(slot.headers, "If-Modified-Since: " + request.if_modified_since);
  }
  curl_easy_setopt(slot.easy, CURLOPT_HTTPHEADER, slot.headers.get());
}

void Downloader::SetAddress(Slot& slot) {
  const Request& request = slot.request;
  if (slot.connect_to != nullptr && slot.port == request.port &&
      slot.address == request.address) {
    return;
  }
  slot.address = request.address;
  slot.port = request.port;
  slot.connect_to.reset();
  const std::string address = request.address.ToString();
  Append(slot.connect_to,
         request.address.is_ipv4()
             ? fmt::format("::{}:{}", address, request.port)
             : fmt::format("::[{}]:{}", address, request.port));
  curl_easy_setopt(slot.easy, CURLOPT_CONNECT_TO, slot.connect_to.get());
}

void Downloader::Start(uint64_t id, Request request) {
  Slot& slot = *TakeSlot();
  slot.id = id;
  slot.serial = ++serial_;
  slot.multi = multis_[request.host % kMultis].get();
  slot.request = std::move(request);
  slot.response = Response();
  slot.response.started = absl::Now();
  slot.asked = SteadyNow();
  slot.response.address = slot.request.address;
  slot.head_complete = false;
  slot.header_bytes = 0;
  slot.error[0] = 0;

  SetHeaders(slot);
  if (settings_.proxy.empty()) SetAddress(slot);
  curl_easy_setopt(slot.easy, CURLOPT_URL, slot.request.url.c_str());
  curl_easy_setopt(
      slot.easy, CURLOPT_REQUEST_TARGET,
      settings_.proxy.empty() ? slot.request.target.c_str() : nullptr);
  ++active_;
  first_bytes_.push_back(
      {slot.asked + settings_.first_byte_timeout, &slot, slot.serial});
  // Only asks for a call of OnTime(); nothing is sent yet.
  curl_multi_add_handle(slot.multi->handle, slot.easy);
}

size_t Downloader::OnHeader(char* data, size_t size, size_t count,
                            void* data_slot) {
  Slot& slot = *static_cast<Slot*>(data_slot);
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
  // Over the limit those pay who have more than their share.
  if (owner.buffered_ + length > owner.settings_.memory &&
      slot.response.body.size() + length >
          owner.settings_.memory / owner.active_) {
    slot.response.failure = Failure::kMemory;
    return CURL_WRITEFUNC_ERROR;
  }
  if (slot.response.body.empty()) {
    // Room for all of it at once, if the server says how much, and is believed.
    curl_off_t announced = 0;
    curl_easy_getinfo(slot.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                      &announced);
    slot.response.body.reserve(static_cast<size_t>(std::clamp<curl_off_t>(
        announced, static_cast<curl_off_t>(length),
        static_cast<curl_off_t>(std::max(length, kMostReserved)))));
  }
  slot.response.body.append(data, length);
  owner.buffered_ += length;
  return slot.response.is_cut ? CURL_WRITEFUNC_ERROR : size * count;
}

int Downloader::OnDebug(CURL*, curl_infotype type, char* data, size_t size,
                        void* data_slot) {
  if (type == CURLINFO_HEADER_OUT) {
    static_cast<Slot*>(data_slot)->response.request_head.append(data, size);
  }
  return 0;
}

CURLcode Downloader::OnTlsContext(CURL*, void* context, void* trust) {
  static_cast<TlsTrust*>(trust)->SetUp(static_cast<SSL_CTX*>(context));
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
  // A proxy is the operator's own word.
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
  return socket(address->family, address->socktype | SOCK_CLOEXEC,
                address->protocol);
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
  static_cast<Multi*>(data_multi)->timeout =
      milliseconds < 0 ? absl::InfiniteFuture()
                       : SteadyNow() + absl::Milliseconds(milliseconds);
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

void Downloader::Finish(Slot& slot, CURLcode code) {
  curl_multi_remove_handle(slot.multi->handle, slot.easy);
  Response response = std::move(slot.response);
  long status = 0;
  curl_easy_getinfo(slot.easy, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  long connections = 0;
  curl_off_t connect_us = 0;
  curl_easy_getinfo(slot.easy, CURLINFO_NUM_CONNECTS, &connections);
  if (connections > 0 && curl_easy_getinfo(slot.easy, CURLINFO_CONNECT_TIME_T,
                                           &connect_us) == CURLE_OK) {
    response.connect_time = absl::Microseconds(connect_us);
  }
  if (response.failure == Failure::kNone && !response.is_cut) {
    response.failure = FailureOf(code);
    // libcurl has one code for both.
    if (response.failure == Failure::kTimeout &&
        SteadyNow() - slot.asked <
            settings_.timeout - absl::Milliseconds(100)) {
      response.failure =
          response.head.empty() ? Failure::kConnect : Failure::kTooSlow;
    }
  }
  if (response.failure != Failure::kNone && response.detail.empty()) {
    response.detail = slot.error[0] != 0 ? slot.error
                      : code != CURLE_OK ? curl_easy_strerror(code)
                                         : FailureName(response.failure);
  }
  buffered_ -= response.body.size();
  slot.serial = 0;
  --active_;
  free_.push_back(&slot);
  done_(slot.id, std::move(response));
}

void Downloader::CheckFirstBytes(absl::Time now) {
  while (!first_bytes_.empty() && first_bytes_.front().time <= now) {
    const Due due = first_bytes_.front();
    first_bytes_.pop_front();
    if (due.slot->serial != due.serial || !due.slot->response.head.empty()) {
      continue;
    }
    due.slot->response.failure = Failure::kFirstByte;
    Finish(*due.slot, CURLE_OPERATION_TIMEDOUT);
  }
}

void Downloader::StopAll() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i]->serial == 0) continue;
    slots_[i]->response.failure = Failure::kStopped;
    Finish(*slots_[i], CURLE_OK);
  }
}

absl::Time Downloader::NextTimeout() const {
  absl::Time next =
      first_bytes_.empty() ? absl::InfiniteFuture() : first_bytes_.front().time;
  for (const std::unique_ptr<Multi>& multi : multis_) {
    next = std::min(next, multi->timeout);
  }
  return next;
}

void Downloader::OnTime() {
  const absl::Time now = SteadyNow();
  for (const std::unique_ptr<Multi>& multi : multis_) {
    if (multi->timeout > now) continue;
    multi->timeout = absl::InfiniteFuture();
    int running = 0;
    curl_multi_socket_action(multi->handle, CURL_SOCKET_TIMEOUT, 0, &running);
    Drain(*multi);
  }
  CheckFirstBytes(now);
}

}  // namespace gannet::jobs
