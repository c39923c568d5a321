#include "tests/sites/agent/raw_caller.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

namespace gannet::sites {
namespace {

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return "";
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

grpc::ChannelArguments NoLimits() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return arguments;
}

}  // namespace

RawCaller::RawCaller(const std::string& target)
    : RawCaller(grpc::CreateCustomChannel(
          target, grpc::InsecureChannelCredentials(), NoLimits())) {}

RawAnswer RawCaller::Call(const std::string& method, const std::string& bytes,
                          int most) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(100));
  grpc::CompletionQueue queue;
  const auto next = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const auto call = stub_.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  RawAnswer answer;
  if (next()) {
    const grpc::Slice slice(bytes);
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    next();
    for (;;) {
      grpc::ByteBuffer message;
      call->Read(&message, nullptr);
      if (!next()) break;
      answer.messages.push_back(Bytes(message));
      if (static_cast<int>(answer.messages.size()) == most) context.TryCancel();
    }
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  while (next()) {
  }
  answer.status =
      absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                   status.error_message());
  return answer;
}

}  // namespace gannet::sites
