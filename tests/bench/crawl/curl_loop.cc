// The limit that crawlers are measured against: a bare libcurl loop over a list
// of URLs, which are fetched and thrown away. One thread, keep-alive, one
// request at a time per host, everything sent to one address. Hosts are spread
// over several multi handles, because one slows down with many hosts: measured
// with 5,000 hosts, 2,650 requests/s in one handle and 21,100 in forty.
//
//   curl_loop --connect-to 127.0.0.1:8080[,8443] --urls FILE
//             [--ca-file FILE] [--hosts-per-handle 100] [--connections 500]
//
// The port after the comma is for https URLs. The certificates of --ca-file are
// loaded once and shared by all connections, as a crawler should do; by default
// libcurl may load them again for each.
//
// Prints one JSON object.
#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Totals {
  int64_t pages = 0, failed = 0, bytes = 0, connections = 0;
};

struct Host {
  std::vector<std::string> urls;
  size_t next = 0;
};

// What all requests have in common. `store` is null where URLs are http only.
struct Target {
  curl_slist* connect_to = nullptr;
  X509_STORE* store = nullptr;
};

// `text` is "HOST:PORT" for all URLs, or "HOST:PORT,TLSPORT", as in gannet's
// --connect-to.
curl_slist* ConnectTo(const std::string& text) {
  const size_t comma = text.find(',');
  const std::string plain = text.substr(0, comma);
  if (comma == text.npos) {
    return curl_slist_append(nullptr, ("::" + plain).c_str());
  }
  const std::string host = plain.substr(0, plain.rfind(':'));
  curl_slist* list = curl_slist_append(nullptr, (":80:" + plain).c_str());
  return curl_slist_append(
      list, (":443:" + host + ":" + text.substr(comma + 1)).c_str());
}

// One multi handle and the hosts that it serves.
class Handle {
 public:
  Handle(const Target& target, int epoll_fd, Totals* totals)
      : target_(target),
        epoll_fd_(epoll_fd),
        totals_(totals),
        multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, OnSocket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, OnTimer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    // Without a limit libcurl keeps four connections per request under way.
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 100'000L);
  }
  ~Handle() {
    for (CURL* easy : easies_) {
      curl_multi_remove_handle(multi_, easy);
      curl_easy_cleanup(easy);
    }
    curl_multi_cleanup(multi_);
  }
  Handle(const Handle&) = delete;

  void Add(Host* host) { waiting_.push_back(host); }
  void Start(size_t at_once) {
    while (!waiting_.empty() && easies_.size() < at_once) {
      CURL* easy = curl_easy_init();
      easies_.push_back(easy);
      curl_easy_setopt(easy, CURLOPT_CONNECT_TO, target_.connect_to);
      curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
      curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBytes);
      curl_easy_setopt(easy, CURLOPT_WRITEDATA, totals_);
      curl_easy_setopt(easy, CURLOPT_USERAGENT, "curl_loop");
      if (target_.store != nullptr) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
        curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
        curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, OnTls);
        curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, target_.store);
      }
      Next(easy);
    }
  }

  void OnEvents(int fd, uint32_t events) {
    int bits = 0;
    if (events & EPOLLIN) bits |= CURL_CSELECT_IN;
    if (events & EPOLLOUT) bits |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP)) bits |= CURL_CSELECT_ERR;
    Act(fd, bits);
  }
  // Milliseconds until libcurl wants to be called; -1: never.
  int64_t Wait(int64_t now) const {
    return timer_ < 0 ? -1 : std::max<int64_t>(0, timer_ - now);
  }
  void OnTime(int64_t now) {
    if (timer_ < 0 || timer_ > now) return;
    timer_ = -1;
    Act(CURL_SOCKET_TIMEOUT, 0);
  }
  bool busy() const { return busy_ > 0; }

  // The handle that a socket belongs to, by descriptor.
  static std::vector<Handle*>& sockets() {
    static auto& sockets = *new std::vector<Handle*>();
    return sockets;
  }
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  // Gives `easy` its next URL: of the same host, so that the connection is used
  // again, or of a host that waits.
  void Next(CURL* easy) {
    Host* host = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &host);
    if (host == nullptr || host->next == host->urls.size()) {
      if (waiting_.empty()) return;
      host = waiting_.front();
      waiting_.pop_front();
    }
    curl_easy_setopt(easy, CURLOPT_PRIVATE, host);
    curl_easy_setopt(easy, CURLOPT_URL, host->urls[host->next++].c_str());
    curl_multi_add_handle(multi_, easy);
    ++busy_;
  }

  void Act(curl_socket_t fd, int bits) {
    int running = 0;
    curl_multi_socket_action(multi_, fd, bits, &running);
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      long code = 0, connects = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
      curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
      const bool good = message->data.result == CURLE_OK && code == 200;
      ++(good ? totals_->pages : totals_->failed);
      totals_->connections += connects;
      curl_multi_remove_handle(multi_, easy);
      --busy_;
      Next(easy);
    }
  }

  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self,
                      void* known) {
    auto* handle = static_cast<Handle*>(self);
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(handle->epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
      sockets()[fd] = nullptr;
      return 0;
    }
    epoll_event event = {};
    event.data.fd = fd;
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(handle->epoll_fd_,
              known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
    if (known == nullptr) curl_multi_assign(handle->multi_, fd, self);
    if (sockets().size() <= static_cast<size_t>(fd)) sockets().resize(fd + 1);
    sockets()[fd] = handle;
    return 0;
  }
  static int OnTimer(CURLM*, long wait_ms, void* self) {
    static_cast<Handle*>(self)->timer_ = wait_ms < 0 ? -1 : Now() + wait_ms;
    return 0;
  }
  static CURLcode OnTls(CURL*, void* context, void* store) {
    SSL_CTX_set1_cert_store(static_cast<SSL_CTX*>(context),
                            static_cast<X509_STORE*>(store));
    return CURLE_OK;
  }
  static size_t OnBytes(char*, size_t size, size_t count, void* totals) {
    static_cast<Totals*>(totals)->bytes += static_cast<int64_t>(size * count);
    return size * count;
  }

  const Target target_;
  const int epoll_fd_;
  Totals* const totals_;
  CURLM* const multi_;
  std::deque<Host*> waiting_;
  std::vector<CURL*> easies_;
  int busy_ = 0;
  int64_t timer_ = -1;
};

