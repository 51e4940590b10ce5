package module

import (
	"context"
	"strings"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
)

// agentRun implements agent.run: one agent executes one task.
type agentRun struct {
	asking
	agents Agents
}

func (*agentRun) ID() string { return "agent.run" }

func (*agentRun) InputSchema() *ordered.Object {
	return described([]any{"agent", "message"}, "agent", text(), "message", text(), "media", mediaIDs())
}

func mediaIDs() *ordered.Object { return ordered.New("anyOf", []any{text(), texts()}) }

func (*agentRun) ResultKeys(*ordered.Object) []string { return []string{"message", "payload", "media"} }

// Execute returns {message, payload, media}.
func (m *agentRun) Execute(ctx context.Context, run workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	reply, err := ask(ctx, m.agents, run, Task{Agent: run.Inputs.Text("agent"), Message: run.Inputs.Text("message"), Media: list(run.Inputs, "media")})
	if err != nil {
		return nil, err
	}
	return ordered.New("message", reply.Message, "payload", reply.Payload, "media", anyList(reply.Media)), nil
}

// reportWriter is the slug of the agent of report.write.
const reportWriter = "research-report-writer"

// report implements report.write: an illustrated report about data.
type report struct {
	asking
	agents Agents
}

func (*report) ID() string { return "report.write" }

func (*report) InputSchema() *ordered.Object {
	return described([]any{"task", "data"}, "task", text(), "data", ordered.New(), "media", mediaIDs())
}

func (*report) ResultKeys(*ordered.Object) []string { return []string{"report", "message"} }

// Execute returns {report, message}.
func (m *report) Execute(ctx context.Context, run workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	data, _ := run.Inputs.Get("data")
	reply, err := ask(ctx, m.agents, run, Task{
		Agent: reportWriter, Message: run.Inputs.Text("task") + "\n\nData:\n" + string(ordered.Encode(data)), Media: list(run.Inputs, "media"),
	})
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"report_html", "report_markdown"} {
		if s := reply.Payload.Text(key); strings.TrimSpace(s) != "" {
			return ordered.New("report", s, "message", reply.Message), nil
		}
	}
	return nil, media.Errorf(media.CodeBadResponse, "the agent %s wrote no report", reportWriter)
}

// export implements media.export: it writes files for people.
type export struct {
	silent
	exports Exports
}

func (*export) ID() string { return "media.export" }

func (*export) InputSchema() *ordered.Object {
	return described([]any{"media"}, "media", mediaIDs(), "format", ordered.New("type", "string", "enum", []any{"png", "jpeg", "webp"}))
}

func (*export) ResultKeys(*ordered.Object) []string { return []string{"files"} }

// Execute returns {files}.
func (m *export) Execute(ctx context.Context, run workflow.Run, _ *workflow.Answer) (*ordered.Object, error) {
	if m.exports == nil {
		return nil, media.Errorf(media.CodeUnsupported, "this program does not export media from workflows")
	}
	files, err := m.exports.Export(ctx, run.Owner, list(run.Inputs, "media"), run.Inputs.Text("format"))
	if err != nil {
		return nil, err
	}
	out := make([]any, len(files))
	for i, f := range files {
		out[i] = ordered.New("name", f.Name, "url", f.URL)
	}
	return ordered.New("files", out), nil
}
