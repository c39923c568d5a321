#include "tests/fake_web/naive_crawler.h"

#include <zlib.h>

#include <cctype>
#include <deque>
#include <set>

namespace gannet::fake_web {
namespace {

constexpr size_t kMostUnpacked = 8 << 20;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(tolower(c));
  return lower;
}

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

std::string DecodeEntities(std::string_view text) {
  static const std::map<std::string_view, std::string_view> kNamed = {
      {"&amp;", "&"}, {"&sol;", "/"}, {"&quot;", "\""}, {"&lt;", "<"}};
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view entity =
        end == text.npos ? std::string_view() : text.substr(0, end + 1);
    if (text[0] == '&' && entity.size() > 3 && entity[1] == '#') {
      const bool hex = tolower(entity[2]) == 'x';
      out.push_back(static_cast<char>(std::stoi(
          std::string(entity.substr(hex ? 3 : 2)), nullptr, hex ? 16 : 10)));
      text.remove_prefix(entity.size());
    } else if (text[0] == '&' && kNamed.count(entity) > 0) {
      out += kNamed.at(entity);
      text.remove_prefix(entity.size());
    } else {
      out.push_back(text[0]);
      text.remove_prefix(1);
    }
  }
  return out;
}

struct Tag {
  std::string name;
  bool closing = false;
  std::map<std::string, std::string> attributes;  // The first of a name counts.
};

// Reads the tag at html[at] == '<'; returns where it ends.
size_t ReadTag(std::string_view html, size_t at, Tag* tag) {
  ++at;
  if (html[at] == '/') {
    tag->closing = true;
    ++at;
  }
  while (at < html.size() && !IsSpace(html[at]) && html[at] != '/' &&
         html[at] != '>') {
    tag->name.push_back(static_cast<char>(tolower(html[at++])));
  }
  while (at < html.size()) {
    while (at < html.size() && (IsSpace(html[at]) || html[at] == '/')) ++at;
    if (at >= html.size() || html[at] == '>') break;
    std::string name;
    while (at < html.size() && !IsSpace(html[at]) && html[at] != '/' &&
           html[at] != '>' && html[at] != '=') {
      name.push_back(static_cast<char>(tolower(html[at++])));
    }
    while (at < html.size() && IsSpace(html[at])) ++at;
    std::string value;
    if (at < html.size() && html[at] == '=') {
      ++at;
      while (at < html.size() && IsSpace(html[at])) ++at;
      if (at < html.size() && (html[at] == '"' || html[at] == '\'')) {
        const size_t end = html.find(html[at], at + 1);
        if (end == html.npos) return html.size();
        value = std::string(html.substr(at + 1, end - at - 1));
        at = end + 1;
      } else {
        while (at < html.size() && !IsSpace(html[at]) && html[at] != '>') {
          value.push_back(html[at++]);
        }
      }
    }
    tag->attributes.emplace(name, DecodeEntities(value));
  }
  return std::min(at + 1, html.size());
}

bool HasWord(const std::string& list, std::string_view word) {
  return Lower(list).find(word) != std::string::npos;
}

std::string RemoveDots(std::string_view path) {
  std::vector<std::string> segments;
  bool directory = false;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const size_t slash = path.find('/');
    const std::string segment(path.substr(0, slash));
    path = slash == path.npos ? std::string_view() : path.substr(slash);
    std::string plain;
    for (size_t i = 0; i < segment.size(); ++i) {
      if (Lower(segment.substr(i, 3)) == "%2e") {
        plain.push_back('.');
        i += 2;
      } else {
        plain.push_back(segment[i]);
      }
    }
    directory = path.empty() && (plain == "." || plain == "..");
    if (plain == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (plain != ".") {
      segments.push_back(segment);
    }
  }
  std::string out;
  for (const std::string& segment : segments) out += "/" + segment;
  if (directory || out.empty()) out += "/";
  return out;
}

