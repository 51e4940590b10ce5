const labels: Record<string, string> = { pending: "Not started", running: "Working", paused: "Waiting for you", succeeded: "Done", failed: "Failed", cancelled: "Cancelled" };

/** The status of a run or a step in a word. */
export function RunStatus({ status }: { status: string }) {
  return <span className="run-status" data-status={status}>{labels[status] ?? status}</span>;
}
