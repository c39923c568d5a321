// CrawlDb is a site's memory of the web: every known page and where it stands
// (frontier, schedule, open round, or finished), the hosts, the open round's
// journal, and the URLs that wait to get in or out. It speaks in verbs; each
// verb is one atomic write, so that a process killed at any moment resumes with
// no repair step.
//
// Cash is conserved exactly (invariant I3): every verb that moves cash moves
// the ledger in the same write, and Verify adds everything up.
//
// Thread-safe: verbs may run side by side (an exchange writes while a round
// runs). Nothing outside this room sees RocksDB.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"
#include "storage/crawl_db/order.h"
#include "storage/crawl_db/totals.h"
#include "storage/mutex.h"

namespace gannet::storage {

class Admission;
class OrderedStore;
class Store;
struct Edit;

// A seed brings this much cash.
inline constexpr int64_t kSeedCash = int64_t{1} << 36;

// Of a page's outlinks only the first are kept whose keys take no more bytes
// than this: update reads them all, several times if they are many, and must
// not be at the mercy of pages that are nothing but long links.
inline constexpr size_t kMostOutlinkBytes = 256 << 10;

struct CrawlDbSettings {
  std::string folder;
  uint64_t block_cache_bytes = 128 << 20;
  uint64_t write_buffer_bytes = 96 << 20;
  // Nothing: what the DB has, which for a new one is OPIC.
  std::optional<Order> order = std::nullopt;
};

// A URL that was found, with the cash that it brings.
struct Found {
  PageKey page;
  int64_t cash = 0;
  uint32_t depth = 0;
  uint32_t redirects = 0;
};

// What OPIC needs to know of the time: cash that reaches a page which is not
// due before `soon` is not kept waiting there, but goes to the root.
struct Moment {
  absl::Time now;
  absl::Time soon = absl::InfiniteFuture();
};

struct PutCounts {
  int64_t added = 0;
  int64_t known = 0;
  // Settle only.
  int64_t with_least_cash = 0;  // Of those added: just enough to get in.
  int64_t deferred = 0;         // New, and not let in.
  int64_t dropped = 0;
  int64_t blocked = 0;  // Not known, and refused: the operator's block list.
};

// Why a page is finished, and why a found URL was dropped, if the operator
// blocked its domain. Stored on disk.
inline constexpr char kBlockedByOperator[] = "blocked by operator";

struct FrontierPage {
  PageKey page;
  uint8_t step = 0;
};

// Whether the pages of a host may be fetched; an empty one says yes to all.
using HostFilter = std::function<bool(std::string_view host)>;

struct FrontierSample {
  uint64_t score = 0;
  uint32_t depth = 0;
  double stands_for = 1;
};

struct Selection {
  std::vector<FrontierPage> pages;  // Best first.
  // Pages that stood in the way though their hosts rest; Claim puts them aside.
  std::vector<FrontierPage> resting;
};

// How a page of the open round ended.
struct Completion {
  PageKey page;
  // State, visit, validators, digest, archive position, change statistics,
  // retries and finished reason are taken from here; place, cash, history,
  // depth and redirects are the DB's own.
  proto::PageRecord outcome;
  // When it is to be looked at again; nothing: it is finished.
  std::optional<absl::Time> ready;
  // Who gets its cash, evenly: distinct pages, without itself. Nobody: the
  // root. Those beyond kMostOutlinkBytes are left out, as if they were not
  // there.
  std::vector<PageKey> outlinks;
  uint32_t outlink_redirects = 0;  // Of a moved page's target.
  // A page that was read keeps what it had in its history; others do not.
  bool keeps_history = false;

