#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "sites/agent/certificate_authority.h"
#include "sites/console/commands.h"
#include "sites/console/new_file.h"
#include "sites/console/output.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;

constexpr int kSecret = 0600;
constexpr int64_t kAuthorityDays = 3650;

struct Flags {
  std::string out;
  std::string ca;
  std::vector<std::string> sites;
  std::vector<std::string> admins;
  uint64_t days = 365;
  bool renew = false;
  bool json = false;
};

// A site or an administrator that gets a certificate.
struct Holder {
  std::string name;
  bool is_site = false;
  std::vector<std::string> hosts;
};

struct Paths {
  std::string cert, key;
};

struct Made {
  Holder holder;
  Paths paths;
  CertificateAuthority::Pem pem;
};

struct Authority {
  CertificateAuthority authority;
  Paths paths;
  bool is_new = false;
};

Paths PathsOf(const std::string& folder, const std::string& name) {
  return {(fs::path(folder) / (name + ".pem")).string(),
          (fs::path(folder) / (name + ".key")).string()};
}

bool Exists(const std::string& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() != fs::file_type::not_found;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    return absl::FailedPreconditionError(
        fmt::format("{} cannot be read", path));
  }
  return text.str();
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  // Keys will be in it; a folder that is there stays as open as it is.
  const bool made = fs::create_directories(path, error);
  if (!error && made) {
    fs::permissions(path, fs::perms::owner_all, error);
  }
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("cannot make {}: {}", path, error.message()));
}

// "tokyo=tokyo.example,192.0.2.7"
Holder SiteOf(const std::string& text) {
  const size_t equals = text.find('=');
  Holder site{.name = text.substr(0, equals), .is_site = true, .hosts = {}};
  if (equals == std::string::npos) return site;
  std::istringstream hosts(text.substr(equals + 1));
  for (std::string host; std::getline(hosts, host, ',');) {
    site.hosts.push_back(host);
  }
  return site;
}

absl::StatusOr<std::vector<Holder>> HoldersOf(const Flags& flags) {
  std::vector<Holder> holders;
  for (const std::string& text : flags.sites) holders.push_back(SiteOf(text));
  for (const std::string& name : flags.admins) {
    holders.push_back({.name = name, .is_site = false, .hosts = {}});
  }
  if (holders.empty()) {
    return absl::InvalidArgumentError(
        "whose? --site NAME and --admin NAME say for whom certificates are "
        "made");
  }
  std::set<std::string> names = {"ca"};  // The authority's files.
  for (const Holder& holder : holders) {
    if (names.insert(holder.name).second) continue;
    return absl::InvalidArgumentError(
        holder.name == "ca"
            ? std::string("'ca' is the name of the authority's files; choose "
                          "another")
            : fmt::format("'{}' is there twice; each name has its own "
                          "certificate",
                          holder.name));
  }
  return holders;
}

// The one of the folder, or a new one, which is not written yet.
absl::StatusOr<Authority> FindAuthority(const Flags& flags, absl::Time now) {
  const Paths paths = PathsOf(flags.ca.empty() ? flags.out : flags.ca, "ca");
  const bool has_cert = Exists(paths.cert), has_key = Exists(paths.key);
  if (has_cert != has_key) {
    return absl::FailedPreconditionError(fmt::format(
        "{} is there, but {} is not: a federation has one authority; bring "
        "both, or choose another folder for a new one",
        has_cert ? paths.cert : paths.key, has_cert ? paths.key : paths.cert));
  }
  if (!has_cert) {
    absl::StatusOr<CertificateAuthority> made =
        CertificateAuthority::Create(now, kAuthorityDays);
    if (!made.ok()) return made.status();
    return Authority{*std::move(made), paths, /*is_new=*/true};
  }
  const absl::StatusOr<std::string> cert = ReadWhole(paths.cert);
  if (!cert.ok()) return cert.status();
  const absl::StatusOr<std::string> key = ReadWhole(paths.key);
  if (!key.ok()) return key.status();
  absl::StatusOr<CertificateAuthority> read =
      CertificateAuthority::Read(*cert, *key);
  if (!read.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("{} and {}: {}", paths.cert, paths.key,
                    std::string(read.status().message())));
  }
  return Authority{*std::move(read), paths, /*is_new=*/false};
}

