// A libcurl handle that is used for many requests. Options that are the same
// for all are set once, others only when they change.
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
  // The options that are set already.
  List headers_;
  bool headers_are_plain_ = false;  // No validators among them.
  bool headers_compressed_ = false;
  List connect_to_;
  Address address_;
  uint16_t port_ = 0;
};

}  // namespace gannet::jobs
