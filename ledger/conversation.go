package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier/media"
)

// Conversation is a sequence of messages between a person and agents. Every run that continues it receives its pictures
// as refs.
type Conversation struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	// Title is a short text for lists; at most 500 characters are kept.
	Title string `json:"title"`
	// Messages is the number of its messages. It is read-only.
	Messages  int       `json:"messages"`
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the last message was saved.
	UpdatedAt time.Time `json:"updated_at"`
}

// Role is the author of a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one row of conversation_details. A person's message is saved before its run starts, the answer when the
// run has ended; RunID connects the two.
type Message struct {
	ID             string `json:"id"`
	ConversationID string `json:"conversation_id"`
	Role           Role   `json:"role"`
	// Text keeps placeholders.
	Text string `json:"text"`
	// RunID is the root run that answers the message or wrote the answer.
	RunID string `json:"run_id"`
	// Agent is the slug, or the name that the person wrote.
	Agent string `json:"agent,omitempty"`
	// Status is the final status of an answer's run; empty for a person's message.
	Status Status `json:"status,omitempty"`
	// Failure explains why there is no better answer.
	Failure Failure `json:"failure,omitzero"`
	// CreatedAt is when the message was first saved, unless it was set then, as for a copy.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Attachment is one row of conversation_detail_attachments: an item as it was when it was attached, with the ref and
// digest of its media record.
type Attachment struct {
	ID        string       `json:"id"`
	MessageID string       `json:"message_id"`
	MediaID   string       `json:"media_id"`
	Ref       media.Ref    `json:"ref"`
	Digest    media.Digest `json:"digest"`
	// SourceID is the agent-run media row of an item of an answer; empty for an item that a person attached.
	SourceID string `json:"source_agent_run_media_id,omitempty"`
	// Name is the label, or the modality with the position in the message: Image_1.png.
	Name string `json:"name"`
	Snapshot
}

// AttachmentName returns the name of the nth item of a message, counted from 1: its label, or its modality and
// position.
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

// MessageQuery filters a list of messages or attachments; zero fields match all.
type MessageQuery struct {
	// Newest lists the newest first.
	Newest bool
	// Message selects the attachments of one message; lists of messages ignore it.
	Message string
	Page
}

// ConversationQuery filters a list of conversations; zero fields match all.
type ConversationQuery struct {
	// Text is a text in the title or in a message; its case is ignored.
	Text string
	Page
}

// ConversationRun is the usage and cost of a run tree in its conversation.
type ConversationRun struct {
	ConversationID string
	RunID          string
	Usage          Usage
	Cost           Cost
}

// ConversationChanges are people's changes of whole conversations, and queries about them. For a deleted, foreign or
// unknown conversation, errors have code media.CodeNotFound, except in RestoreConversation.
type ConversationChanges interface {
	// RenameConversation changes the title of a conversation.
	RenameConversation(ctx context.Context, owner, id, title string) error
	// RestoreConversation undoes DeleteConversation. The error has code media.CodeNotFound if the conversation was not
	// deleted since the given time.
	RestoreConversation(ctx context.Context, owner, id string, since time.Time) error
	// ConversationOf returns the id of the conversation of a run tree; empty if there is none.
	ConversationOf(ctx context.Context, owner, tree string) (string, error)
	// ConversationRuns lists the root runs of conversations.
	ConversationRuns(ctx context.Context, owner string, ids []string) ([]ConversationRun, error)
}

// Conversations stores conversations, their messages and attachments. For a deleted, foreign or unknown conversation
// and everything in it, errors have code media.CodeNotFound. SaveMessage and Attach, however, also write to a deleted
// one, so that the answer of a run that ends meanwhile exists when the conversation is restored.
type Conversations interface {
	// CreateConversation inserts a conversation. ID and Owner are required. The error has code media.CodeConflict if
	// the id exists.
	CreateConversation(ctx context.Context, c Conversation) error
	// Conversation returns one conversation.
	Conversation(ctx context.Context, owner, id string) (Conversation, error)
	// ListConversations lists conversations, newest first.
	ListConversations(ctx context.Context, owner string, q ConversationQuery) (List[Conversation], error)
	// DeleteConversation leaves a tombstone. Media records and runs stay. For a deleted conversation, the error has
	// code media.CodeNotFound.
	DeleteConversation(ctx context.Context, owner, id string) error
	// SaveMessage inserts a message, or overwrites the one with its id, which keeps its place. Messages are in the
	// order of their ids. For an id of another conversation, the error has code media.CodeConflict.
	SaveMessage(ctx context.Context, owner string, m Message) error
	// ListMessages lists a conversation's messages in order.
	ListMessages(ctx context.Context, owner, conversationID string, q MessageQuery) (List[Message], error)
	// Attach attaches recorded items to a message, in order, each once. An item of an answer must be agent-run media of
	// the answer's run. A row that cannot be saved produces a warning and does not affect the others; the error is for
	// a failure of all.
	Attach(ctx context.Context, owner, messageID string, items []media.Output) (warnings []string, err error)
	// ListAttachments lists the attachments of a conversation in the order in which they were attached, which is the
	// display order within a message. Attachments of deleted media are omitted.
	ListAttachments(ctx context.Context, owner, conversationID string, q MessageQuery) (List[Attachment], error)
}
