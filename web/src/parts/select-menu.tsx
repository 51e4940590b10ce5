import { Button, Menu, Text } from "@mantine/core";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";

export interface Option { value: string; label: string; description?: string; ready?: boolean; reason?: string }
interface Props { name: string; value: string; options: Option[]; onChange: (value: string) => void }

/** A small menu with one choice. Each option shows its description, or why it is unavailable. */
export function SelectMenu({ name, value, options, onChange }: Props) {
  const selected = options.find((o) => o.value === value) ?? options[0];
  if (!selected) return null;
  return (
    <Menu position="top-start" shadow="lg" width={320} withinPortal>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="compact-sm" className="choice" rightSection={<IconChevronDown size={14} />} aria-label={`${name}: ${selected.label}`}>
          <span className="choice-text">{selected.label}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="choices">
        {options.map((o) => (
          <Menu.Item key={o.value} disabled={o.ready === false} onClick={() => onChange(o.value)} rightSection={o.value === selected.value ? <IconCheck size={16} aria-label="chosen" /> : null}>
            <Text size="sm" fw={500}>{o.label}</Text>
            {(o.reason || o.description) && <Text size="xs" c="var(--text-muted)">{o.ready === false ? o.reason : o.description}</Text>}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
