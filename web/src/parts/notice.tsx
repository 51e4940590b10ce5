import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { ApiError } from "../api/client";

/** Shows an error and its remedy. */
export function showError(e: unknown) {
  const r = e instanceof ApiError ? e : undefined;
  notifications.show({
    color: "red", autoClose: 10_000, title: r?.message ?? "That did not work.", message: r?.hint || (r?.retryable ? "Try again." : ""),
    closeButtonProps: { "aria-label": "Close" },
  });
}

/** Shows what was done, with an undo button. */
export function showUndo(text: string, undo: () => void) {
  const id = `undo ${Date.now()}`;
  notifications.show({
    id, autoClose: 12_000, color: "gray", closeButtonProps: { "aria-label": "Close" },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" c="var(--text)">{text}</Text>
        <Button size="compact-sm" variant="default" flex="none" onClick={() => { notifications.hide(id); undo(); }}>Undo</Button>
      </Group>
    ),
  });
}

export function showSuccess(text: string) {
  notifications.show({ message: text, autoClose: 2500, color: "gray", closeButtonProps: { "aria-label": "Close" } });
}
