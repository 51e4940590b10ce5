// Command atelier runs agents that research and illustrate, a generation gateway, and the ledger of what they made. The
// package is wiring only: it reads the command line and the environment, builds the services and prints their answers.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"atelier/agent/definition"
	"atelier/internal/goruntime"
	"atelier/media"
	"atelier/run"
)

// version is set by the linker.
var version = "devel"

// commandLine is the grammar of the command line.
type commandLine struct {
	Run        runCmd        `cmd:"" help:"Run an agent, for example to write an illustrated report from your files."`
	Chat       chatCmd       `cmd:"" help:"Chat with an agent in the terminal."`
	Resume     resumeCmd     `cmd:"" help:"Answer a paused run, or continue an interrupted one."`
	Generate   generateCmd   `cmd:"" help:"Generate pictures or speech with any model."`
	Agents     agentsCmd     `cmd:"" help:"List and show agents; validate agent definitions."`
	Workflow   workflowCmd   `cmd:"" help:"List, show, run, answer, fork and validate workflows."`
	Models     modelsCmd     `cmd:"" help:"List and show models; check the catalogue."`
	Providers  providersCmd  `cmd:"" help:"List the providers that are ready, and what the others need."`
	Media      mediaCmd      `cmd:"" help:"Stored media: list, show, get, thumbnail, rm, gc, verify."`
	Runs       runsCmd       `cmd:"" help:"Runs of agents: list, show, events, report, cancel, retry, fork."`
	Operations operationsCmd `cmd:"" help:"Generations and their provider calls: list, show, retry, cancel."`
	Serve      serveCmd      `cmd:"" help:"Serve the API and the web pages until stopped. With --json, it prints its address once it is ready. The server also adopts the runs and generations of dead processes."`
	Tokens     tokensCmd     `cmd:"" help:"Access tokens of a server: create, list, revoke."`
	Doctor     doctorCmd     `cmd:"" help:"Check keys, folders and the database."`
	Version    versionCmd    `cmd:"" help:"Print the version; atelier --version does the same."`
	Help       helpCmd       `cmd:"" help:"Print the help of a command."`
	Completion completionCmd `cmd:"" help:"Print the script that completes command lines in a shell."`

	Conversations conversationsCmd `cmd:"" help:"Conversations: list, show, export, delete."`

	JSON bool `help:"Print one JSON document instead of text."`
}

// world holds what a command may use outside of itself.
type world struct {
	ctx         context.Context //nolint:containedctx // kong binds values, not parameters; it lives for one command
	stdin       io.Reader
	stdout      io.Writer
	stderr      io.Writer
	env         func(string) string
	terminal    bool     // stderr is a terminal
	interactive bool     // stdin is a terminal too
	args        []string // the words of the command line
	// bytes is where -o - writes; nil unless a command was given it.
	bytes io.Writer
	// json is true if the command line requests JSON, printed once the document is written.
	json, printed bool
}

