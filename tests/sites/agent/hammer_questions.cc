#include "tests/sites/agent/hammer_questions.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace gannet::sites {
namespace {

constexpr size_t kMostUrls = 1000;

absl::Status Or(absl::StatusCode allowed, const absl::Status& status) {
  return status.code() == allowed ? absl::OkStatus() : status;
}

// `status` if it is an error; kInternal if the answer is wrong; else OK.
absl::Status Wrong(const absl::Status& status, bool is_right,
                   const google::protobuf::Message& reply) {
  if (!status.ok() || is_right) return status;
  return absl::InternalError("a wrong answer: " + reply.ShortDebugString());
}

// Calls a verb whose request is empty.
template <typename Request, typename Reply,
          absl::Status (Admin::*verb)(const Request&, Reply&)>
absl::Status Plain(Admin& agent, Asker&) {
  Reply reply;
  return (agent.*verb)(Request(), reply);
}

// Calls a verb of the federation, in which this site is not.
template <typename Request, typename Reply,
          absl::Status (Admin::*verb)(const Request&, Reply&)>
absl::Status InNoFederation(Admin& agent, Asker& asker) {
  return Or(absl::StatusCode::kFailedPrecondition,
            Plain<Request, Reply, verb>(agent, asker));
}

absl::Status GetStatus(Admin& agent, Asker&) {
  admin::Status reply;
  const absl::Status status = agent.GetStatus({}, reply);
  return Wrong(status, reply.known() > 0 && reply.has_agent(), reply);
}

absl::Status WatchStatus(Admin& agent, Asker&) {
  int looks = 2;
  return agent.WatchStatus({}, [&](const auto&) { return looks-- > 0; });
}

absl::Status ListRounds(Admin& agent, Asker& asker) {
  admin::ListRoundsRequest request;
  request.set_most(asker.random() % 30);
  admin::RoundReports reply;
  return agent.ListRounds(request, reply);
}

absl::Status ListHosts(Admin& agent, Asker& asker) {
  static constexpr std::array kBy = {"", "pages", "failures", "rest", "slow"};
  admin::ListHostsRequest request;
  request.set_by(kBy[asker.random() % kBy.size()]);
  admin::Hosts reply;
  const absl::Status status = agent.ListHosts(request, reply);
  return Wrong(status, reply.hosts_size() > 0, reply);
}

absl::Status GetPage(Admin& agent, Asker& asker) {
  admin::GetPageRequest request;
  request.set_url(asker.AnyUrl());
  request.set_links(asker.random() % 2 == 0);
  admin::Page reply;
  const absl::Status status = agent.GetPage(request, reply);
  return Wrong(status,
               reply.url() == request.url() && !reply.archive().has_problem(),
               reply);
}

absl::Status GetPageBody(Admin& agent, Asker& asker) {
  admin::GetPageRequest request;
  request.set_url(asker.AnyUrl());
  // kNotFound if the page was not fetched yet.
  return Or(absl::StatusCode::kNotFound,
            agent.GetPageBody(request, [](const auto&) { return true; }));
}

absl::Status Export(Admin& agent, Asker& asker) {
  static constexpr std::array kKinds = {"urls", "fetches", "links", "text",
                                        "cdxj"};
  admin::ExportRequest request;
  request.set_kind(kKinds[asker.random() % kKinds.size()]);
  // Most clients read only the beginning.
  int pieces = static_cast<int>(asker.random() % 4);
  bool lines_are_whole = true;
  const absl::Status status =
      agent.Export(request, [&](const admin::ExportedLines& piece) {
        const std::string& lines = piece.lines();
        if (lines.empty()) return true;
        if (!lines.ends_with('\n')) lines_are_whole = false;
        if (request.kind() == "urls" && asker.urls.size() < kMostUrls) {
          asker.urls.push_back(lines.substr(0, lines.find('\n')));
        }
        return pieces-- > 0;
      });
  return Wrong(status, lines_are_whole, request);
}

absl::Status CheckUrl(Admin& agent, Asker& asker) {
  admin::CheckUrlRequest request;
  request.set_url(asker.AnyUrl());
  admin::UrlCheck reply;
  const absl::Status status = agent.CheckUrl(request, reply);
  return Wrong(status, reply.known(), reply);
}

absl::Status GetRobots(Admin& agent, Asker& asker) {
  admin::GetRobotsRequest request;
  request.set_url(asker.AnyUrl());
  admin::StoredRobots reply;
  // kNotFound if the host was not asked yet.
  return Or(absl::StatusCode::kNotFound, agent.GetRobots(request, reply));
}

absl::Status Verify(Admin& agent, Asker&) {
  admin::Verification reply;
  const absl::Status status = agent.Verify({}, reply);
  return Wrong(status, reply.ok(), reply);
}

absl::Status Inject(Admin& agent, Asker& asker) {
  admin::InjectRequest request;
  request.add_seeds()->set_url(asker.seed);
  request.add_seeds()->set_url("not a URL");
  admin::Injected reply;
  const absl::Status status = agent.Inject(request, reply);
  return Wrong(status, reply.known() == 1 && reply.bad() == 1, reply);
}

absl::Status Block(Admin& agent, Asker& asker) {
  admin::BlockRequest request;
  request.set_domain(fmt::format("blocked{}.example", asker.random() % 5));
  request.set_undo(asker.random() % 2 == 0);
  admin::BlockChange reply;
  const absl::Status status = agent.Block(request, reply);
  // kNotFound if another client has already ended the block.
  return request.undo() ? Or(absl::StatusCode::kNotFound, status) : status;
}

absl::Status RunRounds(Admin& agent, Asker& asker) {
  admin::RunRoundsRequest request;
  request.set_rounds(1);
  // Some clients leave before the round has ended, which does not affect it.
  int looks = static_cast<int>(asker.random() % 10);
  // kCancelled if the operator has stopped the round.
  return Or(absl::StatusCode::kCancelled,
            agent.RunRounds(request, [&](const auto&) { return looks-- > 0; }));
}

absl::Status StopRounds(Admin& agent, Asker&) {
  admin::RoundsState reply;
  const absl::Status status = agent.StopRounds({}, reply);
  return Wrong(status, !reply.state().empty(), reply);
}

absl::Status PauseRounds(Admin& agent, Asker&) {
  admin::RoundsState reply;
  const absl::Status status = agent.PauseRounds({}, reply);
  return Wrong(status, reply.paused(), reply);
}

absl::Status ResumeRounds(Admin& agent, Asker&) {
  admin::RoundsState reply;
  const absl::Status status = agent.ResumeRounds({}, reply);
  return Wrong(status, !reply.paused(), reply);
}

}  // namespace

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions = {
      {"GetStatus", 10, GetStatus},
      {"WatchStatus", 5, WatchStatus},
      {"ListRounds", 5, ListRounds},
      {"ListHosts", 5, ListHosts},
      {"GetFrontier", 5,
       Plain<admin::GetFrontierRequest, admin::Frontier, &Admin::GetFrontier>},
      {"GetPage", 10, GetPage},
      {"GetPageBody", 5, GetPageBody},
      {"Export", 10, Export},
      {"CheckUrl", 5, CheckUrl},
      {"GetRobots", 5, GetRobots},
      {"GetConfiguration", 5,
       Plain<admin::GetConfigurationRequest, admin::Configuration,
             &Admin::GetConfiguration>},
      {"Verify", 1, Verify},
      {"Inject", 5, Inject},
      {"Block", 5, Block},
      {"ListBlocked", 5,
       Plain<admin::ListBlockedRequest, admin::BlockedDomains,
             &Admin::ListBlocked>},
      {"ChangeScope", 5,
       Plain<admin::ScopeRequest, admin::ScopeRules, &Admin::ChangeScope>},
      {"GetLater", 5,
       Plain<admin::GetLaterRequest, admin::Later, &Admin::GetLater>},
      {"ListArchive", 5,
       Plain<admin::ListArchiveRequest, admin::ArchiveFiles,
             &Admin::ListArchive>},
      {"RunRounds", 1, RunRounds},
      {"GetFederation", 5,
       Plain<admin::GetFederationRequest, admin::Federation,
             &Admin::GetFederation>},
      {"ChangeFederation", 1,
       InNoFederation<admin::ChangeFederationRequest, admin::FederationChange,
                      &Admin::ChangeFederation>},
      {"PlanFederation", 1,
       InNoFederation<admin::ChangeFederationRequest, admin::FederationPlan,
                      &Admin::PlanFederation>},
      {"VerifyFederation", 1,
       InNoFederation<admin::VerifyRequest, admin::Verification,
                      &Admin::VerifyFederation>},
  };
  return questions;
}

const std::vector<Question>& OperatorsSteps() {
  static const std::vector<Question> steps = {
      {"StopRounds", 1, StopRounds},
      {"ResumeRounds", 1, ResumeRounds},
      {"FinishArchiveFile", 1,
       Plain<admin::FinishArchiveFileRequest, admin::FinishedArchiveFiles,
             &Admin::FinishArchiveFile>},
      {"PauseRounds", 1, PauseRounds},
      {"ResumeRounds", 1, ResumeRounds},
      {"Reload", 1,
       Plain<admin::ReloadRequest, admin::Reloaded, &Admin::Reload>},
  };
  return steps;
}

}  // namespace gannet::sites
