#include "sites/agent/tls_credentials.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace gannet::sites {
namespace {

namespace grpcx = grpc::experimental;

constexpr unsigned kLookAtFilesSeconds = 10;

std::shared_ptr<grpcx::CertificateProviderInterface> Files(
    const TlsSection& tls) {
  return std::make_shared<grpcx::FileWatcherCertificateProvider>(
      tls.key, tls.cert, tls.ca, kLookAtFilesSeconds);
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsServerCredentials(
    const TlsSection& tls) {
  grpcx::TlsServerCredentialsOptions options(Files(tls));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  return grpcx::TlsServerCredentials(options);
}

std::function<std::shared_ptr<grpc::Channel>(const std::string&,
                                             const std::string&)>
TlsConnect(const TlsSection& tls, const grpc::ChannelArguments& arguments) {
  // One for all channels: each has a thread of its own.
  return [files = Files(tls), arguments](const std::string& address,
                                         const std::string& name) {
    grpcx::TlsChannelCredentialsOptions options;
    options.set_certificate_provider(files);
    options.watch_root_certs();
    options.watch_identity_key_cert_pairs();
    options.set_verify_server_certs(true);
    grpc::ChannelArguments with_name = arguments;
    if (name.empty()) {
      options.set_check_call_host(false);
      options.set_certificate_verifier(
          std::make_shared<grpcx::NoOpCertificateVerifier>());
    } else {
      with_name.SetSslTargetNameOverride(name);
    }
    return grpc::CreateCustomChannel(address, grpcx::TlsCredentials(options),
                                     with_name);
  };
}

}  // namespace gannet::sites
