#include "tests/fake_web/request_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace gannet::fake_web {
namespace {

constexpr std::string_view kMagic = "#gannet-fakeweb-log 1 ";
constexpr std::string_view kColumns =
    "arrival_ns\tend_ns\thost\taddress\tasker\ttarget\tstatus\tbytes\tkind\t"
    "end\tscheme\n";
constexpr std::string_view kEnds[] = {"whole", "aborted", "reset"};
constexpr size_t kBufferBytes = 256 * 1024;

void AppendSafe(std::string_view text, std::string* out) {
  if (text.empty()) out->push_back('-');
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(*out), "%{:02X}",
                     static_cast<unsigned char>(c));
    } else {
      out->push_back(c);
    }
  }
}

bool ParseAddress(absl::string_view text, uint32_t* address) {
  *address = 0;
  int parts = 0;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    uint32_t octet;
    if (++parts > 4 || !absl::SimpleAtoi(part, &octet) || octet > 255) {
      return false;
    }
    *address = *address << 8 | octet;
  }
  return parts == 4;
}

}  // namespace

std::string FormatAddress(uint32_t a) {
  return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 255, a >> 8 & 255,
                     a & 255);
}

void AppendLogLine(const LogEntry& e, std::string* out) {
  auto end = std::back_inserter(*out);
  fmt::format_to(end, "{}\t{}\t", e.arrival_ns, e.end_ns);
  AppendSafe(e.host, out);
  fmt::format_to(end, "\t{}\t{}\t", FormatAddress(e.address),
                 FormatAddress(e.asker));
  AppendSafe(e.target, out);
  fmt::format_to(end, "\t{}\t{}\t{}\t{}\t{}\n", e.status, e.bytes, Name(e.kind),
                 kEnds[static_cast<size_t>(e.end)], e.tls ? "https" : "http");
}

absl::StatusOr<LogEntry> ParseLogLine(std::string_view line) {
  const std::vector<absl::string_view> f =
      absl::StrSplit(absl::string_view(line.data(), line.size()), '\t');
  LogEntry e;
  e.tls = f.size() == 11 && f[10] == "https";
  bool ok = (f.size() == 10 || e.tls || (f.size() == 11 && f[10] == "http")) &&
            absl::SimpleAtoi(f[0], &e.arrival_ns) &&
            absl::SimpleAtoi(f[1], &e.end_ns) &&
            ParseAddress(f[3], &e.address) && ParseAddress(f[4], &e.asker) &&
            absl::SimpleAtoi(f[6], &e.status) &&
            absl::SimpleAtoi(f[7], &e.bytes);
  if (ok) {
    e.host = f[2] == "-" ? "" : std::string(f[2]);
    e.target = f[5] == "-" ? "" : std::string(f[5]);
    e.kind = NastyByName({f[8].data(), f[8].size()});
    ok = e.kind != Nasty::kCount;
    bool known_end = false;
    for (size_t i = 0; i < std::size(kEnds); ++i) {
      if (f[9] == absl::string_view(kEnds[i].data(), kEnds[i].size())) {
        e.end = static_cast<LogEnd>(i);
        known_end = true;
      }
    }
    ok = ok && known_end;
  }
  if (!ok) {
    return absl::InvalidArgumentError(
        fmt::format("not a line of a request log: '{}'", line.substr(0, 100)));
  }
  return e;
}

absl::StatusOr<LogFile> LogFile::Read(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    return absl::NotFoundError(
        fmt::format("cannot open {}: {}", path, strerror(errno)));
  }
  std::string line;
  if (!std::getline(in, line) || !line.starts_with(kMagic)) {
    return absl::InvalidArgumentError(fmt::format(
        "{} is not a log of gannet-fakeweb (serve --log FILE makes one)",
        path));
  }
  LogFile file;
  auto options = ParseOptions(std::string_view(line).substr(kMagic.size()));
  if (!options.ok()) return options.status();
  file.options = *std::move(options);
  std::getline(in, line);  // The columns' names.
  for (int64_t number = 3; std::getline(in, line); ++number) {
    auto entry = ParseLogLine(line);
    if (!entry.ok()) {
      return absl::InvalidArgumentError(fmt::format(
          "{}:{}: {}", path, number, std::string(entry.status().message())));
    }
    file.entries.push_back(*std::move(entry));
  }
  return file;
}

absl::StatusOr<std::unique_ptr<RequestLog>> RequestLog::Open(
    const std::string& path, const WebOptions& options, bool keep) {
  FILE* file = nullptr;
  if (!path.empty()) {
    file = fopen(path.c_str(), "w");
    if (file == nullptr) {
      return absl::PermissionDeniedError(
          fmt::format("cannot write {}: {}", path, strerror(errno)));
    }
    const std::string head =
        fmt::format("{}{}\n{}", kMagic, FormatOptions(options), kColumns);
    fwrite(head.data(), 1, head.size(), file);
  }
  return std::unique_ptr<RequestLog>(new RequestLog(file, keep));
}

RequestLog::~RequestLog() {
  Flush().IgnoreError();
  if (file_ != nullptr) fclose(file_);
}

void RequestLog::Add(LogEntry entry) {
  if (!wanted()) return;
  storage::MutexLock lock(&mu_);
  if (file_ != nullptr) {
    AppendLogLine(entry, &buffer_);
    if (buffer_.size() >= kBufferBytes) {
      if (fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
        failed_ = true;
      }
      buffer_.clear();
    }
  }
  if (keep_) entries_.push_back(std::move(entry));
}

std::vector<LogEntry> RequestLog::Entries() const {
  storage::MutexLock lock(&mu_);
  return entries_;
}

absl::Status RequestLog::Flush() {
  if (file_ == nullptr) return absl::OkStatus();
  storage::MutexLock lock(&mu_);
  if (fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size() ||
      fflush(file_) != 0) {
    failed_ = true;
  }
  buffer_.clear();
  if (failed_) return absl::DataLossError("the request log was not written");
  return absl::OkStatus();
}

}  // namespace gannet::fake_web