std::string Unpack(std::string_view bytes, bool* too_long) {
  z_stream stream = {};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out(1 << 20, '\0');
  int code = Z_OK;
  while (code == Z_OK && stream.total_out < kMostUnpacked) {
    if (out.size() - stream.total_out < (1 << 16)) out.resize(out.size() * 2);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
    code = inflate(&stream, Z_NO_FLUSH);
  }
  *too_long = code != Z_STREAM_END;
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

struct UrlParts {
  std::string scheme;
  std::string host;
  std::string target;
};

UrlParts SplitUrl(const std::string& url) {
  const size_t colon = url.find(':');
  const size_t host = colon + 3;
  const size_t slash = url.find('/', host);
  return {url.substr(0, colon), url.substr(host, slash - host),
          url.substr(slash)};
}

}  // namespace

std::string ResolveUrl(std::string_view text, const std::string& base) {
  std::string href;
  for (const char c : text) {
    if (c != '\t' && c != '\n' && c != '\r') href.push_back(c);
  }
  while (!href.empty() && IsSpace(href.front())) href.erase(0, 1);
  while (!href.empty() && IsSpace(href.back())) href.pop_back();
  href = href.substr(0, href.find('#'));
  const size_t query = std::min(href.find('?'), href.size());
  for (size_t i = 0; i < query; ++i) {
    if (href[i] == '\\') href[i] = '/';
  }
  auto [scheme, base_host, base_target] = SplitUrl(base);
  if (href.empty()) return base;
  const size_t colon = href.find(':');
  if (colon != href.npos && colon < href.find('/')) {
    scheme = Lower(href.substr(0, colon));
    if (scheme != "http" && scheme != "https") return "";
    href.erase(0, colon + 1);
  }
  std::string host = base_host;
  std::string target = href;
  if (href.starts_with("//")) {
    const size_t slash = href.find('/', 2);
    host = Lower(href.substr(2, slash - 2));
    target = slash == href.npos ? "/" : href.substr(slash);
    const std::string port = scheme == "http" ? ":80" : ":443";
    if (host.ends_with(port)) host.resize(host.size() - port.size());
    if (host.find('[') != host.npos) return "";
  } else if (!href.starts_with("/")) {
    const std::string path = base_target.substr(0, base_target.find('?'));
    target = path.substr(0, path.rfind('/') + 1) + href;
  }
  const size_t mark = target.find('?');
  const std::string rest = mark == target.npos ? "" : target.substr(mark);
  return scheme + "://" + host + RemoveDots(target.substr(0, mark)) + rest;
}

std::vector<std::string> ExtractLinks(std::string_view html,
                                      const std::string& page_url) {
  std::vector<std::string> links;
  std::string base = page_url;
  for (size_t at = 0; (at = html.find('<', at)) != html.npos;) {
    if (html.substr(at, 4) == "<!--") {
      const size_t end = html.find("-->", at + 4);
      if (end == html.npos) break;
      at = end + 3;
      continue;
    }
    const char next = at + 1 < html.size() ? html[at + 1] : ' ';
    const bool closes = next == '/' && at + 2 < html.size() &&
                        isalpha(static_cast<unsigned char>(html[at + 2]));
    if (!isalpha(static_cast<unsigned char>(next)) && !closes) {
      ++at;
      continue;
    }
    Tag tag;
    at = ReadTag(html, at, &tag);
    if (tag.closing) continue;
    if (tag.name == "script" || tag.name == "style" || tag.name == "title" ||
        tag.name == "textarea") {
      at = std::min(Lower(html.substr(at)).find("</" + tag.name) + at,
                    html.size());
    } else if (tag.name == "base" && base == page_url) {
      base = ResolveUrl(tag.attributes["href"], page_url);
    } else if (tag.name == "meta" &&
               Lower(tag.attributes["name"]) == "robots" &&
               HasWord(tag.attributes["content"], "nofollow")) {
      return {};
    } else if (tag.name == "a" || tag.name == "area" || tag.name == "iframe") {
      const char* const from = tag.name == "iframe" ? "src" : "href";
      if (tag.attributes.count(from) == 0) continue;
      if (HasWord(tag.attributes["rel"], "nofollow")) continue;
      const std::string url = ResolveUrl(tag.attributes[from], base);
      if (!url.empty()) links.push_back(url);
    }
  }
  return links;
}

NaiveCrawler::NaiveCrawler(uint16_t port, CrawlRules rules, TlsTarget tls)
    : port_(port),
      tls_port_(tls.port),
      trust_(tls.ca_pem),
      rules_(std::move(rules)) {}

