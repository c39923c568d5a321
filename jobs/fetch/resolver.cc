#include "jobs/fetch/resolver.h"

#include <ares.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"

namespace gannet::jobs {
namespace {

absl::Status StatusOfAres(const std::string& host, int status) {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
    case ARES_EBADNAME:
    case ARES_ENONAME:
      return absl::NotFoundError(
          fmt::format("{} has no address: {}", host, ares_strerror(status)));
    default:
      return absl::UnavailableError(
          fmt::format("cannot resolve {}: {}", host, ares_strerror(status)));
  }
}

// Errors that mean that this machine has run out of something. (Without IPv6 it
// has no address of its own to ask an IPv6 server from.)
bool IsShortage(int error, int family) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ENOMEM || error == EAGAIN ||
         (error == EADDRNOTAVAIL && family == AF_INET);
}

bool IsNumberOfPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == text.npos;
}

// "192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53".
bool IsServer(std::string_view text) {
  if (Address::Parse(text).has_value()) return true;
  const size_t colon = text.rfind(':');
  if (colon == text.npos || !IsNumberOfPort(text.substr(colon + 1))) {
    return false;
  }
  const std::string_view host = text.substr(0, colon);
  return (host.find(':') == host.npos || host.starts_with('[')) &&
         Address::Parse(host).has_value();
}

absl::Status Check(const ResolverSettings& settings) {
  const auto refuse = [](std::string_view what) {
    return absl::InvalidArgumentError(std::string(what));
  };
  for (const std::string& server : settings.servers) {
    if (!IsServer(server)) {
      return refuse(
          fmt::format("\"{}\" is not a DNS server; write ADDRESS or "
                      "ADDRESS:PORT, like 192.0.2.1:53",
                      server));
    }
  }
  if (settings.timeout < absl::Milliseconds(1) ||
      settings.timeout > absl::Hours(1)) {
    return refuse("the resolver's timeout must be from 1ms to 1h");
  }
  if (settings.tries < 1) return refuse("the resolver needs at least one try");
  if (settings.max_in_flight < 1) {
    return refuse("the resolver needs at least one query in flight");
  }
  if (settings.queries_per_second < 0) {
    return refuse("queries per second must not be negative (0: no limit)");
  }
  if (settings.min_ttl > settings.max_ttl) {
    return refuse("the smallest TTL is larger than the largest");
  }
  return absl::OkStatus();
}

}  // namespace

struct Resolver::Query {
  Resolver* resolver;
  std::string host;
  int family;
  uint64_t shortages_before;  // When it was asked.
};