// interruptible returns a context that Ctrl-C cancels with reason as the cause, which says how paid
// work is to end. The caller must call end.
func (w *world) interruptible(reason error) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(w.ctx))
	stop := context.AfterFunc(w.ctx, func() { cancel(reason) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func main() {
	goruntime.Tune()
	logTo(os.Stderr)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, append(terminations(), os.Interrupt)...)
	go func() {
		<-signals
		signal.Stop(signals)          // a second Ctrl-C ends the process at once, even before the first takes effect
		signal.Ignore(syscall.SIGHUP) // both the terminal and the shell may send it
		cancel()
	}()
	w := &world{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	w.interactive = w.terminal && term.IsTerminal(int(os.Stdin.Fd()))
	os.Exit(execute(w, os.Args[1:]))
}

// terminations returns the signals that end the process as Ctrl-C does, so that paid calls can finish: among them that
// of a closed terminal, unless nohup ignores it.
func terminations() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
}

// execute runs one command line and returns the exit code.
func execute(w *world, args []string) int {
	g, err := newGrammar()
	if err != nil {
		return w.fail(media.Errorf(media.CodeInternal, "build the command line: %w", err))
	}
	return g.execute(w, args)
}

// grammar parses a command line.
type grammar struct {
	cli    commandLine
	parser *kong.Kong
	exited int // the exit code of --help, or -1
}

func newGrammar() (*grammar, error) {
	g := &grammar{exited: -1}
	var err error
	g.parser, err = kong.New(&g.cli,
		kong.Name("atelier"),
		kong.Description("A media-native runtime for AI agents. Without API keys, it uses offline models and says so."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(code int) { g.exited = code }),
	)
	return g, err
}

func (g *grammar) execute(w *world, args []string) int {
	var help bytes.Buffer
	w.args, w.json = args, asksJSON(args)
	out := keepErrors(w)
	g.parser.Stdout, g.parser.Stderr = w.stdout, w.stderr
	if w.json {
		g.parser.Stdout = &help
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	parsed, err := g.parser.Parse(args)
	if g.exited >= 0 {
		if w.json {
			_ = w.printJSON(map[string]string{"help": help.String()}) // a failure cannot be reported
		}
		return g.exited
	}
	if err == nil {
		w.json = g.cli.JSON
		err = refuseRepeated(parsed)
	}
	if err != nil {
		return w.fail(media.Errorf(media.CodeInvalid, "%v (see `%s --help`)", err, nearest(g.parser, args)))
	}
	if err = cmp.Or(parsed.Run(w), out.err); err != nil {
		return w.fail(err)
	}
	return exitOK
}

// asksJSON reports whether the words of a command line request JSON, for command lines that cannot be parsed.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// refuseRepeated rejects a flag that takes one value and is repeated: all values but the last would be lost silently.
func refuseRepeated(c *kong.Context) error {
	seen := map[*kong.Flag]bool{}
	for _, p := range c.Path {
		if p.Flag == nil || p.Resolved || p.Flag.IsCumulative() || p.Flag.IsBool() {
			continue
		}
		if seen[p.Flag] {
			return fmt.Errorf("--%s was given more than once: give it once", p.Flag.Name)
		}
		seen[p.Flag] = true
	}
	return nil
}

// nearest returns the deepest command that the words name, for a hint.
func nearest(parser *kong.Kong, args []string) string {
	at := parser.Model.Node
	name := parser.Model.Name
	for _, word := range args {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		if i < 0 {
			break
		}
		at = at.Children[i]
		name += " " + word
	}
	return name
}

// The exit codes.
const (
	exitOK       = 0
	exitInternal = 1
	exitInput    = 2 // bad input or a missing key
	exitProvider = 3 // a provider refused or failed
	exitPaused   = 4
	exitBudget   = 5 // over budget
	exitRunning  = 6
	// exitInterrupted is the shell's convention for Ctrl-C.
	exitInterrupted = 130
)

// reportedError is an error that has been reported already; only its exit code matters.
type reportedError struct{ code int }

// Error is empty, so that an error joined with this one has only its own text.
func (reportedError) Error() string { return "" }

// exitIf returns an error with an exit code if a report, which says why, has found something bad.
func exitIf(bad bool, code int) error {
	if bad {
		return reportedError{code}
	}
	return nil
}

// failure is what a command prints with --json if it fails before it has an answer.
type failure struct {
	Error struct {
		Code    media.Code `json:"code"`
		Message string     `json:"message"`
		// Problems are those of agent definitions.
		Problems []definition.Problem `json:"problems,omitempty"`
	} `json:"error"`
}

// fail prints an error for people on standard error and returns its exit code. With --json, it also
// prints the error as the one document, unless a document is printed already.
func (w *world) fail(err error) int {
	if w.json && !w.printed {
		var f failure
		f.Error.Code, f.Error.Message = media.CodeOf(err), media.ErrorText(err.Error())
		if wrong, ok := errors.AsType[*definition.Error](err); ok {
			f.Error.Problems = wrong.Problems
		}
		_ = w.printJSON(f) // a write error cannot be reported
	}
	return w.explain(err)
}

// explain prints an error for people and returns its exit code.
func (w *world) explain(err error) int {
	if q, ok := errors.AsType[reportedError](err); ok {
		if rest := strings.TrimSpace(err.Error()); rest != "" {
			w.note("atelier: %s", w.failure(rest))
		}
		return q.code
	}
	if wrong, ok := errors.AsType[*definition.Error](err); ok {
		// The text that problems quote is already shortened.
		for _, p := range wrong.Problems {
			w.note("%s", p)
		}
		w.note("atelier: the agent definitions have %s", plural(len(wrong.Problems), "problem"))
		return exitInput
	}
	w.note("atelier: %s", w.failure(err.Error()))
	if errors.Is(err, run.ErrInProgress) {
		return exitRunning
	}
	return exitCode(media.CodeOf(err))
}

// exitCode returns the exit code for an error code.
func exitCode(c media.Code) int {
	switch c {
	case "":
		return exitOK
	case media.CodeCancelled:
		return exitInterrupted
	case media.CodeInvalid, media.CodeNotFound, media.CodeUnknownRef, media.CodeTooLarge, media.CodeUnsupported,
		media.CodeMissingKey, media.CodeConflict, media.CodeBlockedAddress, media.CodeVersion, media.CodeStaleData, media.CodeActionsRunning:
		return exitInput
	case media.CodeUnauthorized, media.CodeForbidden, media.CodeModerated, media.CodeRateLimited, media.CodeQuotaExceeded,
		media.CodeUnavailable, media.CodeBadResponse, media.CodeDeadline, media.CodeContextLength:
		return exitProvider
	case media.CodeOverBudget:
		return exitBudget
	default:
		return exitInternal
	}
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, for example runs show."`
}

func (c *helpCmd) Run(w *world, k *kong.Context) error {
	var text bytes.Buffer
	if w.json {
		k.Stdout = &text
	}
	about, err := kong.Trace(k.Kong, c.Command)
	if err == nil {
		err = about.Error
	}
	if err == nil {
		err = about.PrintUsage(false)
	}
	if err != nil {
		return media.Errorf(media.CodeInvalid, "help: %w (see `atelier --help`)", err)
	}
	if w.json {
		return w.printJSON(map[string]string{"help": text.String()})
	}
	return nil
}

type versionCmd struct{}

func (c *versionCmd) Run(w *world) error {
	return w.print(map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}, func() {
		w.line("atelier %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	})
}
