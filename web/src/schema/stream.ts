// Reads the server-sent events of a response as they arrive.

interface ServerEvent { name: string; data: unknown }

/** Yields the events of a stream. If an event's data is {"type", "data"}, these are its name and its data. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += value ?? "";
    for (let end = /\r?\n\r?\n/.exec(text); end; end = /\r?\n\r?\n/.exec(text)) {
      const message = parse(text.slice(0, end.index));
      text = text.slice(end.index + end[0].length);
      if (message) yield message;
    }
    if (done) return;
  }
}

function parse(block: string): ServerEvent | undefined {
  const lines = block.split(/\r?\n/);
  const field = (name: string) => lines.filter((l) => l.startsWith(`${name}:`)).map((l) => l.slice(name.length + 1).replace(/^ /, ""));
  try {
    const data = JSON.parse(field("data").join("\n")) as { type?: string; data?: unknown };
    return typeof data.type === "string" && "data" in data ? { name: data.type, data: data.data } : { name: field("event")[0] ?? "message", data };
  } catch {
    return undefined; // a comment, or invalid JSON
  }
}