  // For the round's report.
  std::string_view failure_kind;  // Of a failed page. Static: one of a few.
  bool unchanged = false;
  int64_t bytes = 0;  // Received.
};

struct HostUpdate {
  HostKey host;
  proto::HostRecord
      record;  // `rest_until_ms` not 0: the host rests until then.
};

// One batch of update: targets in key order, up to and including `cursor`.
struct Settlement {
  std::string cursor;
  std::vector<Found> local;
  // A local target that is new gets in if it has more cash than this, with what
  // waits for it deferred; with just as much, only the first so many do. The
  // others are deferred, or dropped if `drop_over_quota`.
  int64_t least_cash_for_new = 0;
  int64_t most_with_least_cash = std::numeric_limits<int64_t>::max();
  bool drop_over_quota = false;
  // A host gets no more pages than this; 0: as many as it likes. The best of
  // the batch take the places that it has left, the others are dropped.
  int64_t most_host_pages = 0;
  std::vector<Found> deferred;
  std::vector<std::pair<SiteId, Found>> remote;
  // What pages gain that other sites were sent before: it waits apart, merged,
  // until ReleaseGains().
  std::vector<std::pair<SiteId, Found>> gains;
  struct Drop {
    std::string reason;
    int64_t cash = 0;
    int64_t urls = 0;
  };
  std::vector<Drop> dropped;
};

// Another site, in one of its lives.
struct Peer {
  SiteId site{};
  uint64_t incarnation = 0;
};

struct OutboxCut {
  uint64_t sequence = 0;
  proto::OutboxBatch batch;
};

// What CutPages() has cut.
struct PagesCut {
  uint64_t sequence = 0;  // Of the batch; 0: there was nothing to cut.
  int64_t pages = 0;      // In it.
  size_t hosts_done = 0;  // So many of the hosts, from the first, are through.
  int64_t in_round = 0;   // Pages of these that the open round has.
};

// A batch that another site has sent.
struct Delivery {
  Peer from;
  // This site's life that it was sent to; 0: whichever.
  uint64_t to_incarnation = 0;
  uint64_t sequence = 0;
  int64_t cash_so_far = 0;  // The sender's word, of all its batches.
  std::vector<Found> mine;
  // No longer, or not yet, this site's: on to those that own them.
  std::vector<std::pair<SiteId, Found>> forwarded;
  std::vector<Settlement::Drop> dropped;
  // Pages that come from there to stay, and the records of hosts; stored
  // whoever owns them.
  std::vector<proto::MovedPage> moved;
  std::vector<HostUpdate> hosts;  // Distinct.
  std::vector<Settlement::Drop> dropped_moved;
  // Not 0: all has moved, for the change of that epoch.
  uint64_t complete_for = 0;
  // A known page receives the cash; otherwise it is dropped and counted.
  bool known_gain = false;
  int64_t most_host_pages = 0;  // As in Settlement.
};

struct Receipt {
  uint64_t last = 0;    // All batches up to this one are on the disk.
  bool is_new = false;  // It had not come before.
  PutCounts counts;
  int64_t moved = 0;  // Pages that came to stay.
};

// Why cash was dropped of a URL that another site was sent before. On disk too.
inline constexpr char kSentBefore[] = "sent before";
// Why cash was dropped that other sites sent for known pages. Stored on disk.
inline constexpr char kKnownAtItsOwner[] = "known at its owner";

struct Check {
  std::string name;
  bool ok = false;
  std::string detail;
};

class CrawlDb {
 public:
  // kAborted: in use. kFailedPrecondition: written by a newer version, or its
  // pages are in another order. kResourceExhausted: disk full. kDataLoss:
  // damaged.
  static absl::StatusOr<std::unique_ptr<CrawlDb>> Open(
      const CrawlDbSettings& settings);
  // On an engine that was opened with MakeColumns() (columns.h), instead of a
  // folder: for tests of crashes.
  static absl::StatusOr<std::unique_ptr<CrawlDb>> OpenOn(
      std::unique_ptr<OrderedStore> engine,
      std::optional<Order> order = std::nullopt);
  ~CrawlDb();

  // --- Seeds and found URLs (put.cc) -----------------------------------------

  // Adds seeds, each with kSeedCash; a known page is left as it is.
  absl::StatusOr<PutCounts> Inject(absl::Span<const PageKey> seeds,
                                   absl::Time now);
  // Adds what another site found; a known page only receives the cash.
  absl::StatusOr<PutCounts> PutIfAbsent(absl::Span<const Found> urls,
                                        const Moment& moment);

  // --- The frontier and the schedule (frontier.cc) ---------------------------

