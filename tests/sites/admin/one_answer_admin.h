// OneAnswerAdmin is an Admin all of whose verbs give the same answer. A test's
// own Admin derives from it and overrides the verbs that the test needs. As
// thread-safe as Answer() is.
#pragma once

#include "absl/status/status.h"
#include "sites/admin/admin.h"

namespace gannet::sites {

class OneAnswerAdmin : public Admin {
 public:
#define GANNET_ASK(Verb, Request, Reply, ...)                        \
  absl::Status Verb(const admin::Request&, admin::Reply&) override { \
    return Answer();                                                 \
  }
#define GANNET_LISTEN(Verb, Request, Message, ...)                      \
  absl::Status Verb(const admin::Request&, const Sink<admin::Message>&) \
      override {                                                        \
    return Answer();                                                    \
  }
  GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN

 protected:
  virtual absl::Status Answer() = 0;
};

}  // namespace gannet::sites
