// The admin API over real sockets, with an Admin that says what the test wants.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <set>
#include <thread>

#include "absl/time/clock.h"
#include "sites/admin/agent_socket.h"
#include "sites/admin/remote_admin.h"
#include "sites/agent/admin_server.h"
#include "sites/agent/admin_service.h"
#include "storage/url/percent.h"
#include "tests/sites/agent/raw_caller.h"
#include "tests/sites/agent/scripted_admin.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class AdminApiTest : public testing::Test {
 protected:
  AdminApiTest() {
    char name[] = "/tmp/admin_api_test.XXXXXX";
    folder_ = mkdtemp(name);
    // A folder whose path is longer than a socket's path may be.
    data_ = folder_ + "/" + std::string(100, 'd') + "/" + std::string(100, 'e');
    fs::create_directories(data_);
  }
  ~AdminApiTest() override {
    server_.reset();
    fs::remove_all(folder_);
  }

  void Serve() { Serve(log_); }
  void Serve(Log& log) {
    auto server =
        AdminServer::Start({.data_folder = data_, .address = "", .tls = {}},
                           admin_, calls_, log, storage::SystemClock());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<Admin> Connect() {
    auto remote = ConnectToAgent(data_);
    EXPECT_TRUE(remote.ok()) << remote.status();
    return remote.ok() ? *std::move(remote) : nullptr;
  }

  RawCaller Raw() {
    socket_.emplace(AgentSocket::In(data_).value());
    return RawCaller("unix:" + socket_->path());
  }

  std::string folder_, data_;
  ScriptedAdmin admin_;
  AdminCalls calls_;
  Log log_{{.level = LogLevel::kError},
           STDERR_FILENO,
           false,
           storage::SystemClock()};
  std::optional<AgentSocket> socket_;
  std::unique_ptr<AdminServer> server_;
};

std::vector<const google::protobuf::MethodDescriptor*> Methods() {
  const auto* service = admin::Status::descriptor()->file()->service(0);
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (int i = 0; i < service->method_count(); ++i) {
    methods.push_back(service->method(i));
  }
  return methods;
}

std::string PathOf(const google::protobuf::MethodDescriptor& method) {
  return "/" + method.service()->full_name() + "/" + method.name();
}

TEST(AdminVerbsTest, TheListHasTheServicesVerbs) {
  const auto* service = admin::Status::descriptor()->file()->service(0);
  std::vector<std::string> listed, served;
#define GANNET_ASK(Verb, ...) listed.push_back("Ask " #Verb);
#define GANNET_LISTEN(Verb, ...) listed.push_back("Listen " #Verb);
  GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN
  for (int m = 0; m < service->method_count(); ++m) {
    const auto& method = *service->method(m);
    served.push_back((method.server_streaming() ? "Listen " : "Ask ") +
                     method.name());
  }
  EXPECT_EQ(listed, served);
}

// Calls every verb with an empty request, and one message of each stream.
std::map<std::string, std::future<absl::Status>> CallAll(Admin& admin) {
  std::map<std::string, std::future<absl::Status>> calls;
#define GANNET_ASK(Verb, Request, Reply, ...)              \
  calls[#Verb] = std::async(std::launch::async, [&admin] { \
    admin::Reply reply;                                    \
    return admin.Verb({}, reply);                          \
  });
#define GANNET_LISTEN(Verb, ...)                              \
  calls[#Verb] = std::async(std::launch::async, [&admin] {    \
    return admin.Verb({}, [](const auto&) { return false; }); \
  });
  GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN
  return calls;
}

TEST_F(AdminApiTest, OnlyVerbsThatMayTakeLongHaveNoDeadline) {
  const std::set<std::string> may_take_long = {"WatchStatus",
                                               "ListHosts",
                                               "GetPageBody",
                                               "Export",
                                               "Verify",
                                               "Block",
                                               "Backup",
                                               "FinishArchiveFile",
                                               "ReleaseArchiveFile",
                                               "RunRounds",
                                               "ChangeFederation",
                                               "PlanFederation",
                                               "VerifyFederation"};
  Serve();
  const auto remote =
      ConnectToAgent(data_, {.deadline = absl::Milliseconds(50)}).value();
  std::latch answer(1);
  admin_.in_a_call = [&] { answer.wait(); };
  auto calls = CallAll(*remote);
  for (auto& [verb, status] : calls) {
    if (may_take_long.contains(verb)) continue;
    EXPECT_EQ(status.wait_for(std::chrono::seconds(20)),
              std::future_status::ready)
        << verb;
  }
  // A deadline that begins now ends after those of all other calls.
  admin::Status last;
  EXPECT_TRUE(absl::IsUnavailable(remote->GetStatus({}, last)));
  answer.count_down();
  for (auto& [verb, status] : calls) {
    EXPECT_EQ(absl::IsUnavailable(status.get()), !may_take_long.contains(verb))
        << verb;
  }
}