absl::StatusOr<std::unique_ptr<Resolver>> Resolver::Create(
    ResolverSettings settings, EventLoop* loop) {
  if (absl::Status status = Check(settings); !status.ok()) return status;
  // Once in a process, and before other threads use it.
  static const int library = ares_library_init(ARES_LIB_INIT_ALL);
  if (library != ARES_SUCCESS) {
    return absl::InternalError(
        fmt::format("c-ares does not start: {}", ares_strerror(library)));
  }
  auto resolver =
      std::unique_ptr<Resolver>(new Resolver(std::move(settings), loop));
  const ResolverSettings& set = resolver->settings_;
  ares_options options = {};
  // Names are whole: no search domains, no HOSTALIASES. A socket that stays
  // open saves two system calls a query.
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_STAYOPEN;
  options.timeout = static_cast<int>(absl::ToInt64Milliseconds(set.timeout));
  options.tries = set.tries;
  options.sock_state_cb = [](void* self, int fd, int readable, int writable) {
    static_cast<Resolver*>(self)->WatchSocket(fd, readable != 0, writable != 0);
  };
  options.sock_state_cb_data = resolver.get();
  int status = ares_init_options(&resolver->channel_, &options,
                                 ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS |
                                     ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
  if (status == ARES_SUCCESS && !set.servers.empty()) {
    status = ares_set_servers_ports_csv(
        resolver->channel_,
        fmt::format("{}", fmt::join(set.servers, ",")).c_str());
  }
  if (status == ARES_SUCCESS) SetSocketFunctions(resolver.get());
  if (status != ARES_SUCCESS) {
    return absl::UnavailableError(
        fmt::format("the resolver does not start: {}", ares_strerror(status)));
  }
  return resolver;
}

// c-ares makes one error of all that can be wrong with a socket: so the sockets
// are made here, where what is wrong is seen. It sets no options of sockets
// that are not its own.
void Resolver::SetSocketFunctions(Resolver* resolver) {
  static constexpr ares_socket_functions kFunctions = {
      .asocket =
          [](int family, int type, int protocol, void* self) {
            const int fd =
                socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
            if (fd < 0 && IsShortage(errno, family)) {
              ++static_cast<Resolver*>(self)->shortages_;
            }
            return fd;
          },
      .aclose = [](int fd, void*) { return close(fd); },
      .aconnect =
          [](int fd, const sockaddr* address, ares_socklen_t size, void* self) {
            const int result = connect(fd, address, size);
            if (result != 0 && IsShortage(errno, address->sa_family)) {
              ++static_cast<Resolver*>(self)->shortages_;
            }
            return result;
          },
      .arecvfrom = [](int fd, void* data, size_t size, int flags,
                      sockaddr* from, ares_socklen_t* from_size,
                      void*) -> ares_ssize_t {
        return recvfrom(fd, data, size, flags, from, from_size);
      },
      .asendv = [](int fd, const iovec* parts, int count,
                   void*) -> ares_ssize_t {
        msghdr message = {};
        message.msg_iov = const_cast<iovec*>(parts);
        message.msg_iovlen = static_cast<size_t>(count);
        return sendmsg(fd, &message, MSG_NOSIGNAL);
      },
  };
  ares_set_socket_functions(resolver->channel_, &kFunctions, resolver);
}

Resolver::Resolver(ResolverSettings settings, EventLoop* loop)
    : settings_(std::move(settings)),
      loop_(loop),
      cache_(settings_.max_cached_names),
      // A tenth of a second's worth at once: a burst at the start of a round is
      // what the limit is for.
      tokens_(settings_.queries_per_second,
              settings_.queries_per_second / 10.0) {}

Resolver::~Resolver() {
  ending_ = true;
  if (channel_ != nullptr) ares_destroy(channel_);
}

void Resolver::Resolve(std::string_view host, Done done) {
  if (const std::optional<Address> literal = Address::Parse(host)) {
    return done(std::vector<Address>{*literal});
  }
  const std::string name =
      absl::AsciiStrToLower(absl::string_view(host.data(), host.size()));
  if (const Result* known = cache_.Find(name, SteadyNow())) {
    ++counts_.cached;
    // Copied: `done` may resolve another name, which may push this one out.
    return done(Result(*known));
  }
  std::vector<Done>& dones = asked_[name];
  dones.push_back(std::move(done));
  if (dones.size() > 1) return;
  waiting_.push_back({name, AF_INET});
  StartWaiting();
}

void Resolver::StartWaiting() {
  // Ask() may answer at once, and the callback may resolve another name: the
  // loop below will see it.
  if (starting_) return;
  starting_ = true;
  while (!waiting_.empty() && in_flight_ < settings_.max_in_flight &&
         tokens_.TakeToken(SteadyNow())) {
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    Ask(next.host, next.family);
  }
  starting_ = false;
}

void Resolver::Ask(const std::string& host, int family) {
  ++in_flight_;
  ++counts_.queries;
  ares_addrinfo_hints hints = {};
  // c-ares would sort by trying to connect to each address.
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  auto* query = new Query{this, host, family, shortages_};
  ares_getaddrinfo(
      channel_, query->host.c_str(), nullptr, &hints,
      [](void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
        const std::unique_ptr<Query> query(static_cast<Query*>(argument));
        const absl::Cleanup free = [answer] {
          if (answer != nullptr) ares_freeaddrinfo(answer);
        };
        if (query->resolver->ending_) return;
        query->resolver->OnAnswer(*query, status, answer);
      },
      query);
}

void Resolver::OnAnswer(const Query& query, int status, ares_addrinfo* answer) {
  const auto& [resolver, host, family, shortages_before] = query;
  --in_flight_;
  std::vector<Address> addresses;
  absl::Duration ttl = settings_.max_ttl;
  if (status == ARES_SUCCESS && answer != nullptr) {
    for (const ares_addrinfo_node* node = answer->nodes; node != nullptr;
         node = node->ai_next) {
      const auto address = Address::FromSockaddr(node->ai_addr);
      if (!address.has_value()) continue;
      addresses.push_back(*address);
      ttl = std::min(ttl, absl::Seconds(node->ai_ttl));
    }
    for (const ares_addrinfo_cname* cname = answer->cnames; cname != nullptr;
         cname = cname->next) {
      ttl = std::min(ttl, absl::Seconds(cname->ttl));
    }
    if (addresses.empty()) status = ARES_ENODATA;
  }
  if (!addresses.empty()) {
    return Finish(host, addresses, std::max(ttl, settings_.min_ttl));
  }
  // The name exists, without an IPv4 address. (ENOTFOUND says that it does not
  // exist at all.) It has waited its turn, so it goes first.
  if (status == ARES_ENODATA && family == AF_INET && settings_.ipv6) {
    waiting_.push_front({host, AF_INET6});
    return StartWaiting();
  }
  absl::Status failure = StatusOfAres(host, status);
  // It may have been another query's socket: then this name is asked for once
  // more than needed.
  if (absl::IsUnavailable(failure) && shortages_ != shortages_before) {
    failure = absl::ResourceExhaustedError(fmt::format(
        "no socket to resolve {} with: no file handle or port is left", host));
  }
  const bool not_found = absl::IsNotFound(failure);
  ++(not_found ? counts_.not_found : counts_.unavailable);
  Finish(host, failure,
         not_found ? settings_.negative_ttl : absl::ZeroDuration());
}

void Resolver::Finish(const std::string& host, const Result& result,
                      absl::Duration keep) {
  const absl::Time now = SteadyNow();
  if (keep > absl::ZeroDuration()) cache_.Put(host, result, now + keep);
  // Taken out first: a `done` may ask for the same name again.
  const auto it = asked_.find(host);
  const std::vector<Done> dones = std::move(it->second);
  asked_.erase(it);
  for (const Done& done : dones) done(result);
  StartWaiting();
}

void Resolver::WatchSocket(int fd, bool readable, bool writable) {
  if (!readable && !writable) return loop_->Forget(fd);
  const uint32_t events =
      (readable ? uint32_t{EPOLLIN} : 0) | (writable ? uint32_t{EPOLLOUT} : 0);
  loop_->Watch(fd, events, [this, fd](uint32_t ready) {
    // An error is found by reading.
    const bool read = ready & (EPOLLIN | EPOLLERR | EPOLLHUP);
    ares_process_fd(channel_, read ? fd : ARES_SOCKET_BAD,
                    (ready & EPOLLOUT) ? fd : ARES_SOCKET_BAD);
  });
}

absl::Time Resolver::NextTimeout() const {
  absl::Time next = absl::InfiniteFuture();
  timeval wait;
  if (ares_timeout(channel_, nullptr, &wait) != nullptr) {
    next = SteadyNow() + absl::DurationFromTimeval(wait);
  }
  if (!waiting_.empty() && in_flight_ < settings_.max_in_flight) {
    next = std::min(next, tokens_.NextToken(SteadyNow()));
  }
  return next;
}

void Resolver::OnTime() {
  ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  StartWaiting();
}

}  // namespace gannet::jobs
