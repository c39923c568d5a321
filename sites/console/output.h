// Output is standard output as the commands use it: buffered, and it tells when
// the reader has gone (`gannet export urls | head`), so that a command ends
// quietly instead of writing on, or dying of a signal. Not thread-safe.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sites/console/exit_code.h"

namespace gannet::sites {

class Output {
 public:
  Output() = default;
  ~Output() { Finish(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // False once it cannot be written: the caller may stop.
  bool Write(std::string_view text);
  // The object or array on one line. Web text may hold any bytes: what is not
  // UTF-8 is replaced, for JSON has no other way.
  bool WriteJson(const nlohmann::json& json);

  // Writes what is buffered. kDone, also if the reader has gone; kDiskFull or
  // kFailed, said on standard error, if it could not be written.
  ExitCode Finish();

 private:
  bool Flush();

  std::string buffer_;
  int error_ = 0;
  bool said_ = false;
};

// The text of the JSON, without line end.
std::string JsonText(const nlohmann::json& json);

}  // namespace gannet::sites