TEST_F(AdminApiTest, VerbsThatChangeSomethingAreInTheLogAndOthersAtDebug) {
  const std::string file = folder_ + "/log";
  Log log({.level = LogLevel::kInfo},
          open(file.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), false,
          storage::SystemClock());
  Serve(log);
  const auto remote = Connect();
  for (auto& [verb, status] : CallAll(*remote)) {
    EXPECT_TRUE(status.get().ok()) << verb;
  }
  server_->Stop(absl::Seconds(5));
  std::set<std::string> logged;
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    if (word.starts_with("method=")) logged.insert(word.substr(7));
  }
  EXPECT_EQ(logged,
            (std::set<std::string>{
                "Inject", "ChangeScope", "Block", "Forget", "FinishArchiveFile",
                "ReleaseArchiveFile", "Backup", "RunRounds", "StopRounds",
                "PauseRounds", "ResumeRounds", "Reload", "ChangeFederation"}));
}

TEST_F(AdminApiTest, AnAnswerComesBackAsItWasGiven) {
  admin_.fill_status = [](admin::Status& status) {
    status.set_site("tokyo");
    (*status.mutable_pages())["fetched"] = 7;
  };
  Serve();
  const auto remote = Connect();
  admin::Status status;
  ASSERT_TRUE(remote->GetStatus({}, status).ok());
  EXPECT_EQ(status.site(), "tokyo");
  EXPECT_EQ(status.pages().at("fetched"), 7);
}

TEST_F(AdminApiTest, ErrorsCrossTheSocketWithCodeAndMessage) {
  Serve();
  const auto remote = Connect();
  for (const absl::Status& error :
       {absl::InvalidArgumentError("no URL"), absl::NotFoundError("no page"),
        absl::FailedPreconditionError("stop first"),
        absl::ResourceExhaustedError("disk full"),
        absl::InternalError("broken")}) {
    admin_.status = error;
    admin::Page page;
    EXPECT_EQ(remote->GetPage({}, page), error);
    EXPECT_EQ(remote->Export({}, [](const auto&) { return true; }), error);
  }
}

TEST_F(AdminApiTest, AMessageThatQuotesAnyBytesIsMadeUtf8) {
  admin_.status = absl::NotFoundError("no page http://a/\xff\xfe");
  Serve();
  const RawAnswer answer = Raw().Call("/gannet.admin.Admin/GetPage", "");
  EXPECT_EQ(answer.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(answer.status.message()), HasSubstr("http://a/"));
  EXPECT_TRUE(storage::IsUtf8(std::string(answer.status.message())));
}

TEST_F(AdminApiTest, AStreamGivesAllMessagesInOrder) {
  admin_.messages = 1000;
  Serve();
  int64_t got = 0;
  ASSERT_TRUE(Connect()
                  ->GetPageBody({},
                                [&](const admin::PageBody& body) {
                                  EXPECT_EQ(body.bytes(), "body");
                                  ++got;
                                  return true;
                                })
                  .ok());
  EXPECT_EQ(got, 1000);
}

TEST_F(AdminApiTest, ACallerThatWantsNoMoreEndsTheStreamAndTheVerbLearnsOfIt) {
  admin_.messages = INT64_MAX;
  Serve();
  int got = 0;
  EXPECT_TRUE(
      Connect()->Export({}, [&](const auto&) { return ++got < 5; }).ok());
  EXPECT_EQ(got, 5);
  while (admin_.streams_ended == 0) std::this_thread::yield();
  EXPECT_EQ(admin_.sinks_that_said_no, 1);
}

TEST_F(AdminApiTest, WatchingGivesTheStatusAgainAndAgain) {
  Serve();
  admin::WatchStatusRequest request;
  request.mutable_every()->set_nanos(1);  // As often as the server allows.
  int looks = 0;
  const absl::Time before = absl::Now();
  EXPECT_TRUE(
      Connect()
          ->WatchStatus(request, [&](const auto&) { return ++looks < 4; })
          .ok());
  EXPECT_EQ(looks, 4);
  EXPECT_GE(absl::Now() - before, absl::Milliseconds(300));
  request.mutable_every()->set_seconds(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(
      Connect()->WatchStatus(request, [](const auto&) { return true; })));
}

