package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// ConversationService lists and changes conversations.
type ConversationService interface {
	ListConversations(ctx context.Context, q ConversationQuery) (List[ConversationHead], error)
	// Conversation reads a conversation with its messages, oldest first.
	Conversation(ctx context.Context, id string) (Conversation, error)
	RenameConversation(ctx context.Context, id, title string) (ConversationHead, error)
	// DeleteConversation returns until when RestoreConversation can restore it. Runs and media
	// stay.
	DeleteConversation(ctx context.Context, id string) (until time.Time, err error)
	RestoreConversation(ctx context.Context, id string) (ConversationHead, error)
	// ForkConversation starts a conversation with the messages of another one up to an answer.
	ForkConversation(ctx context.Context, id string, f ForkConversation) (ConversationHead, error)
}

// ConversationQuery narrows a list of conversations.
type ConversationQuery struct {
	Q string `query:"q" maxLength:"200" doc:"Words in the title or in a message."`
	Page
}

func (q ConversationQuery) filters() ConversationQuery {
	q.Page = Page{}
	return q
}

// ConversationHead is a conversation in a list.
type ConversationHead struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	RunCount  int       `json:"run_count"`
	Cost      Cost      `json:"cost"`
	Tokens    Usage     `json:"tokens"`
}

// Conversation is a conversation with its messages.
type Conversation struct {
	ConversationHead
	Messages []Message `json:"messages" nullable:"false"`
}

// Message is a person's message or an answer.
type Message struct {
	ID          string    `json:"id"`
	Role        string    `json:"role" enum:"user,assistant"`
	Text        string    `json:"text" doc:"Media are written as ${media:REF}."`
	RunID       string    `json:"run_id"`
	Agent       string    `json:"agent,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	Attachments []Media   `json:"attachments" nullable:"false"`
	Status      string    `json:"status,omitempty" doc:"The status of the answer's run."`
	Error       *Failure  `json:"error,omitempty"`
	Report      bool      `json:"report" doc:"The answer's run has a report."`
}

// Rename is a conversation's new title.
type Rename struct {
	Title string `json:"title" minLength:"1" maxLength:"500"`
}

// ForkConversation is where a new conversation branches off.
type ForkConversation struct {
	After string `json:"after" minLength:"1" maxLength:"128" doc:"The id of the last message to keep."`
}

// conversationResource is the operations on conversations.
type conversationResource struct{ conversations ConversationService }

func (r conversationResource) register(rt *routes) {
	cs, tags := r.conversations, []string{"conversations"}
	handle(rt, huma.Operation{Method: http.MethodGet, Path: "/api/conversations", Summary: "List conversations", Tags: tags}, func(ctx context.Context, in *ConversationQuery) (*answer[List[ConversationHead]], error) {
		return listed(in.filters(), &in.Page, func() (List[ConversationHead], error) { return cs.ListConversations(ctx, *in) })
	})
	handle(rt, huma.Operation{Method: http.MethodGet, Path: "/api/conversations/{id}", Summary: "Get conversation", Tags: tags}, func(ctx context.Context, in *ByID) (*answer[Conversation], error) {
		return found(cs.Conversation(ctx, in.ID))
	})
	handle(rt, huma.Operation{Method: http.MethodPatch, Path: "/api/conversations/{id}", Summary: "Rename conversation", Tags: tags}, func(ctx context.Context, in *struct {
		ByID
		Body Rename
	},
	) (*answer[ConversationHead], error) {
		return found(cs.RenameConversation(ctx, in.ID, in.Body.Title))
	})
	handle(rt, huma.Operation{Method: http.MethodDelete, Path: "/api/conversations/{id}", Summary: "Delete conversation", Tags: tags}, func(ctx context.Context, in *ByID) (*answer[Deleted], error) {
		until, err := cs.DeleteConversation(ctx, in.ID)
		return found(Deleted{ID: in.ID, UndoUntil: until.UTC()}, err)
	})
	handle(rt, huma.Operation{Method: http.MethodPost, Path: "/api/conversations/{id}/restore", Summary: "Restore conversation", Tags: tags}, func(ctx context.Context, in *ByID) (*answer[ConversationHead], error) {
		return found(cs.RestoreConversation(ctx, in.ID))
	})
	handle(rt, huma.Operation{Method: http.MethodPost, Path: "/api/conversations/{id}/fork", Summary: "Fork conversation", Tags: tags, DefaultStatus: http.StatusCreated}, func(ctx context.Context, in *struct {
		ByID
		Body ForkConversation
	},
	) (*answer[ConversationHead], error) {
		out, err := cs.ForkConversation(ctx, in.ID, in.Body)
		return &answer[ConversationHead]{Status: http.StatusCreated, Body: out}, err
	})
}
