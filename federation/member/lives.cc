#include "federation/member/lives.h"

#include <fmt/format.h>

namespace gannet::federation {

absl::Status Lives::Hear(const peers::Greeting& greeting, absl::Time now) {
  storage::MutexLock lock(&mu_);
  const auto [known, is_first] =
      lives_.try_emplace(greeting.site(), Life{greeting.process(), now});
  Life& life = known->second;
  if (!is_first && life.process != greeting.process() &&
      now - life.heard < silence_) {
    return absl::AlreadyExistsError(fmt::format(
        "another process speaks for site {} as well: a second copy of it, "
        "which "
        "must not run (a site that was just restarted is believed in {:.0f} s)",
        greeting.site(), absl::ToDoubleSeconds(silence_)));
  }
  life = {greeting.process(), now};
  return absl::OkStatus();
}

}  // namespace gannet::federation
