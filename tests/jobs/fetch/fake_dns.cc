#include "tests/jobs/fetch/fake_dns.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jobs/fetch/address.h"

namespace gannet::jobs {
namespace {

// RFC 1035, 4.1.
void AppendU16(uint32_t value, std::string& out) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value));
}

void AppendU32(uint32_t value, std::string& out) {
  AppendU16(value >> 16, out);
  AppendU16(value & 0xffff, out);
}

std::string Labels(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    out.push_back(static_cast<char>(label.size()));
    out.append(label);
    name.remove_prefix(std::min(name.size(), label.size() + 1));
  }
  out.push_back('\0');
  return out;
}

std::string Data(const DnsRecord& record) {
  if (record.type == 5) return Labels(record.data);
  const std::array<uint8_t, 16> bytes =
      Address::Parse(record.data).value().bytes();
  const std::string all(bytes.begin(), bytes.end());
  return record.type == 1 ? all.substr(12) : all;
}

std::string Message(std::string_view id, std::string_view question,
                    uint16_t type, int code,
                    const std::vector<DnsRecord>& records) {
  std::string answers;
  int count = 0;
  for (const DnsRecord& record : records) {
    if (record.type != type && record.type != 5) continue;
    ++count;
    answers += Labels(record.name);
    AppendU16(record.type, answers);
    AppendU16(1, answers);
    AppendU32(record.ttl, answers);
    const std::string data = Data(record);
    AppendU16(static_cast<uint32_t>(data.size()), answers);
    answers += data;
  }
  std::string out(id);
  AppendU16(0x8180 | code, out);  // An answer, recursion available.
  AppendU16(1, out);
  AppendU16(count, out);
  AppendU32(0, out);
  out.append(question);
  return out + answers;
}

}  // namespace

FakeDns::FakeDns(EventLoop* loop)
    : loop_(loop), fd_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  loop_->Watch(fd_, EPOLLIN, [this](uint32_t) { OnQuestion(); });
}

FakeDns::~FakeDns() {
  loop_->Forget(fd_);
  close(fd_);
}

std::string FakeDns::server() const {
  sockaddr_in bound = {};
  socklen_t size = sizeof bound;
  getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  return fmt::format("127.0.0.1:{}", ntohs(bound.sin_port));
}

void FakeDns::Say(const std::string& name, std::vector<DnsRecord> records,
                  Code code) {
  Answer& answer = answers_[name] = Answer();
  answer.records = std::move(records);
  answer.code = code;
}

void FakeDns::Ignore(const std::string& name) {
  (answers_[name] = Answer()).silent = true;
}

void FakeDns::SayBytes(const std::string& name, std::string bytes) {
  (answers_[name] = Answer()).bytes = std::move(bytes);
}

void FakeDns::SayForged(const std::string& name, std::vector<DnsRecord> forged,
                        std::vector<DnsRecord> real) {
  Say(name, std::move(real));
  answers_[name].forged = std::move(forged);
}

int FakeDns::asked(const std::string& name, uint16_t type) const {
  int count = 0;
  for (const auto& [asked_name, asked_type] : questions_) {
    count += asked_name == name && (type == 0 || type == asked_type);
  }
  return count;
}

void FakeDns::OnQuestion() {
  char buffer[2048];
  sockaddr_in from = {};
  socklen_t from_size = sizeof from;
  const ssize_t size = recvfrom(fd_, buffer, sizeof buffer, 0,
                                reinterpret_cast<sockaddr*>(&from), &from_size);
  if (size < 17) return;
  const std::string_view message(buffer, static_cast<size_t>(size));
  std::string name;
  size_t at = 12;
  while (at < message.size() && message[at] != 0) {
    if (!name.empty()) name.push_back('.');
    name.append(message.substr(at + 1, message[at]));
    at += 1 + static_cast<size_t>(message[at]);
  }
  const std::string_view question = message.substr(12, at + 5 - 12);
  const auto type =
      static_cast<uint16_t>(static_cast<uint8_t>(message[at + 1]) << 8 |
                            static_cast<uint8_t>(message[at + 2]));
  questions_.emplace_back(name, type);
  const Answer& answer = answers_[name];
  if (answer.silent) return;
  const std::string id(message.substr(0, 2));
  if (!answer.bytes.empty()) return Send(id + answer.bytes, from);
  if (!answer.forged.empty()) {
    std::string other = id;
    other[0] = static_cast<char>(other[0] ^ 0x55);
    Send(Message(other, question, type, kNoError, answer.forged), from);
  }
  Send(Message(id, question, type, answer.code, answer.records), from);
}

void FakeDns::Send(const std::string& message, const sockaddr_in& to) {
  sendto(fd_, message.data(), message.size(), 0,
         reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

}  // namespace gannet::jobs
