#include "sites/config/default_yaml.h"

#include <fmt/format.h>

#include "sites/config/site_config.h"

namespace gannet::sites {
namespace {

constexpr char kTemplate[] =
    R"(# A Gannet site. Every key is here with its default; leave or delete what you do
# not need. Durations: 500ms 1s 30m 24h 30d. Sizes: 0 64KiB 5MB 1GiB.

site:
  name: {name}              # In archive file names, and in a federation.
  data: ""                  # The data folder; "" is the folder of this file.
  location:                 # [latitude, longitude] in degrees; not needed.

user_agent:
  name: gannet              # What robots.txt files call this crawler.
  version: ""               # "" is Gannet's own.
  contact: ""               # A URL or mail address for webmasters. Without one,
                            # only loopback and test webs are crawled.

listen:                     # Of 'gannet serve'.
  peers: ""                 # The other sites of a federation, such as
                            # 0.0.0.0:7701; "" is off. Beyond 127.0.0.1 it needs
                            # tls.
  http: 127.0.0.1:7781      # Dashboard and metrics; "" is off. Anyone who can
                            # reach it may look; nothing can be changed there.
  http_names: []            # Names by which browsers, Prometheus or a proxy ask
                            # for it, such as crawl.example.org. Addresses,
                            # localhost and this machine's name need not be here.
  admin: ""                 # The admin API over TCP, for callers with an
                            # administrator's certificate; it needs tls. The socket
                            # in the data folder is always there.

crawl:
  schedule: continuous      # When 'gannet serve' begins a round: when the last has
                            # ended; or 'continuous, pause 10m'; or 'every 30m'; or
                            # by-hand: on request only.
  width: 20000              # Pages of one round, at most.
  per_host: 200             # Of these, of one host: 200 s at a delay of 1 s.
  time_limit: 30m           # A round ends then; slow hosts' pages wait for the next.
                            # Longer than fetch.delay.
  order: auto               # opic: important pages first; or breadth-first, random.
                            # Fixed with the first page; auto is opic, or what is fixed.
  max_pages: 0              # With so many pages fetched, no round begins; 0 is no
                            # limit.

update:
  new_pages: auto           # New pages a round may add; auto is 4 times the width.
  over_quota: defer         # The rest waits for a later round; or drop.

fetch:
  delay: 1s                 # Between two requests to a host (and to an address).
  share_addresses: true     # In a federation, an address may hold hosts of other sites
                            # too: its delay is multiplied by the number of sites.
  max_crawl_delay: 30s      # A longer Crawl-delay in robots.txt is cut to this.
  connections: 500          # At the same time.
  bandwidth: 0              # Bytes a second in all; 0 is no limit.
  allow_private: false      # Private and loopback addresses. With true, any web
                            # page could make this crawler read your intranet.
  allow_addresses: []       # Ranges that are allowed nevertheless: [10.1.0.0/16].
  connect_to: ""            # HOST:PORT that stands for the whole web, for tests;
                            # HOST:PORT,TLSPORT if it speaks https too.
  ca_file: ""               # The CA certificates for https servers, in PEM; "" is
                            # the system's list. Read again when it changes.
  robots_lifetime: 24h      # RFC 9309 asks for no more than a day.
  max_bytes: 10MiB          # Of one page, on the wire,
  max_decoded_bytes: 50MiB  # and after decompression (a bomb is cut off here).
  max_header_bytes: 64KiB
  timeout: 2m               # For one page in all,
  connect_timeout: 10s      # to connect,
  first_byte_timeout: 30s   # and until the answer begins.
  min_speed: 1000           # Bytes a second; slower servers would hold a place
                            # for the whole timeout. 0 is no limit.
  min_speed_time: 20s       # A transfer that is slower for so long is ended.
  redirects: 5              # In a row, each fetched politely as a page of its own.
  retries: 3                # Of a page that failed, each in a later round,
  retry_delay: 5m           # the first after this time, then twice as long,
  max_retry_delay: 24h      # but no longer than this.
  http2: false              # HTTP/1.1 is faster for many hosts.
  accept_language: ""       # "" sends no such header.
  proxy: ""                 # http://HOST:PORT or socks5h://HOST:PORT.
  source_address: ""        # One of this machine's, if it has several.
  resolver:
    servers: []             # DNS servers; [] are the system's.
    queries_per_second: 50  # Shared resolvers dislike crawlers; 0 is no limit.
  memory: 256MiB            # For pages between network and disk.
  low_priority: false       # true on a machine that has other work.

parse:
  follow: [a, area, iframe, frame]   # Elements whose links are followed.
  max_links: 2000           # Of one page; more are spam.
  other_types: archive      # What is not HTML: archive or skip.

urls:
  scope: auto               # How far a crawl goes from its seeds: page (only the seed),
                            # prefix (its folder), host, domain, any (every link).
                            # auto: 'gannet crawl' keeps to the domains of its seeds,
                            # unless a list in allow has entries; 'gannet inject' does
                            # so where seeds have a scope already, and else is any.
  max_depth: 0              # Links from a seed; 0 is no limit.
  allow:                    # If any list here has entries, a URL must be on one.
    domains: []             # example.com, with all names below it
    hosts: []               # www.example.com
    prefixes: []            # https://example.com/docs/
    regexes: []             # RE2, found anywhere in the URL
  deny:                     # A URL that is on a list here is never crawled.
    domains: []
    hosts: []
    prefixes: []
    regexes: []
  max_bytes: 2048           # These limits keep the crawler out of endless sites.
  max_path_depth: 32
  max_segment_repeats: 2    # /a/b/a/b passes, /a/b/a/b/a/b does not.
  max_query_parameters: 24
  max_query_bytes: 1024
  max_pages_per_host: 1000000   # 0 is no limit.
  # Parameters that name a visitor and not a page; they are cut off.
  drop_parameters: [{drop_parameters}]

archive:
  prefix: GANNET            # Of the names of the WARC files.
  file_size: 1GiB           # What archives and players handle well.
  min_free: 5GiB            # No new round begins with less left on the disk.
  level: 1                  # gzip, 1 (fast) to 12 (small).

crawl_db:                   # Memory; indexes come on top, 2 MB per million pages.
  cache: 128MiB             # Of what was read: more makes large sites faster.
  write_buffers: 96MiB      # Of what is not sorted into tables yet.

recrawl:
  interval: 30d             # A page is fetched again after this time.
  strategy: fixed
  share: auto

federation:                 # Several sites that crawl one web together.
  map: ""                   # Who keeps the list of sites. "": this site is alone;
                            # registrar: one of the sites keeps it; file: you do,
                            # in a file that you copy to all sites.
  file: ""                  # Of 'map: file': where it is.
  join: ""                  # HOST:PORT of any site of the federation, for 'gannet
                            # federation join', and to find the others again.
  address: ""               # HOST:PORT where others reach this site; "" is
                            # listen.peers.
  capacity: 1               # Its share of the web: 2 is twice that of 1.
  insecure_peers: false     # true: listen for peers beyond 127.0.0.1 without tls,
                            # too. Anybody who reaches the port may pass for a site.
  cache: 3MiB               # Remembers URLs lately sent to other sites, so that
                            # links that repeat are sent once.
  gain_every: 4             # Rounds between two sends of cash, with 'exchange: cash'.
  # The rest is set when a federation is founded; it must be the same in all sites.
  channel: domain           # What stays together in one site; or host.
  exchange: urls            # A URL is sent once; or cash: what it gains later, too,
                            # so that scores are right, for more traffic.

tls:                        # Files in PEM, from this file's folder. They are read
  ca: ""                    # again when they change: renewing needs no restart.
  cert: ""                  # Callers with a certificate of the CA that has
  key: ""                   # OU=administrators may use the admin API; sites have
                            # the URI gannet:site:NAME. 'gannet federation certs'
                            # makes them all.

log:                        # Of 'gannet serve', on standard error.
  level: info               # debug info warning error
  format: text              # One line for each event; or json, one object a line.
)";

}  // namespace

std::string DefaultSiteYaml(std::string_view name) {
  // A name such as 1.0 or no is text here.
  const std::string quoted = fmt::format("\"{}\"", name);
  std::string names;
  for (const std::string& parameter : SiteConfig{}.urls.drop_parameters) {
    if (!names.empty()) names += ", ";
    const size_t line = names.size() - (names.rfind('\n') + 1);
    if (line > 62) names += "\n    ";
    names += fmt::format("\"{}\"", parameter);
  }
  std::string text = kTemplate;
  const auto fill = [&](std::string_view mark, std::string_view with) {
    text.replace(text.find(mark), mark.size(), with);
  };
  fill("{name}", quoted);
  fill("{drop_parameters}", names);
  return text;
}

}  // namespace gannet::sites
