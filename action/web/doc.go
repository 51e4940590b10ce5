// Package web is what agents do with the web: "Web Search" through the one provider
// that the operator configures, and "Fetch Page", which turns a page into readable
// text.
//
// A provider is a [Searcher]: SearXNG, Brave and Tavily are here. Pages are fetched
// within the guard of internal/safehttp: public addresses on every hop of every
// redirect, a limit on bytes and time, and only types that have text.
//
// Errors are media.Error values: [media.CodeUnauthorized], CodeQuotaExceeded,
// CodeRateLimited, CodeUnavailable and CodeBadResponse of providers, those of
// safehttp for pages, [media.CodeUnsupported] for what has no text. None of them
// holds a key or the path of an address. The package imports action, action/file,
// media, internal/safehttp and golang.org/x/net.
package web