// Makes, but does not write.
absl::StatusOr<Made> MakeOne(const Flags& flags, const Holder& holder,
                             const CertificateAuthority& authority,
                             absl::Time now) {
  Made made = {holder, PathsOf(flags.out, holder.name), {}};
  std::string key;
  if (flags.renew) {
    absl::StatusOr<std::string> read = ReadWhole(made.paths.key);
    if (!read.ok()) {
      return absl::FailedPreconditionError(
          fmt::format("{}: --renew is for keys that are there",
                      std::string(read.status().message())));
    }
    key = *std::move(read);
  } else {
    for (const std::string& path : {made.paths.key, made.paths.cert}) {
      if (!Exists(path)) continue;
      return absl::AlreadyExistsError(fmt::format(
          "{} exists already, and nothing was written; --renew makes a new "
          "certificate for the same key",
          path));
    }
  }
  const auto days = static_cast<int64_t>(flags.days);
  absl::StatusOr<CertificateAuthority::Pem> pem =
      holder.is_site
          ? authority.IssueSite(holder.name, holder.hosts, now, days, key)
          : authority.IssueAdministrator(holder.name, now, days, key);
  if (!pem.ok() && !key.empty()) {
    return absl::Status(pem.status().code(),
                        fmt::format("{}: {}", made.paths.key,
                                    std::string(pem.status().message())));
  }
  if (!pem.ok()) return pem.status();
  made.pem = *std::move(pem);
  return made;
}

// The key first: a certificate without one is of no use to anybody.
absl::Status WritePair(const Paths& paths,
                       const CertificateAuthority::Pem& pem) {
  absl::Status written = WriteNewFile(paths.key, pem.key, kSecret);
  if (!written.ok()) return written;
  written = WriteNewFile(paths.cert, pem.cert);
  if (!written.ok()) unlink(paths.key.c_str());
  return written;
}

absl::Status WriteAll(const Flags& flags, const Authority& authority,
                      const std::vector<Made>& all) {
  const std::string ca_folder =
      fs::path(authority.paths.cert).parent_path().string();
  for (const std::string& folder : {ca_folder, flags.out}) {
    if (absl::Status s = MakeFolder(folder); !s.ok()) return s;
  }
  const CertificateAuthority::Pem& pem = authority.authority.pem();
  if (authority.is_new) {
    if (absl::Status s = WritePair(authority.paths, pem); !s.ok()) return s;
  }
  // Sites need the authority's certificate, never its key.
  const std::string copy = PathsOf(flags.out, "ca").cert;
  if (!Exists(copy)) {
    if (absl::Status s = WriteNewFile(copy, pem.cert); !s.ok()) return s;
  }
  for (const Made& made : all) {
    const absl::Status written =
        flags.renew ? ReplaceFile(made.paths.cert, made.pem.cert)
                    : WritePair(made.paths, made.pem);
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

// A copy of another authority's certificate in --out would go to the sites with
// keys that it never signed.
absl::Status CheckCopy(const Flags& flags, const Authority& authority) {
  const std::string copy = PathsOf(flags.out, "ca").cert;
  if (flags.ca.empty() || !Exists(copy)) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadWhole(copy);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::string> own = authority.is_new
                                              ? authority.authority.pem().cert
                                              : ReadWhole(authority.paths.cert);
  if (!own.ok()) return own.status();
  if (*text == *own) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} is not the certificate of {}; choose another --out", copy,
                  authority.paths.cert));
}

std::string Day(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d", time, absl::UTCTimeZone());
}

std::vector<std::string> HostsOf(const Holder& holder) {
  if (!holder.is_site) return holder.hosts;
  return CertificateAuthority::HostsWithOwn(holder.hosts);
}

nlohmann::json ForMachines(const Authority& authority,
                           const std::vector<Made>& all) {
  const auto expires = [](absl::Time time) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
  };
  nlohmann::json json = {
      {"ca",
       {{"cert", authority.paths.cert},
        {"key", authority.paths.key},
        {"new", authority.is_new},
        {"expires", expires(authority.authority.pem().expires)}}},
      {"sites", nlohmann::json::array()},
      {"administrators", nlohmann::json::array()}};
  for (const Made& made : all) {
    nlohmann::json entry = {{"name", made.holder.name},
                            {"cert", made.paths.cert},
                            {"key", made.paths.key},
                            {"expires", expires(made.pem.expires)}};
    if (made.holder.is_site) entry["hosts"] = HostsOf(made.holder);
    json[made.holder.is_site ? "sites" : "administrators"].push_back(entry);
  }
  return json;
}

