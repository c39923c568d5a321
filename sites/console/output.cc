#include "sites/console/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gannet::sites {
namespace {

constexpr size_t kBuffer = 64 << 10;

}  // namespace

bool Output::Flush() {
  std::string_view rest = buffer_;
  while (error_ == 0 && !rest.empty()) {
    const ssize_t n = write(STDOUT_FILENO, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
  return error_ == 0;
}

bool Output::Write(std::string_view text) {
  if (error_ != 0) return false;
  buffer_.append(text);
  return buffer_.size() < kBuffer || Flush();
}

bool Output::WriteJson(const nlohmann::json& json) {
  return Write(JsonText(json) + "\n");
}

ExitCode Output::Finish() {
  Flush();
  if (error_ == 0 || error_ == EPIPE) return kDone;
  if (!said_) {
    std::fprintf(stderr, "error: cannot write the output: %s\n",
                 strerror(error_));
    said_ = true;
  }
  return error_ == ENOSPC || error_ == EDQUOT ? kDiskFull : kFailed;
}

std::string JsonText(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gannet::sites
