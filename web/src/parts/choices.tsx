import type { Agent, Model } from "../api/contract";
import { useAgents, useChatModels, useImageModels } from "../api/queries";
import { updateSettings, useSettings } from "../api/settings";
import { Choice } from "./choice";
import type { Option } from "./choice";

/** The agent's name in requests. */
export const slug = (a: Agent) => a.slug ?? a.name;

/** The agent's display name. */
export function agentLabel(name: string): string {
  return name.split(/[-_ ]+/).map((w) => (w === "kb" ? "KB" : w.charAt(0).toUpperCase() + w.slice(1))).join(" ");
}

/** Sage first, then the research agent, then the others. */
export function agentOptions(agents: Agent[]): Option[] {
  const rank = (a: Agent) => ["sage", "research-agent"].indexOf(slug(a)) >>> 0;
  return [...agents].sort((a, b) => rank(a) - rank(b)).map((a) => ({ value: slug(a), label: a.slug ? a.name : agentLabel(a.name), about: a.description }));
}

function modelOptions(models: Model[], auto: string): Option[] {
  const by = models.find((m) => m.default);
  const one = (m: Model): Option => ({
    value: m.id, label: m.name || m.id, about: [m.provider, m.vision ? "sees pictures" : ""].filter(Boolean).join(" · "), ready: m.ready, ...(m.reason && { reason: m.reason }),
  });
  const ready = models.filter((m) => m.ready);
  return [{ value: "", label: auto, about: by ? `The agent's own, or ${by.name || by.id}` : "The agent's own, or what is ready" }, ...ready.map(one), ...models.filter((m) => !m.ready).map(one)];
}

/** Agent, language model and image model of the next message. */
export function Choices() {
  const settings = useSettings();
  const agents = agentOptions(useAgents().data?.items ?? []);
  const models = modelOptions(useChatModels().data?.items ?? [], "Auto model");
  const images = modelOptions((useImageModels().data?.items ?? []).filter((m) => !m.modality || m.modality === "image"), "Auto pictures");
  return (
    <div className="composer-choices">
      <Choice name="Agent" value={settings.agent} options={agents} onChange={(agent) => updateSettings({ agent })} />
      {models.length > 1 && <Choice name="Language model" value={settings.model} options={models} onChange={(model) => updateSettings({ model })} />}
      {images.length > 1 && <Choice name="Image model" value={settings.imageModel} options={images} onChange={(imageModel) => updateSettings({ imageModel })} />}
    </div>
  );
}
