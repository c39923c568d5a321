#include "sites/dashboard/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gannet::sites {
namespace {

// Fields of /proc/self/stat from the third on (proc(5) counts from one): the
// second is the program's name, which may have spaces and brackets in it.
std::vector<std::string> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(line.substr(name_ends + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

std::optional<double> BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  }
  return {};
}

std::optional<int64_t> OpenFds() {
  std::error_code failed;
  int64_t count = 0;
  for (std::filesystem::directory_iterator i("/proc/self/fd", failed), end;
       !failed && i != end; i.increment(failed)) {
    ++count;
  }
  if (failed) return {};
  return count - 1;  // Less the one that looks.
}

}  // namespace

ProcessFigures LookAtProcess() {
  ProcessFigures figures;
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::vector<std::string> stat = StatFields();
  // Numbers 14, 15, 22 and 24: utime, stime, starttime, rss.
  if (stat.size() > 21) {
    figures.cpu_seconds = (std::stod(stat[11]) + std::stod(stat[12])) / ticks;
    if (const auto boot = BootTimeSeconds(); boot.has_value()) {
      figures.start_time_seconds = *boot + std::stod(stat[19]) / ticks;
    }
    figures.resident_bytes = std::stoll(stat[21]) * sysconf(_SC_PAGESIZE);
  }
  figures.open_fds = OpenFds();
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    figures.max_fds = static_cast<int64_t>(limit.rlim_cur);
  }
  return figures;
}

}  // namespace gannet::sites
