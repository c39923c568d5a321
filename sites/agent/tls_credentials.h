// TLS as the agent uses it, from the files of the section `tls`. The files are
// looked at every ten seconds, so that renewed certificates need no restart.
// Functions only; thread-safe.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "sites/config/site_config.h"

namespace gannet::sites {

// Callers must show a certificate that the CA has signed; others are refused
// before they can call anything. Each refusal is reported to `on_stranger`, if
// any, from threads of gRPC: TLS alone would refuse without a log line on
// either side.
std::shared_ptr<grpc::ServerCredentials> TlsServerCredentials(
    const TlsSection& tls,
    std::function<void(const absl::Status& why)> on_stranger = nullptr);

// Makes channels to other sites: address, and the name that the certificate of
// who answers must have ("": that of any site of the CA).
std::function<std::shared_ptr<grpc::Channel>(const std::string& address,
                                             const std::string& name)>
TlsConnect(const TlsSection& tls, const grpc::ChannelArguments& arguments);

}  // namespace gannet::sites
