// A chat model that plays scripted answers over OpenAI's chat completions, for answers that the
// offline models do not give.
import { createServer } from "node:http";

/** Serves the lines by agent, one per turn. Returns the server's address and a function that stops it. */
export async function scriptedModel(lines) {
  const turns = {};
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => { body += part; });
    request.on("end", () => {
      const { messages, model } = JSON.parse(body);
      const system = JSON.stringify(messages.filter((m) => m.role === "system" || m.role === "developer"));
      const [, agent] = /\\"agent\\":\s*\\"([a-z-]+)\\"/.exec(system) ?? [];
      const turn = turns[agent] ?? 0;
      turns[agent] = turn + 1;
      const content = JSON.stringify(lines[agent]?.[turn] ?? { done: true, message: `No line for ${agent}.` });
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({
        id: "chatcmpl-1", object: "chat.completion", created: 1, model,
        choices: [{ index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content } }],
        usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
      }));
    });
  });
  await new Promise((ready) => { server.listen(0, "127.0.0.1", ready); });
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => { server.closeAllConnections(); server.close(); } };
}
