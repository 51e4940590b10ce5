// Package web provides actions on the web: "Web Search" with the one provider that the operator configures, and "Fetch
// Page", which converts a page to readable text.
//
// A provider is a [Searcher]; the package contains SearXNG, Brave and Tavily. Pages are fetched within the guard of
// internal/safehttp: public addresses on every hop of every redirect, a limit on bytes and time, and only types that
// contain text.
//
// Errors are media.Error values: [media.CodeUnauthorized], CodeQuotaExceeded, CodeRateLimited, CodeUnavailable and
// CodeBadResponse of providers, those of safehttp for pages, and [media.CodeUnsupported] for pages without text. None
// of them contains a key or the path of an address. The package imports action, action/file, media, probe, wire,
// internal/patience, internal/safehttp and golang.org/x/net.
package web
