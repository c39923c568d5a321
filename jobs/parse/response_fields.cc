#include "jobs/parse/response_fields.h"

#include <algorithm>

#include "jobs/parse/html_facts.h"
#include "storage/archive/http_message.h"
#include "storage/url/percent.h"

namespace gannet::jobs {
namespace {

using storage::SameName;
using storage::TrimBlanks;

std::string_view CharsetParameter(std::string_view parameters) {
  while (!parameters.empty()) {
    parameters.remove_prefix(1);  // The semicolon.
    const size_t equals = parameters.find_first_of("=;");
    if (equals == parameters.npos) return {};
    if (parameters[equals] == ';') {
      parameters.remove_prefix(equals);
      continue;
    }
    const std::string_view name = TrimBlanks(parameters.substr(0, equals));
    parameters = parameters.substr(equals + 1);
    std::string_view value;
    const std::string_view trimmed = TrimBlanks(parameters);
    size_t semicolon = 0;
    if (!trimmed.empty() && trimmed[0] == '"') {
      const size_t close = trimmed.find('"', 1);
      value = trimmed.substr(1, close == trimmed.npos ? close : close - 1);
      parameters =
          close == trimmed.npos ? std::string_view() : trimmed.substr(close);
      semicolon = parameters.find(';');
    } else {
      semicolon = parameters.find(';');
      value = TrimBlanks(parameters.substr(0, semicolon));
    }
    if (SameName(name, "charset") && !value.empty()) return value;
    parameters = semicolon == parameters.npos ? std::string_view()
                                              : parameters.substr(semicolon);
  }
  return {};
}

void ReadContentType(std::string_view value, ResponseFields& out) {
  const size_t semicolon = std::min(value.find(';'), value.size());
  for (const char c : TrimBlanks(value.substr(0, semicolon))) {
    out.media_type.push_back(storage::ToLower(c));
  }
  out.charset = CharsetParameter(value.substr(semicolon));
}

// "noindex", "otherbot: noindex, nofollow", "unavailable_after: 1 Jan 2030": a
// name holds for what follows it, until the next name or the field's end.
void ReadRobotsTag(std::string_view value, std::string_view agent,
                   ResponseFields& out) {
  bool for_us = true;
  while (!value.empty()) {
    const size_t comma = value.find(',');
    std::string_view item = TrimBlanks(value.substr(0, comma));
    value = comma == value.npos ? std::string_view() : value.substr(comma + 1);
    const size_t colon = item.find(':');
    if (colon != item.npos) {
      const std::string_view name = TrimBlanks(item.substr(0, colon));
      constexpr std::string_view kWithValue[] = {
          "unavailable_after", "max-snippet", "max-image-preview",
          "max-video-preview"};
      if (std::any_of(
              std::begin(kWithValue), std::end(kWithValue),
              [&](std::string_view rule) { return SameName(rule, name); })) {
        continue;
      }
      for_us = SameName(name, "*") || (!agent.empty() && SameName(name, agent));
      item = item.substr(colon + 1);
    }
    if (for_us) AddRobotsWords(item, out.noindex, out.nofollow);
  }
}

}  // namespace

void ReadResponseFields(std::string_view fields, std::string_view agent,
                        ResponseFields& out) {
  out.has_content_type = out.noindex = out.nofollow = false;
  out.media_type.clear();
  out.charset = {};
  out.content_encoding.clear();
  while (!fields.empty()) {
    const size_t newline = std::min(fields.find('\n'), fields.size());
    const std::string_view line = fields.substr(0, newline);
    fields.remove_prefix(std::min(newline + 1, fields.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = TrimBlanks(line.substr(0, colon));
    std::string_view value = line.substr(colon + 1);
    if (!value.empty() && value.back() == '\r') value.remove_suffix(1);
    value = TrimBlanks(value);
    if (!out.has_content_type && SameName(name, "content-type")) {
      out.has_content_type = !value.empty();
      ReadContentType(value, out);
    } else if (SameName(name, "content-encoding")) {
      if (!out.content_encoding.empty()) out.content_encoding += ',';
      out.content_encoding += value;
    } else if (SameName(name, "x-robots-tag")) {
      ReadRobotsTag(value, agent, out);
    }
  }
}

bool LooksLikeHtml(std::string_view body) {
  if (body.substr(0, 3) == "\xEF\xBB\xBF") body.remove_prefix(3);
  while (!body.empty() && IsHtmlBlank(body.front())) body.remove_prefix(1);
  if (body.substr(0, 4) == "<!--") return true;
  constexpr std::string_view kBeginnings[] = {"<!DOCTYPE HTML",
                                              "<HTML",
                                              "<HEAD",
                                              "<SCRIPT",
                                              "<IFRAME",
                                              "<H1",
                                              "<DIV",
                                              "<FONT",
                                              "<TABLE",
                                              "<A",
                                              "<STYLE",
                                              "<TITLE",
                                              "<B",
                                              "<BODY",
                                              "<BR",
                                              "<P"};
  for (const std::string_view beginning : kBeginnings) {
    if (body.size() > beginning.size() &&
        SameName(body.substr(0, beginning.size()), beginning) &&
        (body[beginning.size()] == ' ' || body[beginning.size()] == '>')) {
      return true;
    }
  }
  return false;
}

}  // namespace gannet::jobs
