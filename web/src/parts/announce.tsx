import { useEffect, useState } from "react";
import { useRunStore } from "../api/queries";

/** Announces to screen readers when an answer starts, ends or needs a person, and when an action has
 * produced media. Streamed text is never announced. */
export function Announcer() {
  const store = useRunStore();
  const [text, setText] = useState("");
  useEffect(() => store.onEvent((e, root) => {
    if (e.name === "action-finished" && e.data.success && e.data.refs?.length) setText(`${e.data.name ?? "Step"} finished`);
    if (e.data.run_id !== root || store.run(root)?.agent === "workflow") return; // the page of a workflow run has a status of its own
    const who = store.run(root)?.agentName ?? "The agent";
    if (e.name === "run-started") setText(`${who} is answering`);
    if (e.name === "run-succeeded") setText("The answer is complete");
    if (e.name === "run-failed") setText("The answer failed");
    if (e.name === "run-cancelled") setText("The answer was stopped");
    if (e.name === "run-paused") setText(`${who} asks you a question`);
  }), [store]);
  return <div role="status" className="visually-hidden">{text}</div>;
}
