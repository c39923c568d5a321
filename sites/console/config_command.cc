#include <fmt/format.h>

#include <memory>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"

namespace gannet::sites {

void AddConfigCommand(Command& parent) {
  auto flags = std::make_shared<SiteFlags>();
  Command& command = parent.Add("config", "show the configuration in force");
  flags->AddAskFlags(command);
  command.Example("gannet config --data ./tokyo",
                  "Prints every key with its value, defaults too. If an agent "
                  "runs the\nsite, these are the values that it uses; a "
                  "changed site.yaml counts\nafter 'gannet round "
                  "--reload', which names the keys that need a restart.");
  command.Run([flags] {
    return AskSite<admin::GetConfigurationRequest, admin::Configuration>(
        *flags, &Admin::GetConfiguration, {},
        [](const admin::Configuration& reply) {
          return reply.file().empty()
                     ? reply.yaml()
                     : fmt::format("# {}\n{}", reply.file(), reply.yaml());
        });
  });
}

}  // namespace gannet::sites
