package api

import (
	"context"
	"net/http"
	"time"
)

// ConversationService lists and changes conversations.
type ConversationService interface {
	ListConversations(ctx context.Context, q ConversationQuery) (List[ConversationHead], error)
	// Conversation returns a conversation with its messages, oldest first.
	Conversation(ctx context.Context, id string) (Conversation, error)
	RenameConversation(ctx context.Context, id, title string) (ConversationHead, error)
	// DeleteConversation returns the time until which RestoreConversation can restore the conversation. Runs and media
	// are kept.
	DeleteConversation(ctx context.Context, id string) (until time.Time, err error)
	RestoreConversation(ctx context.Context, id string) (ConversationHead, error)
	// ForkConversation starts a conversation with the messages of another one, up to and including a given message.
	ForkConversation(ctx context.Context, id string, f ForkConversation) (ConversationHead, error)
}

// ConversationQuery filters a list of conversations.
type ConversationQuery struct {
	Q string `query:"q" maxLength:"200" doc:"Words in the title or in a message."`
	Page
}

// ConversationHead is a conversation without its messages.
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

// Rename holds the new title of a conversation.
type Rename struct {
	Title string `json:"title" minLength:"1" maxLength:"500"`
}

// ForkConversation says where a new conversation branches off.
type ForkConversation struct {
	After string `json:"after" minLength:"1" maxLength:"128" doc:"The id of the last message to keep."`
}

func registerConversations(rt *routes, cs ConversationService) {
	const path, tag = "/api/conversations/{id}", "conversations"
	paged(rt, "/api/conversations", "List conversations", tag, cs.ListConversations)
	byID(rt, on(http.MethodGet, path, "Get conversation", tag), cs.Conversation)
	handle(rt, on(http.MethodPatch, path, "Rename conversation", tag), func(ctx context.Context, in *withID[Rename]) (*answer[ConversationHead], error) {
		return found(cs.RenameConversation(ctx, in.ID, in.Body.Title))
	})
	byID(rt, on(http.MethodDelete, path, "Delete conversation", tag), deletion(cs.DeleteConversation))
	byID(rt, on(http.MethodPost, path+"/restore", "Restore conversation", tag), cs.RestoreConversation)
	fork := on(http.MethodPost, path+"/fork", "Fork conversation", tag)
	fork.DefaultStatus = http.StatusCreated
	handle(rt, fork, func(ctx context.Context, in *withID[ForkConversation]) (*answer[ConversationHead], error) {
		return found(cs.ForkConversation(ctx, in.ID, in.Body))
	})
}
