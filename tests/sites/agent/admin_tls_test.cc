// The admin API over TCP: which callers are let in.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "sites/admin/remote_admin.h"
#include "sites/agent/admin_server.h"
#include "sites/agent/certificate.h"
#include "tests/sites/agent/certificates.h"
#include "tests/sites/agent/raw_caller.h"
#include "tests/sites/agent/scripted_admin.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class AdminTlsTest : public testing::Test {
 protected:
  AdminTlsTest() : authority_("the federation") {
    char name[] = "/tmp/admin_tls_test.XXXXXX";
    folder_ = mkdtemp(name);
    site_ = Files("site", authority_,
                  authority_.Issue("tokyo", "sites", "IP:127.0.0.1", 30));
  }
  ~AdminTlsTest() override {
    server_.reset();
    fs::remove_all(folder_);
  }

  // The files of a certificate, and the CA that its holder trusts.
  TlsSection Files(const std::string& name, const Authority& trusted,
                   const Authority::Pem& pem) {
    const TlsSection files = {.ca = folder_ + "/" + name + "-ca.pem",
                              .cert = folder_ + "/" + name + ".pem",
                              .key = folder_ + "/" + name + ".key"};
    std::ofstream(files.ca) << trusted.pem();
    // Each file is replaced atomically, as operators should do.
    for (const auto& [path, text] :
         {std::pair(files.key, pem.key), std::pair(files.cert, pem.cert)}) {
      std::ofstream(path + ".new") << text;
      fs::rename(path + ".new", path);
    }
    return files;
  }

  void Serve() {
    auto server = AdminServer::Start(
        {.data_folder = folder_, .address = "127.0.0.1:0", .tls = site_},
        admin_, calls_, log_, storage::SystemClock());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  absl::Status Connect(const TlsSection& files) {
    return ConnectToAddress(fmt::format("127.0.0.1:{}", server_->port()), files)
        .status();
  }

  std::string folder_;
  Authority authority_;
  TlsSection site_;
  ScriptedAdmin admin_;
  AdminCalls calls_;
  Log log_{{.level = LogLevel::kError},
           STDERR_FILENO,
           false,
           storage::SystemClock()};
  std::unique_ptr<AdminServer> server_;
};

TEST_F(AdminTlsTest, AnAdministratorsCertificateIsLetIn) {
  Serve();
  EXPECT_EQ(Connect(Files("a", authority_,
                          authority_.Issue("ann", "administrators", ""))),
            absl::OkStatus());
  EXPECT_EQ(
      Connect(Files("b", authority_,
                    authority_.Issue("bob", "", "URI:gannet:administrator"))),
      absl::OkStatus());
  EXPECT_EQ(admin_.calls, 2);
}

TEST_F(AdminTlsTest, OtherCertificatesOfTheSameAuthorityAreDenied) {
  Serve();
  for (const auto& [unit, names] :
       {std::pair("sites", "IP:127.0.0.1"), std::pair("", ""),
        std::pair("Administrators", ""), std::pair("administrators2", ""),
        std::pair("", "URI:gannet:administrator2"),
        std::pair("", "DNS:administrators")}) {
    const absl::Status status =
        Connect(Files("x", authority_, authority_.Issue("x", unit, names)));
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << unit << names << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("OU=administrators"));
  }
  // The name of the unit stands in another field.
  EXPECT_TRUE(absl::IsPermissionDenied(Connect(Files(
      "y", authority_, authority_.Issue("x,OU=administrators", "", "")))));
  EXPECT_EQ(admin_.calls, 0);
}

TEST_F(AdminTlsTest, AnAdministratorOfAnotherAuthorityDoesNotGetThrough) {
  Serve();
  Authority other("strangers");
  const absl::Status status =
      Connect(Files("z", authority_, other.Issue("eve", "administrators", "")));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(admin_.calls, 0);
}

TEST_F(AdminTlsTest, AnAgentOfAnotherAuthorityIsNotBelieved) {
  Serve();
  Authority other("strangers");
  EXPECT_TRUE(absl::IsUnavailable(Connect(
      Files("z", other, authority_.Issue("ann", "administrators", "")))));
}

TEST_F(AdminTlsTest, WithoutTlsNobodyIsLetIn) {
  Serve();
  EXPECT_TRUE(absl::IsInvalidArgument(Connect({})));  // No certificate given.
  RawCaller raw(fmt::format("127.0.0.1:{}", server_->port()));
  EXPECT_TRUE(absl::IsUnavailable(
      raw.Call("/gannet.admin.Admin/GetStatus", "").status));
  EXPECT_EQ(admin_.calls, 0);
}

TEST_F(AdminTlsTest, ARenewedCertificateIsTakenUpWithoutARestart) {
  Serve();
  // The CA itself is replaced, so that the old certificate cannot pass.
  Authority next("the next federation");
  Files("site", next, next.Issue("tokyo", "sites", "IP:127.0.0.1", 60));
  const TlsSection ann =
      Files("a", next, next.Issue("ann", "administrators", ""));
  absl::Status status = absl::UnavailableError("not tried");
  const absl::Time give_up = absl::Now() + absl::Seconds(40);
  while (!status.ok() && absl::Now() < give_up) {
    status = Connect(ann);
    absl::SleepFor(absl::Milliseconds(200));
  }
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(AdminTlsTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  EXPECT_TRUE(CheckTlsFiles(site_).ok());
  EXPECT_GT(*CheckTlsFiles(site_), absl::Now() + absl::Hours(24 * 29));
  EXPECT_LT(*CheckTlsFiles(site_), absl::Now() + absl::Hours(24 * 31));
  const auto problem = [](const TlsSection& tls) {
    const auto expires = CheckTlsFiles(tls);
    EXPECT_TRUE(absl::IsInvalidArgument(expires.status()));
    return std::string(expires.status().message());
  };
  TlsSection wrong = site_;
  wrong.ca = folder_ + "/nothing";
  EXPECT_THAT(problem(wrong), HasSubstr("tls.ca: " + wrong.ca));
  wrong = site_;
  wrong.cert = site_.key;
  EXPECT_THAT(problem(wrong), HasSubstr("tls.cert: " + site_.key));
  wrong = site_;
  wrong.key = site_.cert;
  EXPECT_THAT(problem(wrong), HasSubstr("tls.key: " + site_.cert));
  wrong.key = Files("other", authority_, authority_.Issue("x", "", "")).key;
  EXPECT_THAT(problem(wrong), HasSubstr("is not the key of"));
}

TEST_F(AdminTlsTest, AnAddressThatIsTakenIsSaid) {
  Serve();
  const std::string other = folder_ + "/other";
  fs::create_directories(other);
  const auto second = AdminServer::Start(
      {.data_folder = other,
       .address = fmt::format("127.0.0.1:{}", server_->port()),
       .tls = site_},
      admin_, calls_, log_, storage::SystemClock());
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(fmt::format("127.0.0.1:{}", server_->port())));
}

}  // namespace
}  // namespace gannet::sites
