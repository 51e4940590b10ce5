package atelier

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"atelier/agent/resolve"
	"atelier/api"
	"atelier/generate"
	"atelier/internal/recent"
	"atelier/ledger"
	"atelier/media"
	"atelier/media/blob"
	"atelier/media/imaging"
	"atelier/media/wire"
	"atelier/run/operations"
)

// servedMedia implements the resource of media.
type servedMedia struct {
	*Atelier
	thumbnailFlights singleflight.Group
	// thumbnails limits how many pictures are decoded at the same time.
	thumbnails chan struct{}
	// contentCache caches recently requested items. Changes by this process take effect at once, changes by other
	// processes after a moment.
	contentCache recent.Cache[openedKey, api.Content]
}

// openedKey identifies a request for bytes.
type openedKey struct {
	owner, id string
	width     int
}

// StoreMedia stores an upload as a stream.
func (s *servedMedia) StoreMedia(ctx context.Context, r io.Reader, u api.Upload) (api.Media, error) {
	declared, _, _ := strings.Cut(u.MIMEType, ";")
	if declared = strings.ToLower(strings.TrimSpace(declared)); declared == "" || declared == "application/octet-stream" || declared == "text/plain" {
		declared = cmp.Or(textTypes[strings.ToLower(path.Ext(u.FileName))], declared)
	}
	o, err := s.Store(ctx, r, media.Meta{Label: u.Label, FileName: u.FileName, MIMEType: declared})
	if err != nil {
		return api.Media{}, err
	}
	return s.loadMedia(ctx, o.ID)
}

// textTypes maps file extensions to types that have no signature in the bytes.
var textTypes = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".csv": "text/csv", ".tsv": "text/tab-separated-values", ".md": "text/markdown", ".markdown": "text/markdown", ".json": "application/json",
	".jsonl": "application/x-ndjson", ".ndjson": "application/x-ndjson", ".html": "text/html", ".htm": "text/html", ".yaml": "application/yaml", ".yml": "application/yaml",
}

// FetchMedia stores the content of a public URL.
func (s *servedMedia) FetchMedia(ctx context.Context, address string) (api.Media, error) {
	body, kind, err := s.fetch.Fetch(ctx, address)
	if err != nil {
		return api.Media{}, err
	}
	defer func() { _ = body.Close() }() // the content is saved, or the error says why not
	name := ""
	if u, err := url.Parse(address); err == nil {
		name = strings.Trim(path.Base(u.Path), "/.")
	}
	return s.StoreMedia(ctx, body, api.Upload{FileName: name, MIMEType: kind})
}

// loadMedia returns an item for display.
func (s *servedMedia) loadMedia(ctx context.Context, id string) (api.Media, error) {
	r, err := s.record(ctx, id)
	if err != nil {
		return api.Media{}, err
	}
	return mediaView(r), nil
}

func mediaView(r ledger.Record) api.Media {
	m := outputView(r.Output)
	m.RunID = r.Run
	return m
}

func outputView(o media.Output) api.Media {
	model, _ := o.Metadata["model"].(string)
	return api.Media{
		ID: o.ID, Ref: string(o.Ref), Modality: string(o.Modality), MIMEType: o.MIMEType, Width: o.Width, Height: o.Height, DurationSeconds: o.DurationSeconds,
		SizeBytes: o.SizeBytes, Digest: o.Digest.String(), FileName: o.FileName, Label: o.Label, Description: o.Description, Partial: o.Partial,
		CreatedAt: o.CreatedAt.UTC(), Model: model, URL: "/media/" + o.ID,
	}
}

// ListMedia lists items.
func (s *servedMedia) ListMedia(ctx context.Context, q api.MediaQuery) (api.List[api.Media], error) {
	list, err := s.Ledger.ListMedia(ctx, s.owner(ctx), ledger.MediaQuery{
		Tree: s.treeOf(ctx, q.Run), Conversation: q.Conversation, Modality: media.Modality(q.Modality), Text: strings.TrimSpace(q.Q), Deleted: q.Deleted, Page: pageOf(q.Page),
	})
	return views(list, mediaView), err
}

