// Is this text what a key of site.yaml, or the flag of the same name, wants?
// The constants say what is allowed in the words of an error message. Functions
// only; safe from any thread.
#pragma once

#include <string>

namespace gannet::sites {

inline constexpr char kSiteNameAllowed[] =
    "a name of letters, digits, '_', '.' and '-', up to 64";
bool IsSiteName(const std::string& text);

// RFC 9309, 2.2.1: anything else ends the name that robots.txt files can use.
inline constexpr char kAgentNameAllowed[] =
    "a name of letters, '_' and '-', which robots.txt files can name";
bool IsAgentName(const std::string& text);

inline constexpr char kContactAllowed[] =
    "a URL or a mail address, such as https://example.org/bot or "
    "crawler@example.org";
bool IsContact(const std::string& text);

inline constexpr char kConnectToAllowed[] =
    "HOST:PORT, or a range of addresses with a port, such as "
    "127.0.0.1:8080 or 127.0.0.0/8:8080; a second port is for https, such as "
    "127.0.0.1:8080,8443";
bool IsConnectTo(const std::string& text);

// No blanks, no control characters, ASCII.
bool IsToken(const std::string& text);
bool IsHeaderValue(const std::string& text);
bool IsAddress(const std::string& text);
bool IsCidr(const std::string& text);
bool IsAddressWithOptionalPort(const std::string& text);
inline constexpr char kListenAddressAllowed[] =
    "an address of this machine with a port, such as 127.0.0.1:7781 or "
    "[::]:7781, or \"\" for none";
bool IsListenAddress(const std::string& text);  // Port 0: any that is free.
// Of a listen address: only this machine reaches it; every address is meant.
bool IsLoopback(const std::string& listen_address);
bool IsAnyAddress(const std::string& listen_address);
inline constexpr char kHostPortAllowed[] =
    "HOST:PORT, such as tokyo.example:7701 or [2001:db8::1]:7701, or \"\"";
bool IsHostPort(const std::string& text);
inline constexpr char kHostNameAllowed[] =
    "a name without scheme and port, such as crawl.example.org";
bool IsHostName(const std::string& text);
bool IsProxy(const std::string& text);

}  // namespace gannet::sites
