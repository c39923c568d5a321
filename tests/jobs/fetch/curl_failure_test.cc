#include "jobs/fetch/curl_failure.h"

#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include <cerrno>
#include <set>

namespace gannet::jobs {
namespace {

TEST(CurlFailureTest, ARefusedCertificateIsToldByItsVerification) {
  const auto of = [](long verify_result) {
    CurlEnd end;
    end.code = CURLE_PEER_FAILED_VERIFICATION;
    end.verify_result = verify_result;
    return FailureOf(end);
  };
  EXPECT_EQ(of(X509_V_ERR_UNSPECIFIED), Failure::kTlsWrongName);
  EXPECT_EQ(of(X509_V_ERR_CERT_HAS_EXPIRED), Failure::kTlsExpired);
  EXPECT_EQ(of(X509_V_ERR_CERT_NOT_YET_VALID), Failure::kTlsExpired);
  EXPECT_EQ(of(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT),
            Failure::kTlsSelfSigned);
  EXPECT_EQ(of(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY),
            Failure::kTlsUnknownIssuer);
  EXPECT_EQ(of(X509_V_ERR_CERT_REVOKED), Failure::kTlsCertificate);
}

TEST(CurlFailureTest, AFailedHandshakeIsToldByOpenSslsReason) {
  const auto of = [](std::string_view text) {
    CurlEnd end;
    end.code = CURLE_SSL_CONNECT_ERROR;
    end.text = text;
    return FailureOf(end);
  };
  EXPECT_EQ(of("error:0A00010B:SSL routines::wrong version number"),
            Failure::kTlsNotTls);
  EXPECT_EQ(of("error:0A000102:SSL routines::unsupported protocol"),
            Failure::kTlsOldProtocol);
  EXPECT_EQ(of("error:0A00042E:SSL routines::tlsv1 alert protocol version"),
            Failure::kTlsOldProtocol);
  EXPECT_EQ(of("error:0A000410:SSL routines::sslv3 alert handshake failure"),
            Failure::kTlsHandshake);
}

TEST(CurlFailureTest, AFailedConnectionIsToldByTheSystemsError) {
  const auto of = [](long os_error) {
    CurlEnd end;
    end.code = CURLE_COULDNT_CONNECT;
    end.os_error = os_error;
    return FailureOf(end);
  };
  EXPECT_EQ(of(ECONNREFUSED), Failure::kConnectRefused);
  EXPECT_EQ(of(EHOSTUNREACH), Failure::kUnreachable);
  EXPECT_EQ(of(ETIMEDOUT), Failure::kConnectTimeout);
  EXPECT_EQ(of(0), Failure::kConnect);
  // What this machine has run out of is no failure of the page.
  for (const int error : {EMFILE, ENFILE, EADDRNOTAVAIL, ENOBUFS}) {
    EXPECT_TRUE(IsLocal(of(error))) << error;
  }
}

TEST(CurlFailureTest, AMachineWithoutIpv6HasNotRunOutOfPorts) {
  CurlEnd end;
  end.code = CURLE_COULDNT_CONNECT;
  end.os_error = EADDRNOTAVAIL;
  end.is_ipv6 = true;
  EXPECT_EQ(FailureOf(end), Failure::kUnreachable);
}

TEST(CurlFailureTest, AConnectionThatBreaksIsToldByWhatWasThereBefore) {
  CurlEnd end;
  end.code = CURLE_RECV_ERROR;
  EXPECT_EQ(FailureOf(end), Failure::kReset);
  end.had_answer = true;
  EXPECT_EQ(FailureOf(end), Failure::kCutShort);
  end.had_answer = false;
  end.was_in_handshake = true;
  EXPECT_EQ(FailureOf(end), Failure::kTlsHandshake);
}

// libcurl 7.88 says so of a header line of more than 100 KiB.
TEST(CurlFailureTest, NoWordOfTheServerIsTakenForAShortageOfOurMemory) {
  CurlEnd end;
  end.code = CURLE_OUT_OF_MEMORY;
  EXPECT_EQ(FailureOf(end), Failure::kInternal);
  end.was_asked = true;
  EXPECT_EQ(FailureOf(end), Failure::kHeadersTooLarge);
  end.had_head = true;
  EXPECT_EQ(FailureOf(end), Failure::kInternal);
}

TEST(CurlFailureTest, WhatAProxyDoesIsAFailureToConnect) {
  CurlEnd end;
  for (const CURLcode code : {CURLE_PROXY, CURLE_COULDNT_RESOLVE_PROXY}) {
    end.code = code;
    EXPECT_EQ(FailureOf(end), Failure::kConnect) << code;
  }
  end.at_proxy = true;
  for (const CURLcode code :
       {CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY,
        CURLE_PEER_FAILED_VERIFICATION, CURLE_OUT_OF_MEMORY}) {
    end.code = code;
    EXPECT_EQ(FailureOf(end), Failure::kConnect) << code;
  }
  // What this machine lacks it lacks for a proxy, too.
  end.code = CURLE_COULDNT_CONNECT;
  end.os_error = EMFILE;
  EXPECT_EQ(FailureOf(end), Failure::kNoSocket);
}

TEST(FailureTest, EachKindHasANameOfItsOwnAndWords) {
  std::set<std::string_view> names;
  for (const std::string_view kind : FailureKinds()) {
    EXPECT_TRUE(names.insert(kind).second) << kind;
    ASSERT_TRUE(WordsOfKind(kind).has_value()) << kind;
    EXPECT_FALSE(WordsOfKind(kind)->empty()) << kind;
  }
  EXPECT_FALSE(WordsOfKind("dns").has_value());
  for (const Failure ours :
       {Failure::kMemory, Failure::kNoSocket, Failure::kStopped}) {
    EXPECT_FALSE(names.contains(FailureName(ours)));
    EXPECT_FALSE(IsUnreachable(ours));
  }
}

}  // namespace
}  // namespace gannet::jobs