func pageOf(p api.Page) ledger.Page { return ledger.Page{After: p.After, Limit: p.Limit} }

// Media returns an item and its origin.
func (s *servedMedia) Media(ctx context.Context, id string) (api.MediaDetails, error) {
	r, err := s.record(ctx, id)
	if err != nil {
		return api.MediaDetails{}, err
	}
	p, err := s.Ledger.Provenance(ctx, s.owner(ctx), r.ID)
	if err != nil {
		return api.MediaDetails{}, err
	}
	d := api.MediaDetails{Media: mediaView(r), Origin: api.Making{Source: r.Origin.Source, Direction: r.Origin.Direction, RunID: r.Run, Settings: []api.Setting{}}}
	for _, use := range p.Trees {
		d.ConversationID = cmp.Or(d.ConversationID, use.Conversation)
	}
	d.Origin.ConversationID, d.Origin.Model = d.ConversationID, d.Model
	if d.Parents, err = s.relatives(ctx, p.Parents, func(e ledger.Edge) string { return e.ParentID }, r.ID); err != nil {
		return d, err
	}
	if d.Children, err = s.relatives(ctx, p.Children, func(e ledger.Edge) string { return e.ChildID }, r.ID); err != nil {
		return d, err
	}
	contents, err := s.Ledger.ContentOfMedia(ctx, s.owner(ctx), r.ID)
	if err != nil {
		return d, err
	}
	d.SubActions = []api.MediaSubAction{}
	for _, c := range contents {
		g, _, err := s.Ledger.ContentGeneration(ctx, s.owner(ctx), c.MetadataID)
		if err != nil {
			return d, err
		}
		d.SubActions = append(d.SubActions, api.MediaSubAction{
			ContentID: c.ID, MetadataID: g.ID, WorkflowRunID: g.WorkflowRunID, InteractionID: g.InteractionID, PromptID: g.PromptID, SelectedAt: timeOrNil(c.SelectedAt),
		})
	}
	return d, s.addOrigin(ctx, r, &d.Origin)
}