TEST_F(AdminApiTest, AStoppingAgentEndsThoseWhoWatchAndSaysSo) {
  Serve();
  const auto remote = Connect();
  admin::WatchStatusRequest request;
  request.mutable_every()->set_seconds(3600);
  absl::Status status;
  std::atomic<bool> watches = false;
  std::thread watcher([&] {
    status = remote->WatchStatus(request, [&](const auto&) {
      watches = true;
      return true;
    });
  });
  while (!watches) std::this_thread::yield();
  const absl::Time before = absl::Now();
  server_->Stop(absl::Seconds(20));
  EXPECT_LT(absl::Now() - before, absl::Seconds(10));
  watcher.join();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("stopping"));
}

TEST_F(AdminApiTest, TheSocketIsItsOwnersOnlyAndGoesWithTheServer) {
  Serve();
  struct stat info = {};
  ASSERT_EQ(stat((data_ + "/agent.sock").c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  server_.reset();
  EXPECT_FALSE(fs::exists(data_ + "/agent.sock"));
}

// RocksDB and the archive may make files in other threads meanwhile: if the
// server changed the process's umask for its socket, it would change their
// mode.
TEST_F(AdminApiTest, FilesThatOthersMakeWhileItStartsGetTheModeTheyShould) {
  const std::string other = folder_ + "/other";
  std::atomic<bool> stop = false;
  std::set<mode_t> modes;
  std::thread files([&] {
    while (!stop) {
      const int fd = open(other.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0666);
      struct stat info = {};
      if (fd >= 0 && fstat(fd, &info) == 0) modes.insert(info.st_mode & 0777);
      close(fd);
      unlink(other.c_str());
    }
  });
  for (int i = 0; i < 20; ++i) {
    Serve();
    server_.reset();
  }
  stop = true;
  files.join();
  EXPECT_EQ(modes.size(), 1u);
}

TEST_F(AdminApiTest, LeftoversOfAnInterruptedStartDoNotPreventTheNext) {
  fs::create_directories(data_ + "/.agent/agent.sock");
  fs::remove(data_ + "/.agent/agent.sock");
  Serve();
  EXPECT_TRUE(Connect() != nullptr);
  EXPECT_FALSE(fs::exists(data_ + "/.agent"));
}

TEST_F(AdminApiTest, NoAgentIsNotFoundWhetherOrNotOneLeftItsSocket) {
  EXPECT_TRUE(absl::IsNotFound(ConnectToAgent(data_ + "/nothing").status()));
  EXPECT_TRUE(absl::IsNotFound(ConnectToAgent(data_).status()));

  // A killed agent leaves its socket: it is bound, and no process listens.
  const AgentSocket socket = AgentSocket::In(data_).value();
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socket.path().copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  EXPECT_TRUE(absl::IsNotFound(ConnectToAgent(data_).status()));
  close(fd);
  EXPECT_TRUE(absl::IsNotFound(ConnectToAgent(data_).status()));
  // The next agent takes its place.
  Serve();
  EXPECT_NE(Connect(), nullptr);
}

TEST_F(AdminApiTest, AnAgentThatDoesNotAnswerIsUnavailable) {
  const AgentSocket socket = AgentSocket::In(data_).value();
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socket.path().copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  ASSERT_EQ(listen(fd, 5), 0);
  const absl::Status status =
      ConnectToAgent(data_, {.connect_deadline = absl::Milliseconds(300)})
          .status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(data_));
  close(fd);
}

TEST_F(AdminApiTest, AnAgentThatGoesAwayIsUnavailableAndSaysWhatToDo) {
  Serve();
  const auto remote = Connect();
  server_.reset();
  admin::Status status;
  const absl::Status error = remote->GetStatus({}, status);
  EXPECT_TRUE(absl::IsUnavailable(error)) << error;
  EXPECT_THAT(std::string(error.message()), HasSubstr("'gannet serve'"));
}

TEST_F(AdminApiTest, CallsAreCountedByMethodAndThoseThatFailTwice) {
  Serve();
  const auto remote = Connect();  // Asks for the status once.
  admin::Status status;
  ASSERT_TRUE(remote->GetStatus({}, status).ok());
  admin_.status = absl::NotFoundError("no");
  admin::Page page;
  EXPECT_FALSE(remote->GetPage({}, page).ok());
  Raw().Call("/gannet.admin.Admin/GetHosts", "");  // There is no such method.
  server_->Stop(absl::Seconds(5));
  const auto counts = calls_.counts();
  EXPECT_EQ(counts.size(), Methods().size());
  EXPECT_EQ(counts.at("GetStatus").requests, 2);
  EXPECT_EQ(counts.at("GetStatus").failures, 0);
  EXPECT_EQ(counts.at("GetPage").requests, 1);
  EXPECT_EQ(counts.at("GetPage").failures, 1);
  EXPECT_EQ(counts.at("Inject").requests, 0);
}

// --- Bad input ---------------------------------------------------------------

TEST_F(AdminApiTest, AnEmptyRequestIsARequestOfEveryMethod) {
  Serve();
  RawCaller raw = Raw();
  for (const auto* method : Methods()) {
    const RawAnswer answer = raw.Call(PathOf(*method), "", 3);
    EXPECT_TRUE(answer.status.ok() || absl::IsCancelled(answer.status))
        << method->name() << answer.status;
  }
}

TEST_F(AdminApiTest, BytesThatAreNoMessageAreInvalidInEveryMethod) {
  Serve();
  RawCaller raw = Raw();
  for (const auto* method : Methods()) {
    for (const std::string& bytes : {std::string("\xff\xff\xff\xff"),
                                     std::string("\x0a\x7f"
                                                 "abc"),
                                     std::string(1000, '\x0b')}) {
      const RawAnswer answer = raw.Call(PathOf(*method), bytes);
      EXPECT_TRUE(absl::IsInvalidArgument(answer.status))
          << method->name() << answer.status;
      EXPECT_THAT(std::string(answer.status.message()),
                  HasSubstr("not a request of " + method->name()));
    }
  }
  EXPECT_EQ(admin_.calls, 0);
}

// Messages of this type that have bytes which are not UTF-8 in one text field,
// their own or one of a message within them; by the field's name.
std::map<std::string, std::string> NotUtf8(
    const google::protobuf::Descriptor& type) {
  std::map<std::string, std::string> messages;
  const auto add = [&](const google::protobuf::FieldDescriptor& field,
                       const std::string& name, const std::string& value) {
    messages[name] = std::string{static_cast<char>(field.number() << 3 | 2),
                                 static_cast<char>(value.size())} +
                     value;
  };
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (field.type() == google::protobuf::FieldDescriptor::TYPE_STRING) {
      add(field, field.full_name(), "\xc3\x28");
    } else if (field.message_type() != nullptr) {
      for (const auto& [name, bytes] : NotUtf8(*field.message_type())) {
        add(field, field.full_name() + ": " + name, bytes);
      }
    }
  }
  return messages;
}

