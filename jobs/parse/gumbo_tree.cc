#include "jobs/parse/gumbo_tree.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

// Where to go from a failed assertion of gumbo; null while it does not run.
thread_local std::jmp_buf* leave_gumbo = nullptr;

}  // namespace

// Debian's gumbo is built with its assertions, and pages exist that fail them
// (<table><svg><select><title>t<select><td>): a stranger could end the process
// at will. So this stands before glibc's function of the name, for the whole
// program: within gumbo it gives up the page, anywhere else it does what
// glibc's does.
extern "C" __attribute__((noreturn)) void __assert_fail(
    const char* assertion, const char* file, unsigned int line,
    const char* function) noexcept {
  if (leave_gumbo != nullptr) std::longjmp(*leave_gumbo, 1);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line,
               function == nullptr ? "?" : function, assertion);
  std::fflush(nullptr);
  std::abort();
}

namespace gannet::jobs {
namespace {

// gumbo reads 17 MB/s, so 60 ns a byte; slow machines and rich pages get ten
// times as much.
constexpr int64_t kBaseNs = 200'000'000;
constexpr int64_t kNsPerByte = 600;
constexpr int64_t kMostNs = 5'000'000'000;  // Somebody may want to stop.
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
      ThreadNs() +
      std::min(kBaseNs + kNsPerByte * static_cast<int64_t>(html.size()),
               kMostNs);
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = Allocate;
  options.deallocator = Deallocate;
  options.userdata = this;
  options.max_errors = 0;  // Nobody reads them.
  // No object with a destructor may live between here and the allocator.
  if (setjmp(leave_) != 0) {
    leave_gumbo = nullptr;
    return nullptr;
  }
  leave_gumbo = &leave_;
  const GumboOutput* output =
      gumbo_parse_with_options(&options, html.data(), html.size());
  leave_gumbo = nullptr;
  return output->document;
}

}  // namespace gannet::jobs
