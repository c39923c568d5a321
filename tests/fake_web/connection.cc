#include "tests/fake_web/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gannet::fake_web {
namespace {

constexpr size_t kReadBytes = 16 * 1024;
constexpr uint32_t kDripTicks = 20;
// Steps after which other connections get their turn.
constexpr int kStepsPerTurn = 64;
constexpr size_t kMostKeptReplyBytes = 1 << 20;
constexpr int64_t kLingerNs = 1'000'000'000;

}  // namespace

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

Connection::Connection(int fd, std::unique_ptr<Stream> stream, uint32_t address,
                       uint32_t asker, ConnectionContext* context)
    : fd_(fd),
      stream_(std::move(stream)),
      tls_(stream_->tls()),
      address_(address),
      asker_(asker),
      context_(context) {}

Connection::~Connection() {
  if (replying_) Log(LogEnd::kAborted);
  close(fd_);
}

Connection::Next Connection::Run(uint32_t events) {
  if (events & EPOLLIN) readable_ = true;
  if (events & EPOLLOUT) writable_ = true;
  // A TLS stream may read to write, and write to read: try both.
  if (tls_ && events != 0) readable_ = writable_ = true;
  if (events & (EPOLLHUP | EPOLLERR)) return Next::kClose;
  if (events & EPOLLRDHUP) {
    peer_left_ = true;
    readable_ = true;
    // The peer has closed. It may still read an answer, but a stalled one will
    // never come.
    if (state_ == State::kStalled) return Next::kClose;
  }
  if (timer_ns_ != 0) {
    if (MonotonicNs() < timer_ns_) {
      // While a timer runs, the socket's events do not matter, except when
      // lingering, which ends when the peer has closed.
      if (state_ != State::kLingering) return Next::kTimer;
    } else {
      timer_ns_ = 0;
      if (state_ == State::kLingering) return Next::kClose;
      if (state_ == State::kWaiting) state_ = State::kSending;
    }
  }
  for (int i = 0; i < kStepsPerTurn; ++i) {
    Step step = Step::kBlocked;
    switch (state_) {
      case State::kReading:
        step = TakeRequest();
        break;
      case State::kSending:
        step = Send();
        break;
      case State::kLingering:
        in_.clear();
        step = Read();
        break;
      case State::kWaiting:
      case State::kStalled:
        break;
    }
    if (step == Step::kClose) return Next::kClose;
    if (step == Step::kBlocked) return WhenBlocked();
  }
  return Next::kAgain;
}

Connection::Next Connection::WhenBlocked() const {
  return timer_ns_ != 0 ? Next::kTimer : Next::kWait;
}

Connection::Step Connection::Read() {
  if (!readable_) return Step::kBlocked;
  // Not read into in_ directly, because growing a string first writes zeros
  // (which once took 4 % of all time).
  thread_local std::array<char, kReadBytes> buffer;
  const ssize_t n = stream_->Receive(buffer.data(), buffer.size());
  if (n > 0) in_.append(buffer.data(), static_cast<size_t>(n));
  if (n == 0) return Step::kClose;
  if (n < 0) {
    if (errno == EINTR) return Step::kGoOn;
    if (errno != EAGAIN) return Step::kClose;
    readable_ = false;
    return Step::kBlocked;
  }
  // A short read has emptied the socket (epoll(7)); if the peer has closed, the
  // next read says so. A TLS stream may still hold bytes.
  if (static_cast<size_t>(n) < kReadBytes && !peer_left_ && !tls_) {
    readable_ = false;
  }
  return Step::kGoOn;
}

Connection::Step Connection::TakeRequest() {
  if (in_.empty()) return Read();
  const ParseResult result = ParseRequest(in_, &request_, &request_size_);
  if (result == ParseResult::kNeedMore) return Read();
  arrival_ns_ = MonotonicNs();
  if (result == ParseResult::kComplete) {
    request_.tls = tls_;
    context_->responder()->Respond(request_, asker_, &reply_);
  } else {
    request_ = Request();
    request_size_ = in_.size();
    Responder::RespondBad(result, &reply_);
  }
  StartReply();
  return state_ == State::kWaiting ? Step::kBlocked : Step::kGoOn;
}

