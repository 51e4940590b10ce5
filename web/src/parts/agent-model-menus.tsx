import type { Agent, Model } from "../api/contract";
import { useAgents, useChatModels, useImageModels } from "../api/queries";
import { updateSettings, useSettings } from "../api/settings";
import { SelectMenu } from "./select-menu";
import type { Option } from "./select-menu";

/** The agent's name in requests. */
const agentSlug = (a: Agent) => a.slug ?? a.name;

/** The agent's display name. */
export function agentLabel(name: string): string {
  return name.split(/[-_ ]+/).map((w) => (w === "kb" ? "KB" : w.charAt(0).toUpperCase() + w.slice(1))).join(" ");
}

const sourceNames: Record<string, string> = { db: "database", kb: "knowledge base", web: "web search" };

/** Sage first, then the research agent, then the others; those that lack a source last. */
export function agentOptions(agents: Agent[]): Option[] {
  const rank = (a: Agent) => (a.ready ? ["sage", "research-agent"].indexOf(agentSlug(a)) >>> 0 : Infinity);
  return agents.toSorted((a, b) => rank(a) - rank(b) || 0).map((a): Option => ({
    value: agentSlug(a), label: a.slug ? a.name : agentLabel(a.name), ready: a.ready, ...(a.description && { description: a.description }),
    ...(a.missing && { reason: `Needs a source that this server does not have: ${a.missing.map((s) => sourceNames[s] ?? s).join(", ")}` }),
  }));
}

function modelOptions(models: Model[], auto: string): Option[] {
  const defaultModel = models.find((m) => m.default);
  const toOption = (m: Model): Option => ({
    value: m.id, label: m.name || m.id, description: [m.provider, m.vision ? "sees pictures" : ""].filter(Boolean).join(" · "), ready: m.ready, ...(m.reason && { reason: m.reason }),
  });
  const ready = models.filter((m) => m.ready);
  return [{ value: "", label: auto, description: defaultModel ? `The agent's choice, or ${defaultModel.name || defaultModel.id}` : "The agent's choice, or the first that is ready" }, ...ready.map(toOption), ...models.filter((m) => !m.ready).map(toOption)];
}

/** Agent, language model and image model of the next message. */
export function AgentAndModelMenus() {
  const settings = useSettings();
  const agents = agentOptions(useAgents().data?.items ?? []);
  const models = modelOptions(useChatModels().data?.items ?? [], "Auto model");
  const images = modelOptions((useImageModels().data?.items ?? []).filter((m) => !m.modality || m.modality === "image"), "Auto pictures");
  return (
    <div className="composer-choices">
      <SelectMenu name="Agent" value={settings.agent} options={agents} onChange={(agent) => updateSettings({ agent })} />
      {models.length > 1 && <SelectMenu name="Chat model" value={settings.model} options={models} onChange={(model) => updateSettings({ model })} />}
      {images.length > 1 && <SelectMenu name="Image model" value={settings.imageModel} options={images} onChange={(imageModel) => updateSettings({ imageModel })} />}
    </div>
  );
}