  // The best `width` pages of hosts that do not rest, at most `per_host` of one
  // host, the open round's pages counted in. Changes nothing. Costs the width
  // (essay in frontier.cc), and the hosts in its way that `may_crawl` forbids;
  // it is asked once for each host.
  absl::StatusOr<Selection> Top(size_t width, size_t per_host,
                                const HostFilter& may_crawl = {});
  // Moves pages from the frontier to the open round's fetch list. A page that
  // has moved since Top saw it is left out. Returns how many were taken.
  // REQUIRES: `selection` is Top's, in its order.
  absl::StatusOr<int64_t> Claim(const Selection& selection);
  // Gives pages of the open round back to the frontier, with their cash.
  absl::Status Release(absl::Span<const PageKey> pages);
  // Moves what is due from the schedule to the frontier: at most `most` pages,
  // and as many that were put aside while their hosts rested, at most
  // `per_host` of one host. Returns how many.
  absl::StatusOr<int64_t> WakeDue(absl::Time now, int64_t most,
                                  int64_t per_host);
  // Puts aside what Top found in its way, as Claim does; at any time.
  absl::Status PutAside(const Selection& selection);
  // At most some `most` pages of the frontier, spread over all of it, and how
  // many each stands for. Costs `most`; the weights are estimates.
  absl::StatusOr<std::vector<FrontierSample>> SampleFrontier(size_t most);
  // When the next page is due, or the next host of which pages stand aside, if
  // any.
  absl::StatusOr<std::optional<absl::Time>> NextDue();

  // --- The round (round.cc, complete.cc, settle.cc) --------------------------

  proto::RoundJournal journal() const;
  absl::Status OpenRound(absl::Time now);
  absl::Status SetPhase(proto::RoundPhase phase);
  // Counts time that was spent in a phase of the open round.
  absl::Status AddPhaseTime(proto::RoundPhase phase, absl::Duration time);
  // How late the network thread of the open round was at most, and for how long
  // it held back connections.
  absl::Status AddNetworkLag(absl::Duration max_lag, absl::Duration held_back);
  // The root pays evenly to the fetch list, which never grows after this.
  absl::Status PayRoot();
  // Group commit: synced. What is not in the open round is skipped (it was
  // forgotten meanwhile); returns how many were completed. An empty `archive`
  // leaves the one stored before.
  // REQUIRES: the round is in its fetch phase; otherwise kFailedPrecondition.
  absl::StatusOr<int64_t> Complete(absl::Span<const Completion> completions,
                                   absl::Span<const HostUpdate> hosts,
                                   const proto::ArchiveState& archive);
  // The open round's pages still to fetch, in key order, after `after`.
  absl::StatusOr<std::vector<PageKey>> FetchList(const PageKey& after,
                                                 size_t most);
  // Calls `visit` for the outlinks of each completed page of the open round.
  absl::Status ForEachOutlinks(
      const std::function<void(std::string_view page,
                               const proto::OutlinkSegment&)>& visit);
  // Targets come in key order, all of them: those between the last cursor and
  // this one that are not named are taken as having no cash.
  absl::StatusOr<PutCounts> Settle(const Settlement& settlement,
                                   const Moment& moment);
  // REQUIRES: the round updates, every page was completed or released, and
  // every outlink is settled; otherwise kFailedPrecondition.
  absl::Status CloseRound(std::string_view report);
  absl::StatusOr<std::string> Report(uint64_t round);

  // --- Waiting to get in, waiting to get out (waiting.cc) --------------------

  // The deferred URLs with the most cash: page and cash, nothing more is read.
  // From the best on, or from the one behind `after`.
  absl::StatusOr<std::vector<Found>> TopDeferred(
      size_t most, const std::optional<Found>& after = std::nullopt);
  // Lets deferred URLs in; those not deferred are skipped, and those whose host
  // has `most_host_pages` (0: no limit) are dropped, as Settle() does. While a
  // round updates, they count for it.
  absl::StatusOr<PutCounts> Undefer(absl::Span<const PageKey> pages,
                                    const Moment& moment,
                                    int64_t most_host_pages = 0);
  // Moves deferred URLs to outboxes; those not deferred are skipped. With
  // `for_round` they count for the open round, as what Settle() sends does.
  absl::Status SendDeferred(absl::Span<const std::pair<SiteId, PageKey>> pages,
                            bool for_round = false);
  // Where a page goes; nothing: it is this site's own.
  using OwnerOf = std::function<std::optional<SiteId>(std::string_view page)>;
  // The same with all deferred URLs that `owner` gives to another site. Returns
  // how many. Many writes; cut off, it can be called again.
  absl::StatusOr<int64_t> SweepDeferred(const OwnerOf& owner);
  // URLs that their owners may have lost wait for them again, with no cash:
  // that is lost, too. kInvalidArgument if one has some, or no page key.
  absl::Status SendAgain(absl::Span<const std::pair<SiteId, Found>> urls);
  // What was gained by pages that other sites were sent (Settlement::gains)
  // goes to their outboxes. Returns how many. Many writes, as above.
  absl::StatusOr<int64_t> ReleaseGains();

