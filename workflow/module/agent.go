package module

import (
	"context"
	"strings"

	"atelier/media"
	"atelier/workflow"
	"atelier/workflow/ordered"
)

// run executes agent.run: one agent executes one task. It returns {message, payload, media}.
func (c Config) run(ctx context.Context, run workflow.Run) (*ordered.Object, error) {
	reply, err := c.ask(ctx, run, Task{Agent: run.Inputs.Text("agent"), Message: run.Inputs.Text("message"), Media: list(run.Inputs, "media")})
	if err != nil {
		return nil, err
	}
	return ordered.New("message", reply.Message, "payload", reply.Payload, "media", ordered.List(reply.Media)), nil
}

// reportWriter is the slug of the agent of report.write.
const reportWriter = "research-report-writer"

// report executes report.write: an illustrated report about data. It returns {report, message}.
func (c Config) report(ctx context.Context, run workflow.Run) (*ordered.Object, error) {
	data, _ := run.Inputs.Get("data")
	reply, err := c.ask(ctx, run, Task{
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

// export executes media.export: it writes files for people. It returns {files}.
func (c Config) export(ctx context.Context, run workflow.Run) (*ordered.Object, error) {
	if c.Exports == nil {
		return nil, media.Errorf(media.CodeUnsupported, "this program does not export media from workflows")
	}
	files, err := c.Exports.Export(ctx, run.Owner, list(run.Inputs, "media"), run.Inputs.Text("format"))
	if err != nil {
		return nil, err
	}
	out := make([]any, len(files))
	for i, f := range files {
		out[i] = ordered.New("name", f.Name, "url", f.URL)
	}
	return ordered.New("files", out), nil
}
