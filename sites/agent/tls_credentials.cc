#include "sites/agent/tls_credentials.h"

#include <fmt/format.h>
#include <grpc/grpc_security_constants.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "sites/agent/certificate.h"

namespace gannet::sites {
namespace {

namespace grpcx = grpc::experimental;

constexpr unsigned kLookAtFilesSeconds = 10;

std::shared_ptr<grpcx::CertificateProviderInterface> Files(
    const TlsSection& tls) {
  return std::make_shared<grpcx::FileWatcherCertificateProvider>(
      tls.key, tls.cert, tls.ca, kLookAtFilesSeconds);
}

// The server must be the site that was meant, whatever its address is; that the
// CA has signed its certificate was checked before.
class IsSite : public grpcx::ExternalCertificateVerifier {
 public:
  explicit IsSite(std::string name) : name_(std::move(name)) {}

  bool Verify(grpcx::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>, grpc::Status* sync) override {
    const grpc::string_ref pem = request->peer_cert();
    const std::optional<std::string> site =
        SiteNameOf({pem.data(), pem.size()});
    const bool is_meant = site.has_value() && (name_.empty() || *site == name_);
    *sync = is_meant
                ? grpc::Status::OK
                : grpc::Status(
                      grpc::StatusCode::UNAUTHENTICATED,
                      site.has_value()
                          ? fmt::format("site '{}' answers there, not '{}'",
                                        *site, name_)
                          : "the certificate there is not a site's");
    return true;  // It was decided at once.
  }
  void Cancel(grpcx::TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::string name_;  // Empty: any site.
};

// What OpenSSL would check during the handshake, right after it and before the
// first call: here a refusal can be counted. That the caller has the key of the
// certificate it shows, the handshake has proved.
class IsOfTheCa : public grpcx::ExternalCertificateVerifier {
 public:
  IsOfTheCa(std::string ca_file,
            std::function<void(const absl::Status&)> on_stranger)
      : ca_file_(std::move(ca_file)), on_stranger_(std::move(on_stranger)) {}

  bool Verify(grpcx::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)>, grpc::Status* sync) override {
    const grpc::string_ref pem = request->peer_cert();
    const grpc::string_ref chain = request->peer_cert_full_chain();
    std::ifstream in(ca_file_);  // Small, and perhaps renewed.
    std::ostringstream ca;
    ca << in.rdbuf();
    const absl::Status status = CheckClientCertificate(
        ca.str(), {pem.data(), pem.size()}, {chain.data(), chain.size()});
    if (!status.ok()) {
      on_stranger_(status);
      *sync = grpc::Status(grpc::StatusCode::UNAUTHENTICATED,
                           std::string(status.message()));
    }
    return true;  // It was decided at once.
  }
  void Cancel(grpcx::TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::string ca_file_;
  const std::function<void(const absl::Status&)> on_stranger_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> TlsServerCredentials(
    const TlsSection& tls,
    std::function<void(const absl::Status&)> on_stranger) {
  grpcx::TlsServerCredentialsOptions options(Files(tls));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  if (on_stranger) {
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_BUT_DONT_VERIFY);
    options.set_certificate_verifier(
        grpcx::ExternalCertificateVerifier::Create<IsOfTheCa>(
            tls.ca, std::move(on_stranger)));
  } else {
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
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
    options.set_check_call_host(false);
    options.set_certificate_verifier(
        grpcx::ExternalCertificateVerifier::Create<IsSite>(name));
    return grpc::CreateCustomChannel(address, grpcx::TlsCredentials(options),
                                     arguments);
  };
}

}  // namespace gannet::sites