  // --- What is sent to other sites (sending.cc) ------------------------------

  // To be called before anything is sent to that life of a site. Where the last
  // was another, or this site's own, what was being sent waits again, and pages
  // that were moving are back.
  absl::Status OpenPair(const Peer& to);
  // The same for a site that is gone: nothing is being sent to it any more.
  // What waits in its outbox stays there, for Reroute().
  absl::Status ClosePair(SiteId to);
  // Sites that something waits for, or is numbered for.
  absl::StatusOr<std::vector<SiteId>> Destinations();
  // Cuts the next batch out of an outbox, synced: at least one URL, and no more
  // than these. kNotFound if it is empty. With a `cursor` (empty at first) it
  // goes on where the last cut ended, and at the end begins anew: from the
  // front it would step over the rows of all cuts before.
  // kFailedPrecondition: OpenPair() was not called for these lives.
  absl::StatusOr<OutboxCut> CutOutbox(
      const Peer& to, size_t most,
      size_t most_bytes = std::numeric_limits<size_t>::max(),
      std::string* cursor = nullptr);
  // Batches cut and not yet acknowledged, oldest first: at most so many, of
  // those with a number greater than `after`.
  absl::StatusOr<std::vector<OutboxCut>> Sending(
      SiteId destination, uint64_t after = 0,
      size_t most = std::numeric_limits<size_t>::max());
  // The other site has all up to `last`; acknowledged twice is harmless.
  // kInvalidArgument: it never was sent. kDataLoss: it had more before.
  absl::Status Acknowledge(const Peer& by, uint64_t last);
  absl::StatusOr<proto::SentPair> sent_pair(SiteId to);
  // Moves what waits in the outbox for `from` and belongs to another site; to
  // this one, if `owner` says nothing. Batches that were cut stay: who gets
  // them forwards them. Returns how many. Many writes; cut off, it can be
  // called again.
  absl::StatusOr<int64_t> Reroute(SiteId from, const OwnerOf& owner,
                                  const Moment& moment);

  // --- Pages that move to other sites (moving.cc) ----------------------------

  // Cuts the next batch out of the pages of these hosts, in their order,
  // synced: the pages are known here no longer. Those of the open round stay. A
  // host's record goes with the last of its pages, or alone. No more than about
  // these bytes, but at least one page. With a `cursor` (empty at first) it
  // goes on where the last cut ended if that was in the first of the hosts, as
  // CutOutbox() does; a page that comes behind it is left for who looks again.
  // kFailedPrecondition: OpenPair() was not called for these lives.
  absl::StatusOr<PagesCut> CutPages(const Peer& to,
                                    absl::Span<const HostKey> hosts,
                                    size_t most, size_t most_bytes = 1 << 20,
                                    std::string* cursor = nullptr);
  // Cuts a batch that says: what moves to you because of that change of the
  // map, you have with this. Later changes have higher numbers. Nothing if that
  // was said before (sent_pair()).
  absl::Status CutComplete(const Peer& to, uint64_t change);
  // How many pages on their way came back since this was opened, because one of
  // the two sites began another life: they are here again, and not this site's.
  uint64_t pages_taken_back() const { return pages_taken_back_; }

  // --- What other sites send (receiving.cc) ----------------------------------