TEST_F(AdminApiTest, TextThatIsNotUtf8IsInvalidWhereverItStands) {
  Serve();
  RawCaller raw = Raw();
  std::vector<std::string> fields;
  for (const auto* method : Methods()) {
    for (const auto& [field, bytes] : NotUtf8(*method->input_type())) {
      fields.push_back(field);
      const RawAnswer answer = raw.Call(PathOf(*method), bytes);
      EXPECT_TRUE(absl::IsInvalidArgument(answer.status))
          << method->name() << " " << field << answer.status;
    }
  }
  EXPECT_GT(fields.size(), 10u);
  EXPECT_THAT(fields, Contains("gannet.admin.InjectRequest.seeds: "
                               "gannet.admin.InjectRequest.Seed.url"));
  EXPECT_EQ(admin_.calls, 0);
}

TEST_F(AdminApiTest, FieldsOfTheWrongTypeAreIgnoredAsProtobufDoes) {
  Serve();
  RawCaller raw = Raw();
  for (const auto* method : Methods()) {
    // Gives fields 1 to 5 as varints, then as four bytes.
    std::string bytes;
    for (int n = 1; n <= 5; ++n) {
      bytes += static_cast<char>(n << 3);
      bytes += '\x01';
      bytes += static_cast<char>(n << 3 | 5);
      bytes += std::string(4, '\x01');
    }
    const RawAnswer answer = raw.Call(PathOf(*method), bytes, 3);
    EXPECT_TRUE(answer.status.ok() || absl::IsCancelled(answer.status))
        << method->name() << answer.status;
  }
}

TEST_F(AdminApiTest, ARequestPastTheLimitIsRefusedInEveryMethod) {
  Serve();
  RawCaller raw = Raw();
  const std::string huge(17 << 20, 'a');
  for (const auto* method : Methods()) {
    const RawAnswer answer = raw.Call(PathOf(*method), huge);
    EXPECT_TRUE(absl::IsResourceExhausted(answer.status))
        << method->name() << answer.status;
    EXPECT_THAT(std::string(answer.status.message()), HasSubstr("larger"));
  }
  EXPECT_EQ(admin_.calls, 0);
}

// Asks again while there are too many callers, for a minute at most.
absl::Status OnceThereIsAPlace(const std::function<absl::Status()>& ask) {
  const absl::Time last = absl::Now() + absl::Minutes(1);
  absl::Status status = ask();
  while (absl::IsAborted(status) && absl::Now() < last) {
    std::this_thread::yield();
    status = ask();
  }
  return status;
}

