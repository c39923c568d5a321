// A libcurl handle that asks for page after page. What is the same for all of
// them it is told once, and of the rest only what has changed since.
//
// Not thread-safe.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <string>

#include "jobs/fetch/address.h"
#include "jobs/fetch/download_request.h"

namespace gannet::jobs {

class EasyHandle {
 public:
  // `settings` must outlive this. All callbacks are left to the caller.
  explicit EasyHandle(const DownloadSettings& settings);
  ~EasyHandle() { curl_easy_cleanup(handle_); }
  EasyHandle(const EasyHandle&) = delete;
  EasyHandle& operator=(const EasyHandle&) = delete;

  CURL* get() const { return handle_; }
  void SetRequest(const Request& request);

 private:
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, ListDeleter>;

  static void Append(List& list, const std::string& line);
  void SetHeaders(const Request& request);
  void SetAddress(const Request& request);

  const DownloadSettings& settings_;
  CURL* const handle_;
  // What it has been told, and need not be told again.
  List headers_;
  bool headers_are_plain_ = false;  // No validators among them.
  bool headers_compressed_ = false;
  List connect_to_;
  Address address_;
  uint16_t port_ = 0;
};

}  // namespace gannet::jobs
