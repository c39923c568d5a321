#include "jobs/parse/gumbo_tree.h"

#include <ctime>

namespace gannet::jobs {
namespace {

// gumbo reads 17 MB/s, so 60 ns a byte; slow machines and rich pages get ten
// times as much.
constexpr int64_t kBaseNs = 200'000'000;
constexpr int64_t kNsPerByte = 600;
// Reading the clock is a system call.
constexpr uint64_t kAllocationsPerLook = 4096;

// The thread's own time: a busy machine must not change what is read.
int64_t ThreadNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

bool GumboTree::IsLate() const { return ThreadNs() > deadline_ns_; }

void* GumboTree::Allocate(void* self, size_t bytes) {
  auto* tree = static_cast<GumboTree*>(self);
  void* memory = tree->arena_.Allocate(bytes);
  if (memory == nullptr ||
      (++tree->allocations_ % kAllocationsPerLook == 0 && tree->IsLate())) {
    std::longjmp(tree->leave_, 1);
  }
  return memory;
}

void GumboTree::Deallocate(void*, void*) {}

const GumboNode* GumboTree::Parse(std::string_view html) {
  arena_.Reset();
  deadline_ns_ =
      ThreadNs() + kBaseNs + kNsPerByte * static_cast<int64_t>(html.size());
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = Allocate;
  options.deallocator = Deallocate;
  options.userdata = this;
  options.max_errors = 0;  // Nobody reads them.
  // No object with a destructor may live between here and the allocator.
  if (setjmp(leave_) != 0) return nullptr;
  const GumboOutput* output =
      gumbo_parse_with_options(&options, html.data(), html.size());
  return output->document;
}

}  // namespace gannet::jobs
