#include "sites/console/federation_command.h"

#include "sites/console/federation_certs_command.h"

namespace gannet::sites {

void AddFederationCommand(Command& parent) {
  Command& command =
      parent.Add("federation", "several sites that crawl one web together");
  AddFederationCertsCommand(command);
  command.Example("gannet federation certs --out certs --site tokyo");
}

}  // namespace gannet::sites