std::string ForPeople(const Flags& flags, const Authority& authority,
                      const std::vector<Made>& all) {
  std::string text;
  const auto line = [&](const Paths& paths, bool has_new_key,
                        const std::string& what) {
    text +=
        fmt::format("wrote {}{}: {}\n", ForTerminal(paths.cert),
                    has_new_key ? " and " + ForTerminal(paths.key) : "", what);
  };
  const absl::Time until = authority.authority.pem().expires;
  if (authority.is_new) {
    line(authority.paths, true,
         fmt::format("the authority, good until {}", Day(until)));
  } else {
    text += fmt::format("signed by {}, good until {}\n",
                        ForTerminal(authority.paths.cert), Day(until));
  }
  for (const Made& made : all) {
    line(made.paths, !flags.renew,
         made.holder.is_site
             ? fmt::format(
                   "site {}, reached as {}; good until {}", made.holder.name,
                   fmt::join(HostsOf(made.holder), ", "), Day(made.pem.expires))
             : fmt::format("administrator {}, good until {}", made.holder.name,
                           Day(made.pem.expires)));
  }
  text += "\n";
  for (const Made& made : all) {
    const std::string& name = made.holder.name;
    text += fmt::format("to the {} of {}: ca.pem {}.pem {}.key\n",
                        made.holder.is_site ? "machine" : "computer", name,
                        name, name);
  }
  text += fmt::format(
      "Keep {} OFF the sites: who has it can pass for any site and any "
      "administrator.\n",
      ForTerminal(authority.paths.key));
  return text;
}

ExitCode Certs(const Flags& flags) {
  const absl::StatusOr<std::vector<Holder>> holders = HoldersOf(flags);
  if (!holders.ok()) return Report(holders.status());
  const absl::Time now = absl::Now();
  const absl::StatusOr<Authority> authority = FindAuthority(flags, now);
  if (!authority.ok()) return Report(authority.status());
  absl::Status status = CheckCopy(flags, *authority);
  if (!status.ok()) return Report(status);
  // All are made before one is written: a typo leaves nothing behind.
  std::vector<Made> all;
  for (const Holder& holder : *holders) {
    absl::StatusOr<Made> made =
        MakeOne(flags, holder, authority->authority, now);
    if (!made.ok()) return Report(made.status());
    all.push_back(*std::move(made));
  }
  status = WriteAll(flags, *authority, all);
  if (!status.ok()) return Report(status);
  Output out;
  if (flags.json) {
    out.WriteJson(ForMachines(*authority, all));
  } else {
    out.Write(ForPeople(flags, *authority, all));
  }
  return out.Finish();
}

}  // namespace

void AddFederationCertsCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("certs", "make the certificates of sites and administrators");
  command.Value("--out", flags->out,
                "the folder to write them to; made if it is missing",
                {.type = "DIR", .required = true});
  command.Value("--site", flags->sites,
                "a site, and where others reach it: NAME[=HOST,HOST...]",
                {.type = "NAME"});
  command.Value("--admin", flags->admins, "an administrator", {.type = "NAME"});
  command.Value("--days", flags->days, "how many days they are valid",
                {.show_default = true, .least = 1, .most = kAuthorityDays});
  command.Value("--ca", flags->ca,
                "the folder of the authority that signs: ca.pem and ca.key, "
                "made if they are missing [that of --out]",
                {.type = "DIR"});
  command.Flag("--renew", flags->renew,
               "make new certificates for the existing keys");
  command.Flag("--json", flags->json, "print one JSON object");
  command.Example(
      "gannet federation certs --out certs --site "
      "tokyo=tokyo.example,192.0.2.7 "
      "--site lima=lima.example --admin ann",
      "No key is ever overwritten. The authority is made once, by the first\n"
      "run; later runs sign with it. Agents take up renewed certificates\n"
      "without a restart.");
  command.Run([flags] { return Certs(*flags); });
}

}  // namespace gannet::sites
