// Requests as big as the server takes, and bigger, through real gRPC into a
// real site, the first of its federation: each gets a status that people can
// read, nothing crashes, and the site is unharmed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "sites/admin/agent_socket.h"
#include "sites/admin/local_admin.h"
#include "sites/agent/admin_server.h"
#include "sites/agent/site_federation.h"
#include "storage/url/percent.h"
#include "tests/sites/agent/raw_caller.h"
#include "tests/sites/agent/scripted_runner.h"
#include "tests/storage/site_store/sample_site.h"
#include "tests/temporary_folder.h"

namespace gannet::sites {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using testing::HasSubstr;

constexpr size_t kMostMessageBytes = 16 << 20;
constexpr size_t kMostStatusBytes = 2000;

// A field of text in a request, or in the messages that it has.
struct TextField {
  const MethodDescriptor* method;
  const FieldDescriptor* inside;  // Of which message; nothing: the request.
  const FieldDescriptor* field;
};

// Makes text of any size: a prefix, then a unit again and again.
struct Shape {
  std::string prefix, unit;

  std::string Text(size_t size) const {
    std::string text = prefix;
    text.reserve(size + unit.size());
    while (text.size() < size) text += unit;
    text.resize(size);
    return text;
  }
};

std::string NameOf(const TextField& text) {
  return text.method->name() + "_" +
         (text.inside == nullptr ? "" : text.inside->name() + "_") +
         text.field->name();
}

void PrintTo(const TextField& text, std::ostream* out) { *out << NameOf(text); }

void AddTextFields(const MethodDescriptor* method,
                   const FieldDescriptor* inside,
                   const google::protobuf::Descriptor* message,
                   std::vector<TextField>& fields) {
  for (int f = 0; f < message->field_count(); ++f) {
    const FieldDescriptor* field = message->field(f);
    if (field->type() == FieldDescriptor::TYPE_STRING) {
      // Whom to ask to be let in has a test of its own, below.
      if (inside != nullptr && inside->name() == "join") continue;
      fields.push_back({method, inside, field});
    } else if (inside == nullptr && field->message_type() != nullptr) {
      AddTextFields(method, field, field->message_type(), fields);
    }
  }
}

std::vector<TextField> TextFields() {
  std::vector<TextField> fields;
  const auto* service = admin::Status::descriptor()->file()->service(0);
  for (int m = 0; m < service->method_count(); ++m) {
    const MethodDescriptor* method = service->method(m);
    AddTextFields(method, nullptr, method->input_type(), fields);
  }
  return fields;
}

std::string RequestWith(const TextField& where, const std::string& text) {
  std::unique_ptr<Message> request(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(where.method->input_type())
          ->New());
  // With a valid kind, an export reads the other fields too.
  if (auto* exported = dynamic_cast<admin::ExportRequest*>(request.get())) {
    exported->set_kind("urls");
  }
  Message* owner = request.get();
  if (where.inside != nullptr) {
    const auto* reflection = request->GetReflection();
    owner = where.inside->is_repeated()
                ? reflection->AddMessage(request.get(), where.inside)
                : reflection->MutableMessage(request.get(), where.inside);
  }
  if (where.field->is_repeated()) {
    owner->GetReflection()->AddString(owner, where.field, text);
  } else {
    owner->GetReflection()->SetString(owner, where.field, text);
  }
  return request->SerializeAsString();
}

class BigRequestsTest : public testing::Test {
 protected:
  BigRequestsTest() {
    storage::SiteStoreSettings settings;
    settings.folder = folder_.path() + "/site";
    settings.create = true;
    store_ = storage::SiteStore::Open(settings, storage::SystemClock()).value();
    storage::CrawlSample(*store_, 20);
    proto::SiteIdentity identity;
    identity.set_name("tokyo");
    identity.set_incarnation(1);
    EXPECT_TRUE(store_->crawl_db().records().SetIdentity(identity).ok());
    SiteConfig config;
    config.site.name = "tokyo";
    config.site.data = settings.folder;
    config.listen.peers = "127.0.0.1:0";
    config.federation.map = MapSource::kRegistrar;
    config.federation.address = "127.0.0.1:7701";
    runner_.emplace(settings.folder);
    admin_.emplace(config, "", *store_, &runner_->control(),
                   storage::SystemClock());
    federation_ =
        SiteFederation::Start(config, *store_, log_, storage::SystemClock())
            .value();
    admin_->SetFederation(federation_.get());
    server_ = AdminServer::Start(
                  {.data_folder = settings.folder, .address = "", .tls = {}},
                  *admin_, calls_, log_, storage::SystemClock())
                  .value();
    socket_.emplace(AgentSocket::In(settings.folder).value());
    caller_.emplace("unix:" + socket_->path());
  }
  ~BigRequestsTest() override {
    admin::Verification verified;
    EXPECT_TRUE(admin_->Verify({}, verified).ok());
    EXPECT_TRUE(verified.ok()) << verified.DebugString();
    EXPECT_EQ(Federation().sites_size(), 1);
    EXPECT_EQ(Federation().epoch(), epoch_);
    server_.reset();
    admin_->SetFederation(nullptr);
  }

