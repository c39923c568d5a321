// The load of the soak test: many clients that ask an agent everything for a
// while. One of them is an operator, who stops, pauses and resumes rounds.
// Prints the answers that they got (hammer_tally.h).
//
//   admin_hammer DATA_FOLDER CLIENTS SECONDS SEED_URL
#include <fmt/format.h>

#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "sites/admin/remote_admin.h"
#include "tests/sites/agent/hammer_questions.h"
#include "tests/sites/agent/hammer_tally.h"

namespace gannet::sites {
namespace {

// Clients pause between their questions, as people do: 50 of them without a
// pause would only measure the machine.
constexpr int kMostPauseMs = 100;
// Between two steps of the operator, so long that most rounds run undisturbed.
constexpr int kOperatorsPauseMs = 500;

const Question& Draw(std::mt19937& random) {
  int weights = 0;
  for (const Question& question : Questions()) weights += question.weight;
  int drawn = static_cast<int>(random() % static_cast<unsigned>(weights));
  for (const Question& question : Questions()) {
    if ((drawn -= question.weight) < 0) return question;
  }
  return Questions().front();
}

class Client {
 public:
  Client(const std::string& data, const std::string& seed, uint32_t number,
         HammerTally& tally)
      : data_(data),
        asker_{.seed = seed, .random = std::mt19937(number), .urls = {}},
        tally_(tally) {}

  void AskUntil(absl::Time until) {
    while (absl::Now() < until) {
      Ask(Draw(asker_.random));
      absl::SleepFor(absl::Milliseconds(asker_.random() % kMostPauseMs));
    }
  }

  void OperateUntil(absl::Time until) {
    while (absl::Now() < until) {
      for (const Question& step : OperatorsSteps()) {
        Ask(step);
        absl::SleepFor(absl::Milliseconds(kOperatorsPauseMs));
      }
    }
  }

 private:
  void Ask(const Question& question) {
    // Connects anew after an error, and now and then without one.
    if (agent_ == nullptr || asker_.random() % 50 == 0) Connect();
    if (agent_ == nullptr) return;
    const absl::Time began = absl::Now();
    const absl::Status status = question.ask(*agent_, asker_);
    tally_.Add(question.verb, began, status);
    if (absl::IsUnavailable(status)) agent_ = nullptr;
  }

  void Connect() {
    agent_ = nullptr;
    const absl::Time began = absl::Now();
    auto connected = ConnectToAgent(data_);
    // Connect() says kNotFound if no process listens, because commands then
    // open the data folder themselves.
    tally_.Add("Connect", began,
               absl::IsNotFound(connected.status())
                   ? absl::UnavailableError(connected.status().message())
                   : connected.status());
    if (connected.ok()) agent_ = *std::move(connected);
  }

  const std::string data_;
  Asker asker_;
  HammerTally& tally_;
  std::unique_ptr<Admin> agent_;
};

}  // namespace
}  // namespace gannet::sites

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  gannet::sites::HammerTally tally;
  const absl::Time until = absl::Now() + absl::Seconds(std::atof(argv[3]));
  std::vector<std::thread> clients;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    clients.emplace_back([&, i] {
      gannet::sites::Client client(argv[1], argv[4], static_cast<uint32_t>(i),
                                   tally);
      i == 0 ? client.OperateUntil(until) : client.AskUntil(until);
    });
  }
  for (std::thread& client : clients) client.join();
  fmt::print("{}\n", tally.Json().dump());
}
