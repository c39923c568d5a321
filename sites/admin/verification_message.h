// A check of a verification, as the admin API says it. A function; thread-safe.
#pragma once

#include "proto/admin.pb.h"
#include "sites/admin/utf8.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::sites {

// `reply` is no longer ok if the check is not. Returns its row.
inline admin::Verification::Check& AddCheck(const storage::Check& check,
                                            admin::Verification& reply) {
  if (!check.ok) reply.set_ok(false);
  admin::Verification::Check& row = *reply.add_checks();
  row.set_name(Utf8(check.name));
  row.set_ok(check.ok);
  row.set_detail(Utf8(check.detail));
  return row;
}

}  // namespace gannet::sites