  // Takes a batch, synced. One that came before changes nothing. kOutOfRange:
  // it is not the next. kInvalidArgument: something in it cannot be.
  // kFailedPrecondition: it was sent to another life of this site.
  absl::StatusOr<Receipt> Receive(Delivery delivery, const Moment& moment)
      ABSL_LOCKS_EXCLUDED(receive_mu_);
  absl::StatusOr<proto::ReceivedPair> received_pair(const Peer& from);
  // The last epoch for which that life of a site has moved all; 0: none.
  absl::StatusOr<uint64_t> completed_for(const Peer& from);

  // --- Pages and hosts (records.cc) ------------------------------------------

  absl::StatusOr<proto::PageRecord> GetPage(const PageKey& page);
  // Records of sorted, distinct pages; nullopt for unknown ones.
  absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> GetPages(
      absl::Span<const PageKey> pages);
  // With how much cash each of the URLs (sorted, distinct) asks to be let in:
  // what it brings, and what waits for it deferred. Nothing for those that do
  // not ask: known, or of a blocked domain.
  absl::StatusOr<std::vector<std::optional<int64_t>>> CashOfNew(
      absl::Span<const Found> urls);
  // In key order from `from` on, until `visit` says false.
  absl::Status ScanPages(
      const PageKey& from,
      const std::function<bool(std::string_view page,
                               const proto::PageRecord&)>& visit);
  // Removes a page from all columns that hold known pages; its cash goes to the
  // root. A link that is found later, or waits deferred, may bring it back.
  absl::Status Forget(const PageKey& page);
  absl::StatusOr<proto::HostRecord> GetHost(const HostKey& host);
  // Every host that has pages or a record, in key order from `from` on, until
  // `visit` says false.
  absl::Status ScanHosts(
      const HostKey& from,
      const std::function<bool(std::string_view host, int64_t pages,
                               const proto::HostRecord&)>& visit);
  absl::StatusOr<int64_t> HostPages(const HostKey& host);
  absl::Status PutHost(const HostUpdate& update);
  absl::StatusOr<proto::ArchiveState> archive_state();
  absl::StatusOr<proto::SiteIdentity> identity();
  absl::Status SetIdentity(const proto::SiteIdentity& identity);

  // Small things that others keep here, by name: the federation's map, say.
  // kNotFound if there is none of that name.
  absl::StatusOr<std::string> GetNote(std::string_view name);
  // Synced.
  absl::Status PutNote(std::string_view name, std::string_view bytes);

  // Copies the DB into the new folder `to`, in which Open() finds it as it is
  // now; others may write meanwhile. Cheap on the same disk: files that never
  // change are linked.
  absl::Status Checkpoint(const std::string& to);
  // A new incarnation, for a copy that begins a life of its own. No batch is
  // taken meanwhile, nor any that was sent to the life before.
  absl::Status Reincarnate() ABSL_LOCKS_EXCLUDED(receive_mu_);

  Totals totals() const;
  Order order() const;

  // --- The operator's block list (block.cc) ----------------------------------

  // From now on no page of the domain becomes known, and its known pages leave
  // frontier, schedule and open round: BLOCKED, finished for
  // kBlockedByOperator, their cash with the root. A host name below a
  // registrable domain may be given as well; of a public suffix only the host
  // of that name is meant. Returns how many pages were taken out.
  // kInvalidArgument: not a host name as canonical URLs have it.
  // Many small writes; if it is cut off, the next Open goes on with it.
  absl::StatusOr<int64_t> Block(std::string_view domain);
  // Ends a block and puts the pages that it took out back where they were: into
  // the frontier, or into the schedule with the time they had. Returns how
  // many. kNotFound if it is not blocked. Cut off, as Block.
  absl::StatusOr<int64_t> Unblock(std::string_view domain);
  // By name.
  absl::StatusOr<std::vector<std::string>> Blocked();
  bool IsBlocked(const PageKey& page);
  // Grows whenever the list changes. Cheap: for who must notice at once, and
  // cannot afford to look every page up.
  uint64_t block_changes() const;
  // Not OK: a write has failed (its code says why), and nothing more is written
  // until the crawl DB is opened again.
  absl::Status broken() const;

  // --- Invariants (verify.cc) ------------------------------------------------

