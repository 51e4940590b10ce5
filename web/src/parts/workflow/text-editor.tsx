import { useRef } from "react";
import type { WorkflowCheck } from "../../api/workflows";

interface Props { name: string; value: string; problems: WorkflowCheck["problems"]; onChange: (value: string) => void }

/** A text editor with line numbers and problems at their lines. */
export function TextEditor({ name, value, problems, onChange }: Props) {
  const textarea = useRef<HTMLTextAreaElement>(null);
  const lineNumbers = useRef<HTMLDivElement>(null);
  const lines = value.split("\n");
  const problemLines = new Set(problems.map((p) => p.line));
  const goTo = (line: number, column: number) => {
    const offset = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + Math.max(0, column - 1);
    textarea.current?.focus();
    textarea.current?.setSelectionRange(offset, offset);
    lineNumbers.current?.children[line - 1]?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div>
      <div className="text-editor">
        <div ref={lineNumbers} className="text-editor-lines" aria-hidden>{lines.map((_, i) => <span key={i} data-problem={problemLines.has(i + 1) || undefined}>{i + 1}</span>)}</div>
        <textarea ref={textarea} aria-label={name} aria-invalid={problems.length > 0} aria-describedby="text-problems" spellCheck={false} wrap="off" rows={lines.length} value={value} onChange={(e) => onChange(e.currentTarget.value)} />
      </div>
      <div id="text-problems" role="status"><ul className="text-problems">
        {problems.map((p, i) => <li key={i}><button type="button" onClick={() => goTo(p.line, p.column)}>Line {p.line}, column {p.column}</button> <span className="error">{p.message}</span> {p.pointer && <code>{p.pointer}</code>}</li>)}
      </ul></div>
    </div>
  );
}