// relatives returns the items at the ends of edges, each once, without deleted ones.
func (s *servedMedia) relatives(ctx context.Context, edges []ledger.Edge, of func(ledger.Edge) string, self string) ([]api.Media, error) {
	out, seen := []api.Media{}, map[string]bool{self: true, "": true}
	for _, e := range edges {
		id := of(e)
		if seen[id] {
			continue
		}
		seen[id] = true
		m, err := s.loadMedia(ctx, id)
		if media.CodeOf(err) == media.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// addOrigin adds how a generation made the item.
func (s *servedMedia) addOrigin(ctx context.Context, r ledger.Record, m *api.Making) error {
	if r.Origin.Operation == "" {
		return nil
	}
	o, slots, _, err := s.Ledger.Operation(ctx, s.owner(ctx), r.Origin.Operation)
	if media.CodeOf(err) == media.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	m.OperationID, m.Model, m.Provider = o.ID, o.Model, o.Provider
	m.Prompt, m.PromptSent = prompts(o)
	cost := operationCost(o)
	m.Settings, m.Request, m.Cost = settingViews(o.Dispositions), repeatRequest(o), &cost
	for _, sl := range slots {
		if sl.MediaID != "" {
			m.Results++
		}
		if sl.Digest == r.Digest {
			m.PromptRevised, m.Seed = sl.RevisedPrompt, sl.Seed
		}
	}
	return nil
}

// prompts returns the prompt of an operation as requested and as sent to the provider.
func prompts(o ledger.Operation) (requested, sent string) {
	r, sent, _ := operations.Requested(o) // an unreadable row shows none
	return cmp.Or(r.Prompt, sent), sent
}

// settingViews converts saved dispositions of settings for display.
func settingViews(saved json.RawMessage) []api.Setting {
	var all []generate.Disposition
	if json.Unmarshal(saved, &all) != nil {
		all = nil
	}
	return settingsOfPlan(all)
}

func settingsOfPlan(all []generate.Disposition) []api.Setting {
	out := []api.Setting{}
	for _, d := range all {
		out = append(out, api.Setting{Setting: d.Setting, Asked: d.Asked, Applied: d.Applied, Outcome: string(d.Outcome), Reason: d.Reason})
	}
	return out
}

// LabelMedia changes an item's label and description.
func (s *servedMedia) LabelMedia(ctx context.Context, id string, c api.MediaChange) (api.Media, error) {
	defer s.contentCache.Drop()
	for _, text := range []*string{c.Label, c.Description} {
		if text != nil {
			*text = wire.NameMedia(*text)
		}
	}
	if err := s.Ledger.LabelMedia(ctx, s.owner(ctx), id, c.Label, c.Description); err != nil {
		return api.Media{}, describeNotFound(err, "media item", id)
	}
	return s.loadMedia(ctx, id)
}

// DeleteMedia deletes an item.
func (s *servedMedia) DeleteMedia(ctx context.Context, id string) (time.Time, error) {
	defer s.contentCache.Drop()
	return now().Add(blob.DefaultGrace), describeNotFound(s.Ledger.DeleteMedia(ctx, s.owner(ctx), id), "media item", id)
}

// RestoreMedia restores an item.
func (s *servedMedia) RestoreMedia(ctx context.Context, id string) (api.Media, error) {
	if err := s.Ledger.RestoreMedia(ctx, s.owner(ctx), id, now().Add(-blob.DefaultGrace)); err != nil {
		return api.Media{}, describeNotFound(err, "deleted media item", id)
	}
	return s.loadMedia(ctx, id)
}

// now returns the current time.
func now() time.Time { return time.Now().UTC() } //nolint:forbidigo // the clock of the server

// OpenMedia opens the bytes of an item, or its thumbnail.
func (s *servedMedia) OpenMedia(ctx context.Context, id string, width int) (api.Content, error) {
	if d, err := media.ParseDigest(id); err == nil {
		return s.openPreview(ctx, d)
	}
	return s.contentCache.Get(openedKey{s.owner(ctx), id, width}, func() (api.Content, error) { return s.openRecord(ctx, id, width) })
}

// openRecord implements [servedMedia.OpenMedia] for an item with a record; it reads the database.
func (s *servedMedia) openRecord(ctx context.Context, id string, width int) (api.Content, error) {
	r, err := s.record(ctx, id)
	if err != nil {
		return api.Content{}, err
	}
	d, c := r.Digest, api.Content{MIMEType: r.MIMEType, FileName: cmp.Or(r.FileName, resolve.FileName(r.Output))}
	if width > 0 {
		if d, err = s.thumbnail(ctx, r, width); err != nil {
			return c, err
		}
		b, err := s.Ledger.BlobOf(ctx, d)
		if err != nil {
			return c, err
		}
		c.MIMEType = b.MIMEType
		c.FileName = resolve.FileName(media.Output{Label: r.Label, Ref: r.Ref, Blob: b.Blob})
	}
	info, err := s.Blobs.Stat(ctx, d)
	if err != nil {
		return c, err
	}
	if strings.HasPrefix(c.MIMEType, "text/") {
		c.MIMEType += "; charset=utf-8"
	}
	c.Digest, c.Size, c.Open = d, info.SizeBytes, s.opener(d)
	return c, nil
}

// previewKey identifies a preview that was shown to an owner.
type previewKey struct {
	digest media.Digest
	owner  string
}

// notePreview remembers the owner of a preview for as long as its bytes are kept. Previews have no record, because they
// are useless after their operation.
func (a *Atelier) notePreview(ctx context.Context, e generate.Event) {
	if e.Kind == generate.EventPartial && e.Partial != nil {
		_, _ = a.previews.Get(previewKey{e.Partial.Digest, media.ScopeOf(ctx).Owner}, func() (bool, error) { return true, nil })
	}
}

// openPreview opens the bytes of a preview, which has no record. The preview must have been shown to the owner or
// belong to the owner's generation.
func (s *servedMedia) openPreview(ctx context.Context, d media.Digest) (api.Content, error) {
	b, err := s.Ledger.BlobOf(ctx, d)
	own, _ := s.previews.Get(previewKey{d, s.owner(ctx)}, func() (bool, error) { return false, errors.ErrUnsupported }) // not noted
	if err == nil && !own && b.OperationID != "" {
		_, _, _, err = s.Ledger.Operation(ctx, s.owner(ctx), b.OperationID)
		own = err == nil
	}
	if media.CodeOf(err) == media.CodeNotFound || err == nil && !own {
		err = media.Errorf(media.CodeNotFound, "preview %s does not exist", d)
	}
	if err != nil {
		return api.Content{}, err
	}
	return api.Content{Digest: d, Size: b.SizeBytes, MIMEType: b.MIMEType, Open: s.opener(d)}, nil
}

// opener returns a function that reads the bytes of a digest.
func (s *servedMedia) opener(d media.Digest) func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
	return func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
		return s.Blobs.OpenRange(ctx, d, offset, length)
	}
}