  admin::FederationState Federation() {
    admin::Federation reply;
    EXPECT_TRUE(admin_->GetFederation({}, reply).ok());
    return reply.federation();
  }

  RawAnswer Call(const std::string& method, const std::string& bytes) {
    return caller_->Call("/gannet.admin.Admin/" + method, bytes);
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::SiteStore> store_;
  std::optional<ScriptedRunner> runner_;
  Log log_{{.level = LogLevel::kError},
           STDERR_FILENO,
           false,
           storage::SystemClock()};
  std::unique_ptr<SiteFederation> federation_;
  std::optional<LocalAdmin> admin_;
  uint64_t epoch_ = 1;  // That the map must have at the end.
  AdminCalls calls_;
  std::unique_ptr<AdminServer> server_;
  std::optional<AgentSocket> socket_;
  std::optional<RawCaller> caller_;
};

// Expects a code that proto/admin.proto names, and a readable message that does
// not end in the middle of the text that was sent.
void ExpectClear(const absl::Status& status, const Shape& shape) {
  if (status.ok()) return;
  const std::string message(status.message());
  EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
              absl::IsFailedPrecondition(status) ||
              // The answer quotes the request, and so becomes too large itself.
              (absl::IsResourceExhausted(status) &&
               message.starts_with("Sent message larger than max")))
      << status;
  EXPECT_LE(message.size(), kMostStatusBytes);
  EXPECT_TRUE(storage::IsUtf8(message));
  EXPECT_FALSE(message.empty() || message.ends_with(shape.unit + shape.unit))
      << status;
}

class BigTextTest : public BigRequestsTest,
                    public testing::WithParamInterface<TextField> {
 protected:
  std::vector<Shape> Shapes() const {
    const std::string& field = GetParam().field->name();
    // These are written to, so they must be in the test's folder.
    if (field == "to") {
      return {{folder_.path() + "/", "d/"}, {folder_.path() + "/", "a"}};
    }
    if (field == "file") return {{"", "d/"}, {"", "a"}};
    return {{"http://a.example/", "a/"},
            {"", "a"},
            {"http://", "a."},
            {"http://a.example/?", "%41"}};
  }

  void Send(const Shape& shape, size_t size) {
    SCOPED_TRACE(fmt::format("{} bytes: {}{}{}...", size, shape.prefix,
                             shape.unit, shape.unit));
    ExpectClear(Call(GetParam().method->name(),
                     RequestWith(GetParam(), shape.Text(size)))
                    .status,
                shape);
  }
};

TEST_P(BigTextTest, GetsAClearStatusWhateverItsSize) {
  for (const Shape& shape : Shapes()) {
    Send(shape, 10'000);
    Send(shape, 1 << 20);
  }
  // At the largest size one shape is enough, because it takes time. The number
  // of bytes besides the text is the same for all texts above 2 MiB.
  const size_t other =
      RequestWith(GetParam(), std::string(2 << 20, 'a')).size() - (2 << 20);
  Send(Shapes().front(), kMostMessageBytes - other);
}

INSTANTIATE_TEST_SUITE_P(AllVerbs, BigTextTest, testing::ValuesIn(TextFields()),
                         [](const testing::TestParamInfo<TextField>& info) {
                           return NameOf(info.param);
                         });

TEST_F(BigRequestsTest, TheLimitIsExact) {
  admin::CheckUrlRequest request;
  request.set_url(std::string(kMostMessageBytes - 5, 'a'));
  ASSERT_EQ(request.ByteSizeLong(), kMostMessageBytes);
  const absl::Status judged =
      Call("CheckUrl", request.SerializeAsString()).status;
  EXPECT_TRUE(absl::IsInvalidArgument(judged)) << judged;

  request.mutable_url()->push_back('a');
  const absl::Status refused =
      Call("CheckUrl", request.SerializeAsString()).status;
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("Received message larger than max"));
}

// If std::filesystem parsed these, it would take a gigabyte and many seconds.
TEST_F(BigRequestsTest, PathsTooLongForAnyFileAreRefusedUnparsed) {
  admin::BackupRequest backup;
  admin::ReleaseArchiveFileRequest file, to;
  const std::string path = Shape{folder_.path() + "/", "d/"}.Text(8 << 20);
  backup.set_to(path);
  file.set_file(path);
  to.set_file("1");
  to.set_to(path);
  for (const auto& [verb, bytes] :
       {std::pair("Backup", backup.SerializeAsString()),
        std::pair("ReleaseArchiveFile", file.SerializeAsString()),
        std::pair("ReleaseArchiveFile", to.SerializeAsString())}) {
    const absl::Status status = Call(verb, bytes).status;
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("8388608 bytes"));
  }
}

TEST_F(BigRequestsTest, APathDoesNotEndAtAZeroByte) {
  admin::BackupRequest request;
  request.set_to(folder_.path() + "/backup");
  request.mutable_to()->push_back('\0');
  const absl::Status status =
      Call("Backup", request.SerializeAsString()).status;
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/backup"));
}