std::string_view HostOf(std::string_view url) {
  const size_t begin = url.find("://");
  if (begin == url.npos) return url;
  return url.substr(begin + 3, url.find('/', begin + 3) - begin - 3);
}

[[noreturn]] void Fail(const std::string& why) {
  fmt::print(stderr,
             "error: {}\nusage: curl_loop --connect-to HOST:PORT[,TLSPORT] "
             "--urls FILE [--ca-file FILE] [--hosts-per-handle N] "
             "[--connections N]\n",
             why);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  std::string connect_to, url_file, ca_file;
  size_t hosts_per_handle = 100, connections = 500;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 == argc) Fail(flag + " needs a value");
    const std::string value = argv[++i];
    if (flag == "--connect-to") {
      connect_to = value;
    } else if (flag == "--urls") {
      url_file = value;
    } else if (flag == "--ca-file") {
      ca_file = value;
    } else if (flag == "--hosts-per-handle") {
      hosts_per_handle = std::max(1, std::atoi(value.c_str()));
    } else if (flag == "--connections") {
      connections = std::max(1, std::atoi(value.c_str()));
    } else {
      Fail("unknown flag " + flag);
    }
  }
  if (connect_to.empty() || url_file.empty()) Fail("a flag is missing");

  std::ifstream in(url_file);
  if (!in) Fail("cannot read " + url_file);
  std::unordered_map<std::string, size_t> places;
  std::vector<Host> hosts;
  for (std::string url; std::getline(in, url);) {
    const auto [it, is_new] =
        places.emplace(std::string(HostOf(url)), hosts.size());
    if (is_new) hosts.emplace_back();
    hosts[it->second].urls.push_back(url);
  }
  if (hosts.empty()) Fail(url_file + " holds no URLs");

  curl_global_init(CURL_GLOBAL_DEFAULT);
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  Totals totals;
  const auto start = std::chrono::steady_clock::now();
  Target target;
  target.connect_to = ConnectTo(connect_to);
  if (!ca_file.empty()) {
    target.store = X509_STORE_new();
    if (X509_STORE_load_file(target.store, ca_file.c_str()) != 1) {
      Fail("cannot read certificates of " + ca_file);
    }
  }
  std::vector<std::unique_ptr<Handle>> handles;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (i % hosts_per_handle == 0) {
      handles.push_back(std::make_unique<Handle>(target, epoll_fd, &totals));
    }
    handles.back()->Add(&hosts[i]);
  }
  for (auto& handle : handles) {
    handle->Start(std::max<size_t>(1, connections / handles.size()));
  }
  std::vector<epoll_event> events(512);
  while (true) {
    int64_t wait = 1000;
    bool busy = false;
    const int64_t before = Handle::Now();
    for (auto& handle : handles) {
      busy |= handle->busy();
      const int64_t own = handle->Wait(before);
      if (own >= 0) wait = std::min(wait, own);
    }
    if (!busy) break;
    const int count =
        epoll_wait(epoll_fd, events.data(), static_cast<int>(events.size()),
                   static_cast<int>(wait));
    for (int i = 0; i < count; ++i) {
      Handle* handle = Handle::sockets()[events[i].data.fd];
      if (handle != nullptr) {
        handle->OnEvents(events[i].data.fd, events[i].events);
      }
    }
    const int64_t now = Handle::Now();
    for (auto& handle : handles) handle->OnTime(now);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  fmt::print(
      "{{\"pages\": {}, \"failed\": {}, \"bytes\": {}, \"hosts\": {}, "
      "\"connections\": {}, \"seconds\": {:.3f}, \"pages_per_second\": {:.0f}, "
      "\"cpu_seconds\": {:.3f}, \"peak_rss_kib\": {}}}\n",
      totals.pages, totals.failed, totals.bytes, hosts.size(),
      totals.connections, seconds, static_cast<double>(totals.pages) / seconds,
      in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime), usage.ru_maxrss);
  handles.clear();
  X509_STORE_free(target.store);
  curl_slist_free_all(target.connect_to);
  return totals.failed == 0 ? 0 : 1;
}
