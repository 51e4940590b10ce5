import { UnstyledButton } from "@mantine/core";
import { IconBrush, IconChartBar, IconChevronRight, IconFileText } from "@tabler/icons-react";
import { useEffect } from "react";
import { useDraft } from "../api/draft";
import { useHealth } from "../api/queries";
import { useSend } from "../api/send";
import { updateSettings } from "../api/settings";
import { Composer } from "../parts/composer";
import { DropArea } from "../parts/drop-area";
import { MediaView } from "../parts/media-view";
import { showUndo } from "../parts/notice";
import { salesFile, surveyFile } from "./example";

interface Example { icon: typeof IconBrush; title: string; description: string; agent: string; text: string; file?: () => File }

const examples: Example[] = [
  { icon: IconBrush, title: "Draw a lighthouse in a storm", description: "A picture, which you can then have changed", agent: "sage", text: "Draw a lighthouse in a storm" },
  { icon: IconChartBar, title: "Ask a table", description: "Charts of a year's sales; the table is attached", agent: "research-agent", text: "What is the total revenue by region, and what is the total revenue by month? Include charts.", file: salesFile },
  { icon: IconFileText, title: "Write an illustrated report", description: "The results of a customer survey, with a picture", agent: "research-agent", text: "What do customers complain about? Include an illustration of a small town.", file: surveyFile },
];

/** A new conversation: an introduction, three examples, and what is not configured. */
export function StartPage() {
  const draft = useDraft("new");
  const { send, sending } = useSend(draft, "new");
  useEffect(() => {
    document.title = "Atelier";
    if (!draft.text && draft.attachments.length === 0) updateSettings({ agent: "" }); // a new conversation starts with Sage, whichever agent was used before
  }, []);
  const startExample = (e: (typeof examples)[number]) => {
    const { text, attachments } = draft;
    const isOwn = (text.trim() !== "" || attachments.length > 0) && !examples.some((other) => other.text === text);
    updateSettings({ agent: e.agent });
    draft.replace({ text: e.text, attachments: [] });
    if (isOwn) showUndo("The example replaced your message.", () => draft.replace({ text, attachments }));
    if (e.file) draft.attach([e.file()]);
    document.getElementById("message")?.focus();
  };
  return (
    <div className="column start">
      <h1>What would you like to make?</h1>
      <p className="start-about">Ask a question about your files, or describe a picture. You can watch the work, and you get pictures and reports.</p>
      <Composer draft={draft} onSend={send} sending={sending} autoFocus />
      <ul className="examples" aria-label="Examples">
        {examples.map((e) => (
          <li key={e.title}>
            <UnstyledButton className="example" onClick={() => startExample(e)}>
              <e.icon size={20} stroke={1.7} aria-hidden />
              <span className="grow"><b>{e.title}</b><span>{e.description}</span></span>
              <IconChevronRight size={16} aria-hidden />
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <ConfigurationNotes />
      <DropArea onFiles={draft.attach} />
      <MediaView onUse={draft.attachMedia} />
    </div>
  );
}

/** What is not configured. */
function ConfigurationNotes() {
  const health = useHealth().data;
  if (!health || (!health.offline && !health.notes?.length)) return null;
  const notes = health.notes?.length ? health.notes : ["No API key is set: rule-based offline models are used, at no cost."];
  return (
    <details className="notes" open={health.offline}>
      <summary>{health.offline ? "Working offline" : "Not configured"}</summary>
      <ul>{notes.map((n) => <li key={n}>{n}</li>)}</ul>
    </details>
  );
}
