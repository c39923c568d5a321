// RawCaller calls methods of a gRPC server with any bytes, even with such as no
// honest client would send. Not thread-safe.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gannet::sites {

struct RawAnswer {
  absl::Status status;
  std::vector<std::string> messages;
};

class RawCaller {
 public:
  // `target`: "unix:/path" or "host:port".
  explicit RawCaller(const std::string& target);
  explicit RawCaller(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)), stub_(channel_) {}

  // Sends one message, and cancels the call after `most` answers.
  RawAnswer Call(const std::string& method, const std::string& bytes,
                 int most = 100);

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
};

}  // namespace gannet::sites