TEST_F(AdminApiTest, AThousandWatchersAreServedOrToldThatTheyAreTooMany) {
  Serve();
  const auto remote = Connect();
  std::atomic<int> served = 0, refused = 0, odd = 0;
  std::atomic<bool> end = false;
  std::vector<std::thread> watchers;
  admin::WatchStatusRequest request;
  request.mutable_every()->set_nanos(200'000'000);
  for (int i = 0; i < 1000; ++i) {
    watchers.emplace_back([&] {
      bool first = true;
      const absl::Status status =
          remote->WatchStatus(request, [&](const auto&) {
            if (std::exchange(first, false)) ++served;
            return !end;
          });
      if (absl::IsAborted(status)) {
        EXPECT_FALSE(status.message().empty());
        ++refused;
      } else if (!status.ok()) {
        ++odd;
      }
    });
  }
  while (served + refused + odd < 1000) std::this_thread::yield();
  EXPECT_EQ(odd, 0);
  EXPECT_LE(served, kMostStreams);
  EXPECT_GE(served, 10);
  // Other callers are still served.
  EXPECT_TRUE(OnceThereIsAPlace([&] {
                admin::Status status;
                return remote->GetStatus({}, status);
              }).ok());
  end = true;
  for (std::thread& watcher : watchers) watcher.join();
  // New watchers are served too, once the agent has noticed that others left.
  EXPECT_TRUE(OnceThereIsAPlace([&] {
                return remote->WatchStatus(request,
                                           [](const auto&) { return false; });
              }).ok());
}

// --- Reflection and health ---------------------------------------------------

constexpr char kReflect[] =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// gRPC's reflection library has the message types; Debian has no .proto of
// them.
std::unique_ptr<google::protobuf::Message> ReflectionMessage(
    const std::string& name) {
  const auto* type =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
          "grpc.reflection.v1alpha." + name);
  EXPECT_NE(type, nullptr) << name;
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(type)
          ->New());
}

std::unique_ptr<google::protobuf::Message> Reflect(RawCaller& raw,
                                                   const char* field,
                                                   const std::string& value) {
  const auto request = ReflectionMessage("ServerReflectionRequest");
  request->GetReflection()->SetString(
      request.get(), request->GetDescriptor()->FindFieldByName(field), value);
  const RawAnswer answer = raw.Call(kReflect, request->SerializeAsString());
  EXPECT_EQ(answer.messages.size(), 1u) << answer.status;
  auto reply = ReflectionMessage("ServerReflectionResponse");
  if (!answer.messages.empty()) reply->ParseFromString(answer.messages[0]);
  return reply;
}

TEST_F(AdminApiTest, AReflectionClientFindsTheServiceAndItsMethods) {
  Serve();
  RawCaller raw = Raw();
  const auto list = Reflect(raw, "list_services", "*");
  EXPECT_THAT(list->DebugString(), HasSubstr("\"gannet.admin.Admin\""));
  EXPECT_THAT(list->DebugString(), HasSubstr("\"grpc.health.v1.Health\""));

  const auto reply =
      Reflect(raw, "file_containing_symbol", "gannet.admin.Admin");
  const auto* field =
      reply->GetDescriptor()->FindFieldByName("file_descriptor_response");
  const auto& files = reply->GetReflection()->GetMessage(*reply, field);
  const auto* bytes =
      files.GetDescriptor()->FindFieldByName("file_descriptor_proto");
  std::vector<std::string> methods;
  for (int i = 0; i < files.GetReflection()->FieldSize(files, bytes); ++i) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(
        files.GetReflection()->GetRepeatedString(files, bytes, i)));
    for (const auto& service : file.service()) {
      for (const auto& method : service.method()) {
        methods.push_back(method.name());
      }
    }
  }
  EXPECT_EQ(methods.size(), Methods().size());
  EXPECT_THAT(methods, Contains("GetStatus"));
  EXPECT_THAT(methods, Contains("RunRounds"));
}

TEST_F(AdminApiTest, TheHealthServiceSaysServing) {
  Serve();
  // HealthCheckRequest {} and HealthCheckResponse { status = 1: SERVING }.
  const RawAnswer answer = Raw().Call("/grpc.health.v1.Health/Check", "");
  ASSERT_TRUE(answer.status.ok()) << answer.status;
  ASSERT_EQ(answer.messages.size(), 1u);
  EXPECT_EQ(answer.messages[0], "\x08\x01");
}

}  // namespace
}  // namespace gannet::sites
