#include <fmt/format.h>

#include <memory>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"

namespace gannet::sites {

void AddConfigCommand(Command& parent) {
  auto flags = std::make_shared<SiteFlags>();
  Command& command = parent.Add("config", "the configuration in force");
  flags->AddAskFlags(command);
  command.Example("gannet config --data ./tokyo",
                  "Every key with its value, defaults too. Of an agent: what "
                  "it goes by,\nwhich a changed site.yaml does not alter until "
                  "it is reloaded.");
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