std::optional<WireResponse> NaiveCrawler::Ask(const std::string& url) {
  ++requests_;
  const auto [scheme, host, target] = SplitUrl(url);
  RawClient client(scheme == "https" ? tls_port_ : port_);
  client.silence = absl::Milliseconds(200);
  client.before_giving_up = [this] { Fetch(port_, "anybody", "/"); };
  if (scheme == "https" &&
      client.StartTls(trust_, host).end != Handshake::End::kDone) {
    return std::nullopt;
  }
  return client.Get(host, target, "Connection: close\r\n");
}

const RobotsRules* NaiveCrawler::RobotsOf(const std::string& origin) {
  auto found = robots_.find(origin);
  if (found == robots_.end()) {
    std::optional<RobotsRules> rules = RobotsRules::AllowAll();
    std::string url = origin + "/robots.txt";
    for (int hop = 0; hop <= 5; ++hop) {
      const std::optional<WireResponse> response = Ask(url);
      if (!response) {
        rules = std::nullopt;
      } else if (response->status / 100 == 3) {
        url = ResolveUrl(response->Header("location"), url);
        continue;
      } else if (response->status == 200) {
        rules = RobotsRules::Parse(response->body, rules_.agent);
      } else if (response->status / 100 != 4) {
        rules = RobotsRules::ForbidAll();
      }
      break;
    }
    found = robots_.emplace(origin, rules).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::string NaiveCrawler::Visit(const std::string& url,
                                std::vector<std::string>* found) {
  const auto [scheme, host, target] = SplitUrl(url);
  const RobotsRules* const robots = RobotsOf(scheme + "://" + host);
  if (robots == nullptr) return "failed";
  if (!robots->Allows(target)) return "blocked";
  WireResponse response;
  for (uint32_t tried = 0; tried <= rules_.retries; ++tried) {
    const std::optional<WireResponse> answer = Ask(url);
    if (!answer) return "failed";
    response = *answer;
    const bool refused = response.status == 500 || response.status == 503 ||
                         response.status == 429;
    if (!refused) break;
  }
  if (response.end != WireEnd::kWhole) return "failed";
  if (response.status / 100 == 3) {
    found->push_back(ResolveUrl(response.Header("location"), url));
    return "moved";
  }
  if (response.status == 404 || response.status == 410) return "gone";
  if (response.status != 200) return "failed";
  std::string body = response.body;
  if (response.Header("content-encoding") == "gzip") {
    bool too_long = false;
    body = Unpack(body, &too_long);
    if (too_long) return std::string(Name(rules_.truncated));
  }
  if (!response.Header("content-type").starts_with("text/html")) {
    return "fetched";
  }
  const auto tags = response.headers.equal_range("x-robots-tag");
  for (auto tag = tags.first; tag != tags.second; ++tag) {
    // "otherbot: nofollow" is for another crawler.
    const bool mine = tag->second.find(':') == std::string::npos;
    if (mine && HasWord(tag->second, "nofollow")) return "fetched";
  }
  if (body.starts_with("\xFF\xFE")) {
    std::string narrow;
    for (size_t i = 2; i < body.size(); i += 2) narrow.push_back(body[i]);
    body = narrow;
  }
  for (std::string& link : ExtractLinks(body, url)) {
    found->push_back(std::move(link));
  }
  return "fetched";
}

std::map<std::string, std::string> NaiveCrawler::Crawl(
    std::vector<std::string> seeds) {
  // Used only for its limits on URLs, which need no web.
  const Truth limits(nullptr, rules_);
  std::map<std::string, std::string> outcomes;
  std::set<std::string> known;
  std::deque<std::string> open;
  auto take = [&](const std::string& url) {
    if (known.insert(url).second && limits.Accepts(url)) open.push_back(url);
  };
  for (const std::string& seed : seeds) take(seed);
  while (!open.empty()) {
    const std::string url = open.front();
    open.pop_front();
    std::vector<std::string> found;
    outcomes[url] = Visit(url, &found);
    for (const std::string& next : found) take(next);
  }
  return outcomes;
}

}  // namespace gannet::fake_web
