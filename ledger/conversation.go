package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier/media"
)

// Conversation is a sequence of messages between a person and agents. Its pictures
// are handed, as refs, to every run that continues it.
type Conversation struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	// Title is a short text for lists; at most 500 characters are kept.
	Title string `json:"title"`
	// Messages counts its messages. It is read only.
	Messages  int       `json:"messages"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the last message was saved.
	UpdatedAt time.Time `json:"updated_at"`
}

// Role is who wrote a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one row of conversation_details. A person's message is saved before its
// run starts, the answer when the run has ended; RunID holds the two together.
type Message struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversation_id"`
	Role           Role   `json:"role"`
	// Text keeps placeholders.
	Text string `json:"text"`
	// RunID is the root run that answers, or answered.
	RunID string `json:"run_id"`
	// Agent is the slug, or the name as the person gave it.
	Agent string `json:"agent,omitempty"`
	// Status is how the run of an answer ended; empty for a person's message.
	Status Status `json:"status,omitempty"`
	// Failure says why there is no better answer.
	Failure   Failure   `json:"failure,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Attachment is one row of conversation_detail_attachments: an item as it stood when
// it was attached, with what its media record says of ref and digest.
type Attachment struct {
	ID        string       `json:"id"`
	MessageID string       `json:"message_id"`
	MediaID   string       `json:"media_id"`
	Ref       media.Ref    `json:"ref"`
	Digest    media.Digest `json:"digest"`
	// SourceID is the agent-run media row behind an item of an answer; empty for what
	// a person attached.
	SourceID string `json:"source_agent_run_media_id,omitempty"`
	// Name is the label, or the modality with its place in the message: Image_1.png.
	Name string `json:"name"`
	Snapshot
}

// AttachmentName names an item that is the nth of its message, counted from 1: its
// label, or its modality and place.
func AttachmentName(o media.Output, n int) string {
	if label := strings.TrimSpace(o.Label); label != "" {
		return label
	}
	kind := string(o.Modality)
	if kind == "" {
		kind = string(media.ModalityDocument)
	}
	return fmt.Sprintf("%s_%d.%s", strings.ToUpper(kind[:1])+kind[1:], n, fileExtension(o.MIMEType))
}

func fileExtension(mimeType string) string {
	switch mimeType {
	case "image/jpeg":
		return "jpg"
	case "image/svg+xml":
		return "svg"
	case "audio/mpeg":
		return "mp3"
	case "text/plain":
		return "txt"
	case "text/markdown":
		return "md"
	}
	_, sub, _ := strings.Cut(mimeType, "/")
	if sub == "" || strings.ContainsAny(sub, ".+/\\ ") {
		return "bin"
	}
	return strings.TrimPrefix(sub, "x-")
}

// MessageQuery narrows a list of messages or attachments; zero fields match all.
type MessageQuery struct {
	// Newest lists backwards, the newest first.
	Newest bool
	// Message asks for the attachments of one message; lists of messages ignore it.
	Message string
	Page
}

// ConversationQuery narrows a list of conversations; zero fields match all.
type ConversationQuery struct {
	// Text is in the title or in a message, in any case of ASCII letters.
	Text string
	Page
}

// ConversationRun is the part of a run tree in its conversation's account.
type ConversationRun struct {
	ConversationID string
	RunID          string
	Usage          Usage
	Cost           Cost
}

// ConversationChanges are what people do to whole conversations, and what is asked of them.
// What is deleted, foreign or unknown is media.CodeNotFound, but for RestoreConversation.
type ConversationChanges interface {
	// RenameConversation gives it another title.
	RenameConversation(ctx context.Context, owner, id, title string) error
	// RestoreConversation undoes DeleteConversation. It is media.CodeNotFound if none was
	// deleted, or not since the time given.
	RestoreConversation(ctx context.Context, owner, id string, since time.Time) error
	// ConversationOf is the id of the conversation of a run tree; empty if there is none.
	ConversationOf(ctx context.Context, owner, tree string) (string, error)
	// ConversationRuns lists the root runs of conversations.
	ConversationRuns(ctx context.Context, owner string, ids []string) ([]ConversationRun, error)
}

// Conversations keeps conversations, their messages and what is attached to them.
// A conversation that is deleted, foreign or unknown is media.CodeNotFound with
// everything in it; but SaveMessage and Attach write to a deleted one as well: the answer
// of a run that ends meanwhile is there when the conversation is restored.
type Conversations interface {
	// CreateConversation inserts one. ID and Owner are required; a second one with the
	// same id is media.CodeConflict.
	CreateConversation(ctx context.Context, c Conversation) error
	// Conversation reads one.
	Conversation(ctx context.Context, owner, id string) (Conversation, error)
	// ListConversations lists conversations, the last begun first.
	ListConversations(ctx context.Context, owner string, q ConversationQuery) (List[Conversation], error)
	// DeleteConversation leaves a tombstone. Media records and runs stay. Deleting twice
	// is media.CodeNotFound.
	DeleteConversation(ctx context.Context, owner, id string) error
	// SaveMessage inserts a message, or overwrites the one with its id, which keeps its
	// place. Messages stand in the order of their ids. An id of another conversation is
	// media.CodeConflict.
	SaveMessage(ctx context.Context, owner string, m Message) error
	// ListMessages lists a conversation's messages in order.
	ListMessages(ctx context.Context, owner, conversationID string, q MessageQuery) (List[Message], error)
	// Attach attaches recorded items to a message, in order, once each. An item of an
	// answer has to be agent-run media of the answer's run. A row that cannot be saved
	// gives a warning and does not stop the others; the error is for what stops them all.
	Attach(ctx context.Context, owner, messageID string, items []media.Output) (warnings []string, err error)
	// ListAttachments lists what is attached in a conversation in the order of attaching,
	// which is the display order within a message. Where the media was deleted, the
	// attachment is omitted.
	ListAttachments(ctx context.Context, owner, conversationID string, q MessageQuery) (List[Attachment], error)
}