// thumbnail is like [Atelier.Thumbnail], but makes each thumbnail only once at a time, and only a few in total.
func (s *servedMedia) thumbnail(ctx context.Context, r ledger.Record, width int) (media.Digest, error) {
	d, err, _ := s.thumbnailFlights.Do(r.Digest.String()+" "+strconv.Itoa(width), func() (any, error) {
		ctx := context.WithoutCancel(ctx) // other requests may wait for it too
		if d, err := s.storedThumbnail(ctx, r, width); err == nil {
			return d, nil
		}
		s.thumbnails <- struct{}{}
		defer func() { <-s.thumbnails }()
		return s.Thumbnail(ctx, r, width)
	})
	digest, _ := d.(media.Digest)
	return digest, err
}

// storedThumbnail returns the stored thumbnail of a picture. The error for a missing one has code media.CodeNotFound.
func (a *Atelier) storedThumbnail(ctx context.Context, r ledger.Record, width int) (media.Digest, error) {
	d, err := a.Ledger.Thumbnail(ctx, r.Digest, width)
	if err == nil {
		_, err = a.Blobs.Stat(ctx, d)
	}
	return d, err
}

// Thumbnail returns the stored thumbnail of a picture and creates it if it is missing. The error for items without
// pixels has code media.CodeUnsupported.
func (a *Atelier) Thumbnail(ctx context.Context, r ledger.Record, width int) (media.Digest, error) {
	d, err := a.storedThumbnail(ctx, r, width)
	if err == nil || media.CodeOf(err) != media.CodeNotFound {
		return d, err
	}
	if r.Modality != media.ModalityImage || r.MIMEType == "image/svg+xml" {
		return d, media.Errorf(media.CodeUnsupported, "%s is %s: only bitmap pictures have thumbnails", r.Ref, r.MIMEType)
	}
	in, err := a.Codec.Open(ctx, r.Digest)
	if err != nil {
		return d, err
	}
	defer func() { _ = in.Close() }() // read-only
	var small bytes.Buffer
	if _, err := imaging.Thumbnail(ctx, &small, in, r.Facts, width); err != nil {
		code := media.CodeOf(err)
		if code == media.CodeCorrupt {
			code = media.CodeUnsupported // an upload may be a damaged picture; its bytes are as they were sent
		}
		return d, media.Errorf(code, "make a thumbnail of %s: %w", r.Ref, err)
	}
	b, err := a.Codec.Store(ctx, &small, "")
	if err != nil {
		return d, err
	}
	return b.Digest, a.Ledger.SaveThumbnail(ctx, r.Digest, width, b.Digest)
}
