package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"atelier/internal/shipped"
	"atelier/ledger"
)

type completionCmd struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
	Words []string `arg:"" optional:"" help:"The words after atelier, the last one incomplete. The script passes them to get the candidates."`
}

func (*completionCmd) Help() string {
	return "For bash, add source <(atelier completion bash) to ~/.bashrc. For zsh, add the same with zsh to ~/.zshrc, after compinit. For fish, add atelier completion fish | source to ~/.config/fish/config.fish."
}

// Run prints a shell's script, or the completions of words.
func (c *completionCmd) Run(w *world, k *kong.Context) error {
	lines := []string{completionScripts[c.Shell]}
	if len(c.Words) > 0 {
		lines = candidates(k.Model.Node, c.Words)
	}
	switch {
	case w.json && len(c.Words) > 0:
		return w.printJSON(ledger.List[string]{Items: orEmpty(lines)})
	case w.json:
		return w.printJSON(map[string]string{"shell": c.Shell, "script": lines[0]})
	}
	for _, text := range lines {
		_, _ = io.WriteString(w.stdout, text+"\n") // its errors are kept
	}
	return nil
}

// completionScripts are the scripts of the shells. The scripts call the program for completions.
var completionScripts = map[string]string{
	"bash": `_atelier() {
  local IFS=$'\n'
  COMPREPLY=($("$1" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _atelier atelier`,
	"zsh": `#compdef atelier
_atelier() {
  local -a found
  found=(${(f)"$(${~words[1]} completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#found} )); then compadd -a found; else _files; fi
}
compdef _atelier atelier`,
	"fish": `function __atelier_words
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    $before[1] completion fish -- $before[2..] "$last" 2>/dev/null
end
complete -c atelier -a '(__atelier_words)'`,
}

// candidates returns the completions of the last word; none for free text and files.
func candidates(at *kong.Node, words []string) []string {
	if words[0] == "help" && len(words) > 1 {
		words = words[1:]
	}
	last := words[len(words)-1]
	var open *kong.Flag // waits for its value
	position := 0
	for _, word := range words[:len(words)-1] {
		child := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		switch {
		case open != nil:
			open = nil
		case strings.HasPrefix(word, "-"):
			if f := flagOf(at, word); f != nil && !f.IsBool() {
				open = f
			}
		case child >= 0:
			at = at.Children[child]
		default:
			position++
		}
	}
	var all []string
	switch {
	case open != nil:
		all = values(open.Value)
	case strings.HasPrefix(last, "-"):
		for _, group := range at.AllFlags(true) {
			for _, f := range group {
				all = append(all, "--"+f.Name)
			}
		}
	case len(at.Children) > 0:
		for _, n := range at.Children {
			all = append(all, n.Name)
		}
	case position < len(at.Positional):
		all = values(at.Positional[position])
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, last) })
}

// flagOf returns the flag that a word names; nil if the word names none or includes the value.
func flagOf(at *kong.Node, word string) *kong.Flag {
	for _, group := range at.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// values returns the known values of an argument or a flag.
func values(v *kong.Value) (all []string) {
	switch v.Name {
	case "agent":
		if defs, err := shipped.Definitions(""); err == nil {
			for _, d := range defs.All() {
				all = append(all, d.Slug)
			}
		}
		return all
	case "run", "id", "item":
		return []string{newest}
	case "conversation":
		return []string{newest, "new"}
	}
	return slices.DeleteFunc(strings.Split(v.Enum, ","), func(word string) bool { return word == "" })
}
