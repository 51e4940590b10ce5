// Package driver is the contract between the gateway and the drivers of providers: a [Driver] turns
// a planned [Task] into its provider's request, and the answer into an [Update]. What only some
// providers have are optional interfaces: [Notified] for webhooks, [Listed] for lists of tasks,
// [Reviewed] for settings that exclude each other.
//
// Errors are media.Error values, as [Driver] says. It may import media, wire, generate and
// generate/catalog; drivers import it and never each other.
package driver
