package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"atelier/media"
)

// MediaService stores media. The error for an item of another owner has code media.CodeNotFound.
type MediaService interface {
	// StoreMedia reads r to its end and stores it as one item.
	StoreMedia(ctx context.Context, r io.Reader, u Upload) (Media, error)
	// FetchMedia stores the content of a public URL.
	FetchMedia(ctx context.Context, url string) (Media, error)
	// ListMedia lists items, newest first. Next of the List and q.After are positions of the store, not cursors.
	ListMedia(ctx context.Context, q MediaQuery) (List[Media], error)
	// Media returns an item and its origin.
	Media(ctx context.Context, id string) (MediaDetails, error)
	// LabelMedia changes an item's label and description.
	LabelMedia(ctx context.Context, id string, c MediaChange) (Media, error)
	// DeleteMedia deletes an item. It returns the time until which RestoreMedia can restore it.
	DeleteMedia(ctx context.Context, id string) (until time.Time, err error)
	RestoreMedia(ctx context.Context, id string) (Media, error)
	// OpenMedia opens the bytes of an item, or its thumbnail if width is not 0.
	OpenMedia(ctx context.Context, id string, width int) (Content, error)
}

// Upload describes an upload.
type Upload struct{ FileName, MIMEType, Label string }

// Content gives access to the bytes of an item.
type Content struct {
	Digest   media.Digest
	Size     int64
	MIMEType string
	// FileName is the name under which to save the item.
	FileName string
	// Open reads length bytes from an offset; a negative length means to the end. The caller must close the reader.
	Open func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

// Media is one stored item.
type Media struct {
	ID              string    `json:"id"`
	Ref             string    `json:"ref" doc:"The short name, for use in text as ${media:REF}."`
	Modality        string    `json:"modality" enum:"image,audio,video,document"`
	MIMEType        string    `json:"mime_type" doc:"The type detected from the bytes."`
	Width           int       `json:"width,omitempty" doc:"In pixels, after orientation."`
	Height          int       `json:"height,omitempty"`
	DurationSeconds float64   `json:"duration_seconds,omitempty"`
	SizeBytes       int64     `json:"size_bytes"`
	Digest          string    `json:"digest" doc:"sha256-HEX."`
	FileName        string    `json:"file_name,omitempty"`
	Label           string    `json:"label,omitempty"`
	Description     string    `json:"description,omitempty"`
	Partial         bool      `json:"partial,omitempty" doc:"A preview, because the final result is missing."`
	CreatedAt       time.Time `json:"created_at"`
	RunID           string    `json:"run_id,omitempty"`
	ConversationID  string    `json:"conversation_id,omitempty" doc:"Omitted in lists."`
	Model           string    `json:"model,omitempty"`
	URL             string    `json:"url" doc:"The address of the bytes on this server."`
}

// MediaDetails is an item and its origin.
type MediaDetails struct {
	Media
	Origin   Making  `json:"origin"`
	Parents  []Media `json:"parents" nullable:"false" doc:"Items that this one was made from."`
	Children []Media `json:"children" nullable:"false" doc:"Items made from this one."`
	// SubActions are the sub-actions that produced the item, oldest first.
	SubActions []MediaSubAction `json:"sub_actions" nullable:"false" doc:"The workflow sub-actions that produced the item."`
}

// MediaSubAction links an item to the records of the sub-action that produced it.
type MediaSubAction struct {
	ContentID     string     `json:"content_id"`
	MetadataID    string     `json:"metadata_id" doc:"The sub-action's id: GET /api/sub-actions/{id}."`
	WorkflowRunID string     `json:"workflow_run_id"`
	InteractionID string     `json:"interaction_id"`
	PromptID      string     `json:"prompt_id,omitempty"`
	SelectedAt    *time.Time `json:"selected_at,omitempty" doc:"When a person chose it."`
}

// Making describes how an item was made.
type Making struct {
	// Source is the action, model or agent. Direction is input for received items.
	Source        string    `json:"source,omitempty"`
	Direction     string    `json:"direction,omitempty" enum:"input,output"`
	OperationID   string    `json:"operation_id,omitempty"`
	Prompt        string    `json:"prompt,omitempty" doc:"The prompt as requested."`
	PromptSent    string    `json:"prompt_sent,omitempty" doc:"The prompt as sent to the provider."`
	PromptRevised string    `json:"prompt_revised,omitempty" doc:"The prompt as the provider reports to have revised it."`
	Model         string    `json:"model,omitempty"`
	Provider      string    `json:"provider,omitempty"`
	Seed          *int64    `json:"seed,omitempty"`
	Settings      []Setting `json:"settings" nullable:"false"`
	// Request repeats the generation, with the settings as requested.
	Request        *NewGeneration `json:"request,omitempty" doc:"The body of POST /api/generations that repeats the request."`
	Cost           *Cost          `json:"cost,omitempty" doc:"The cost of the whole generation."`
	Results        int            `json:"results,omitempty" doc:"The number of items that the cost covers."`
	RunID          string         `json:"run_id,omitempty"`
	ConversationID string         `json:"conversation_id,omitempty"`
}

// Setting is a requested setting and its disposition.
type Setting struct {
	Setting string `json:"setting"`
	Asked   string `json:"asked"`
	Applied string `json:"applied"`
	Outcome string `json:"outcome" enum:"applied,adapted,dropped,refused,substituted"`
	Reason  string `json:"reason,omitempty"`
}

// Cost is an amount in US dollars, as exact decimal text; null means unknown.
type Cost struct {
	EstimatedUSD *string `json:"estimated_usd"`
	ReportedUSD  *string `json:"reported_usd" doc:"The part that providers reported."`
	Complete     bool    `json:"complete" doc:"Every billable call had a known price."`
}

// MediaQuery filters a list of media.
type MediaQuery struct {
	Modality     string `query:"modality" enum:"image,audio,video,document"`
	Q            string `query:"q" maxLength:"200" doc:"Words in the label, description or file name."`
	Run          string `query:"run" maxLength:"64" doc:"Only media of this run's tree."`
	Conversation string `query:"conversation" maxLength:"64"`
	Deleted      bool   `query:"deleted" doc:"Only deleted items that can be restored."`
	Page
}

// MediaChange changes the label and description of an item. Omitted fields stay unchanged; empty text clears them.
type MediaChange struct {
	Label       *string `json:"label,omitempty" nullable:"false" maxLength:"500"`
	Description *string `json:"description,omitempty" nullable:"false" maxLength:"4000"`
}

// Deleted is a deleted resource that can be restored.
type Deleted struct {
	ID        string    `json:"id"`
	UndoUntil time.Time `json:"undo_until"`
}

// ByID identifies one resource.
type ByID struct {
	ID string `path:"id" maxLength:"128"`
}

// mediaResource registers the operations on media: records, uploads, bytes and archives.
type mediaResource struct {
	media MediaService
	// maxUpload is the maximum size of an upload, in bytes.
	maxUpload int64
}

func (m mediaResource) register(rt *routes) {
	const path, tag = "/api/media/{id}", "media"
	paged(rt, "/api/media", "List media", tag, m.media.ListMedia)
	byID(rt, on(http.MethodGet, path, "Get media", tag), m.media.Media)
	handle(rt, on(http.MethodPatch, path, "Label media", tag), func(ctx context.Context, in *withID[MediaChange]) (*answer[Media], error) {
		if in.Body == (MediaChange{}) {
			return nil, media.Errorf(media.CodeInvalid, "nothing to change: give label or description")
		}
		return found(m.media.LabelMedia(ctx, in.ID, in.Body))
	})
	byID(rt, on(http.MethodDelete, path, "Delete media", tag), deletion(m.media.DeleteMedia))
	byID(rt, on(http.MethodPost, path+"/restore", "Restore media", tag), m.media.RestoreMedia)
	m.registerUpload(rt)
	m.registerBytes(rt)
	m.registerZip(rt)
}

// deletion responds with the time until which the deleted resource can be restored.
func deletion(do func(ctx context.Context, id string) (time.Time, error)) func(context.Context, string) (Deleted, error) {
	return func(ctx context.Context, id string) (Deleted, error) {
		until, err := do(ctx, id)
		return Deleted{ID: id, UndoUntil: until.UTC()}, err
	}
}