// Each would make a map that sites refuse, or that is too large for them.
TEST_F(BigRequestsTest, ChangesOfTheFederationThatMakeNoSenseChangeNothing) {
  using Request = admin::ChangeFederationRequest;
  const auto with = [](const auto& fill) {
    Request request;
    fill(request);
    return request;
  };
  const auto unknown = [](Request& r) {  // A field of a later version.
    r.GetReflection()->MutableUnknownFields(&r)->AddVarint(1000, 1);
  };
  const auto nul = std::string("a\0b", 3);
  const std::vector<Request> requests = {
      with([](auto&) {}),
      with(unknown),
      with([](auto& r) { r.mutable_invite(); }),
      with([&](auto& r) { r.mutable_invite()->set_name(nul); }),
      with([](auto& r) { r.mutable_invite()->set_name("../paris"); }),
      with([](auto& r) { r.mutable_invite()->set_name("tokyo"); }),
      with([](auto& r) { r.mutable_remove(); }),
      with([](auto& r) { r.mutable_remove()->set_name("paris"); }),
      with([](auto& r) { r.mutable_placement()->set_kind("nowhere"); }),
      with([](auto& r) {
        r.mutable_placement()->set_virtual_nodes(UINT32_MAX);
      }),
      with([](auto& r) { r.mutable_capacity()->set_capacity(0); }),
      with([](auto& r) { r.mutable_capacity()->set_capacity(UINT32_MAX); }),
      with([](auto& r) { r.mutable_join()->set_address("nowhere"); })};
  for (const Request& request : requests) {
    for (const char* method : {"ChangeFederation", "PlanFederation"}) {
      SCOPED_TRACE(method + request.ShortDebugString());
      const absl::Status status =
          Call(method, request.SerializeAsString()).status;
      EXPECT_FALSE(status.ok());
      EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                  absl::IsAlreadyExists(status) ||
                  absl::IsFailedPrecondition(status))
          << status;
      EXPECT_GT(status.message().size(), 10u);
    }
  }
}

// A planned site has an invented address, which must never be in a real map.
TEST_F(BigRequestsTest, WhatIsForPlansOnlyChangesNothingAndTheOtherWayRound) {
  admin::ChangeFederationRequest invite, add, rules, adopt, remove;
  invite.mutable_invite()->set_name("paris");
  add.mutable_add()->set_site("paris");
  rules.mutable_rules();
  adopt.mutable_adopt();
  remove.mutable_remove()->set_name("paris");
  const auto call = [&](const char* method, const auto& request) {
    return Call(method, request.SerializeAsString()).status;
  };
  ASSERT_TRUE(call("ChangeFederation", invite).ok());
  for (const auto& [method, request] :
       {std::pair("ChangeFederation", add), std::pair("PlanFederation", rules),
        std::pair("PlanFederation", adopt)}) {
    const absl::Status status = call(method, request);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << method << status;
  }
  EXPECT_TRUE(call("PlanFederation", add).ok());
  EXPECT_EQ(Federation().epoch(), 2);
  ASSERT_TRUE(call("ChangeFederation", remove).ok());
  epoch_ = 3;
}

// Otherwise it would be looked up in DNS, or opened as a file.
TEST_F(BigRequestsTest, AnInvalidAddressIsRefusedBeforeAnyLookUp) {
  for (const std::string& address :
       {std::string("nowhere"), std::string("127.0.0.1"),
        std::string("127.0.0.1:0"), std::string("127.0.0.1:99999"),
        std::string("a b:1"), std::string("unix:/etc/passwd"),
        std::string("http://a.example/"), std::string("a\0:7701", 7),
        Shape{"http://", "a."}.Text(8 << 20)}) {
    admin::ChangeFederationRequest request;
    request.mutable_join()->set_address(address);
    const absl::Status status =
        Call("ChangeFederation", request.SerializeAsString()).status;
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  }
}

admin::Injected InjectedBy(const RawAnswer& answer) {
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  admin::Injected injected;
  EXPECT_EQ(answer.messages.size(), 1u);
  for (const std::string& bytes : answer.messages) {
    EXPECT_TRUE(injected.ParseFromString(bytes));
  }
  return injected;
}

TEST_F(BigRequestsTest, TenThousandSeedsAreTakenAndMoreAreNot) {
  admin::InjectRequest request;
  for (int i = 0; i < 10'000; ++i) {
    const std::string url = fmt::format("http://a.example/{}/", i);
    // Together nearly as large as a request may be.
    request.add_seeds()->set_url(Shape{url, "a"}.Text(1650));
  }
  ASSERT_GT(request.ByteSizeLong(), kMostMessageBytes * 9 / 10);
  EXPECT_EQ(InjectedBy(Call("Inject", request.SerializeAsString())).added(),
            10'000);

  // As many seeds as fit into a request: each is two bytes, and empty.
  const std::string empty_seeds =
      Shape{"", std::string("\x0a\0", 2)}.Text(kMostMessageBytes);
  const absl::Status status = Call("Inject", empty_seeds).status;
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("8388608 seeds in one request; 10000 are allowed"));
}

}  // namespace
}  // namespace gannet::sites
