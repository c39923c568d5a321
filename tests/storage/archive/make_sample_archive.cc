// make_sample_archive FOLDER: a small archive with records of every type and
// hostile values, for readers that are not ours (read_warc.py, bsdtar).
#include <cstdio>
#include <cstdlib>

#include "storage/archive/archive.h"
#include "storage/archive/digest.h"
#include "tests/simulated_clock.h"
#include "tests/storage/archive/sample_pages.h"

namespace gannet::storage {
namespace {

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void Make(const char* folder) {
  const absl::Time date = absl::FromUnixSeconds(1769903999);
  ArchiveSettings settings;
  settings.site = "sample";
  settings.file_size = 100000;
  settings.cdxj_memory = 4000;
  settings.info = {{"operator", "somebody\r\nWARC-Type: evil"}};
  SimulatedClock clock(date);
  auto archive = Archive::Open(folder, settings, {}, clock);
  Check(archive.status());
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const SamplePage page = MakeSamplePage(seed, 1000 * (seed % 12));
    std::vector<NewRecord> records =
        RecordsOf(page, date + absl::Seconds(seed));
    if (seed % 7 == 0) records[kSampleResponse].truncated = Truncated::kLength;
    Check((*archive)->Append(records).status());

    const std::string digest = Sha1Digest(page.body);
    const NewRecord revisit{
        .type = RecordType::kRevisit,
        .url = page.url,
        .date = date + absl::Hours(24),
        .ip = "2001:db8::1",
        .head = "HTTP/1.1 304 Not Modified\r\nDate: x\r\n\r\n",
        .payload_digest = digest,
        .revisit = RevisitOf{RevisitOf::Profile::kServerNotModified, page.url,
                             date + absl::Seconds(seed)}};
    if (seed % 5 == 0) Check((*archive)->Append({revisit}).status());
  }
  const NewRecord hostile{
      .type = RecordType::kResponse,
      .url = "http://evil.example/a b\r\nWARC-Type: warcinfo\r\n\r\n\"\\\xfe",
      .date = date,
      .head = "HTTP/1.1 200 OK\r\nContent-Type: \"\r\n\r\n",
      .payload = "WARC/1.1\r\nContent-Length: 5\r\n\r\n"};
  Check((*archive)->Append({hostile}).status());
  (*archive)->EndFile();
  auto state = (*archive)->Sync();
  Check(state.status());
  Check((*archive)->Committed(*state));
}

}  // namespace
}  // namespace gannet::storage

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_sample_archive FOLDER\n");
    return 2;
  }
  gannet::storage::Make(argv[1]);
  return 0;
}