void Connection::StartReply() {
  replying_ = true;
  sent_ = 0;
  sent_in_all_ = 0;
  drip_tick_ = 0;
  last_send_ns_ = arrival_ns_;
  state_ = State::kSending;
  if (reply_.delay > absl::ZeroDuration()) {
    state_ = State::kWaiting;
    timer_ns_ = arrival_ns_ + absl::ToInt64Nanoseconds(reply_.delay);
  }
}

Connection::Step Connection::Send() {
  const bool drips = reply_.drip > absl::ZeroDuration();
  size_t until = reply_.bytes.size();
  if (drips) until = until * (drip_tick_ + 1) / kDripTicks;
  while (sent_ < until) {
    if (!writable_) return Step::kBlocked;
    // Taken before the call, because the asker cannot have the bytes earlier.
    last_send_ns_ = MonotonicNs();
    const ssize_t n = stream_->Send(reply_.bytes.data() + sent_, until - sent_);
    if (n <= 0) {
      if (n == 0) return Step::kClose;  // TLS: the peer has closed.
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return Step::kClose;
      writable_ = false;
      return Step::kBlocked;
    }
    sent_ += static_cast<size_t>(n);
    sent_in_all_ += static_cast<uint64_t>(n);
  }
  if (drips && ++drip_tick_ < kDripTicks) {
    timer_ns_ = MonotonicNs() +
                absl::ToInt64Nanoseconds(reply_.drip / int64_t{kDripTicks});
    state_ = State::kWaiting;
    return Step::kBlocked;
  }
  return FinishReply();
}

Connection::Step Connection::FinishReply() {
  switch (reply_.end) {
    case ReplyEnd::kStall:
      state_ = State::kStalled;
      return peer_left_ ? Step::kClose : Step::kBlocked;
    case ReplyEnd::kEndless:
      reply_.bytes = reply_.endless;
      sent_ = 0;
      return Step::kGoOn;
    case ReplyEnd::kReset: {
      Log(LogEnd::kReset);
      const linger at_once = {.l_onoff = 1, .l_linger = 0};
      setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      return Step::kClose;
    }
    case ReplyEnd::kClose:
      Log(LogEnd::kWhole);
      // Closing with bytes unread would reset the connection and might take
      // the reply with it: wait for the peer to close first.
      stream_->FinishSending();
      state_ = State::kLingering;
      readable_ = true;
      timer_ns_ = MonotonicNs() + kLingerNs;
      return Step::kGoOn;
    case ReplyEnd::kKeepAlive:
      break;
  }
  Log(LogEnd::kWhole);
  in_.erase(0, request_size_);
  if (reply_.bytes.capacity() > kMostKeptReplyBytes) {
    std::string().swap(reply_.bytes);
  }
  state_ = State::kReading;
  return Step::kGoOn;
}

void Connection::Log(LogEnd end) {
  replying_ = false;
  LogEntry entry;
  entry.arrival_ns = arrival_ns_;
  entry.end_ns = last_send_ns_;
  entry.address = address_;
  entry.asker = asker_;
  entry.status = reply_.status;
  entry.bytes = sent_in_all_;
  entry.kind = reply_.kind;
  entry.end = end;
  entry.tls = tls_;
  if (context_->wants_log()) {
    // Logs the name as the web spells it, without the asker's port and
    // capitals.
    entry.host = std::string(request_.host.substr(0, request_.host.rfind(':')));
    for (char& c : entry.host) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
    }
    entry.target = std::string(request_.target);
  }
  context_->Answered(std::move(entry));
}

}  // namespace gannet::fake_web