  // Checks the invariants on a snapshot, while others write. Full: I1, I3 and
  // all counts, of every page and row. Else: the ledger and the open round, and
  // I1 of the pages and rows that changed since the last Verify that passed
  // (all, if that is no longer known). Calls `look` for each page looked at, so
  // that the caller can check what is his; if it says false, this Verify has
  // not passed.
  using LookAtPage =
      std::function<bool(std::string_view page, const proto::PageRecord&)>;
  absl::StatusOr<std::vector<Check>> Verify(bool full,
                                            const LookAtPage& look = {});

 private:
  friend class Admission;
  explicit CrawlDb(std::unique_ptr<Store> store);
  static absl::StatusOr<std::unique_ptr<CrawlDb>> Finish(
      absl::StatusOr<std::unique_ptr<Store>> store);

  absl::Status AddToOpenRound(const proto::RoundCounts& counts);
  // Adds `urls` (sorted, distinct; stripes locked) to the edit. Without
  // `known_gain` the cash of those that are known is dropped.
  absl::StatusOr<PutCounts> AddFound(Edit& edit, absl::Span<const Found> urls,
                                     const Moment& moment,
                                     Admission* admission = nullptr,
                                     bool known_gain = true);
  // The deferred rows of `urls` (sorted, distinct); nothing where there is
  // none. Free if nothing is deferred.
  absl::StatusOr<std::vector<std::optional<Found>>> DeferredOf(
      absl::Span<const Found> urls);
  void DeleteDeferred(Edit& edit, const Found& row);
  absl::Status MoveAside(Edit& edit, absl::Span<const FrontierPage> resting);
  absl::StatusOr<int64_t> WakeHost(Edit& edit, const HostKey& host,
                                   int64_t most);
  absl::Status FinishBlocks();
  absl::Status SetBlockStage(std::string_view domain,
                             std::optional<proto::BlockList::Stage> stage);
  absl::StatusOr<int64_t> TakeOut(std::string_view domain);
  absl::StatusOr<int64_t> PutBack(std::string_view domain);
  // kFailedPrecondition if OpenPair() was not called for these lives.
  absl::StatusOr<proto::SentPair> OpenedPair(const Peer& to);
  // The deferred rows of these, by page; they wait no longer.
  absl::StatusOr<std::map<std::string, Found>> TakeDeferred(
      Edit& edit, std::vector<Found> urls);
  // What waits deferred for remote URLs goes with them.
  absl::Status JoinDeferred(Edit& edit,
                            std::vector<std::pair<SiteId, Found>>& remote);
  using Remote = absl::Span<const std::pair<SiteId, Found>>;
  absl::Status AddWaiting(Edit& edit, absl::Span<const Found> found,
                          Remote remote, Remote gains = {});
  absl::Status AddOutbox(Edit& edit, Remote remote, bool as_gains);
  // At most so many rows of gains, of one site or of all; they wait no longer.
  absl::StatusOr<std::vector<std::pair<SiteId, Found>>> TakeGains(
      Edit& edit, std::optional<SiteId> of, size_t most);
  // All but the last few of a site's.
  absl::Status ReleaseManyGains(SiteId of);
  // Gives the batch its number and writes it.
  absl::Status FinishCut(Edit& edit, SiteId to, proto::SentPair pair,
                         OutboxCut& cut);
  // What was being sent to the site is again where it was before it was cut.
  absl::Status TakeBack(Edit& edit, SiteId site);
  // Puts pages where they say they are; what is known already is merged.
  // Returns how many. Stripes locked.
  absl::StatusOr<int64_t> AddMoved(Edit& edit,
                                   std::vector<proto::MovedPage> pages,
                                   const Moment& moment);
  absl::Status AddMovedHost(Edit& edit, const HostUpdate& update);
  // Counts what others send; kInvalidArgument if it cannot be.
  static absl::Status AddReceived(Edit& edit, const Found& url);
  static absl::Status AddTakenOver(Edit& edit, int64_t cash);
  absl::Status CheckRoomFor(int64_t received) const;
  absl::Status AddHost(Edit& edit, const HostUpdate& update, bool by_wake);

  std::unique_ptr<Store> store_;
  Mutex receive_mu_;  // Taken before any stripe.
  std::atomic<uint64_t> pages_taken_back_ = 0;
};

}  // namespace gannet::storage
