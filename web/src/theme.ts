// Colors and type: warm paper, ink and one clay. Every text has a contrast of at least 4.5:1 with its background.
import { createTheme } from "@mantine/core";
import type { CSSVariablesResolver } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "clay",
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  defaultRadius: "md",
  cursorType: "pointer",
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "600" },
  colors: {
    clay: ["#fdf1ed", "#f8ded6", "#efbbab", "#e7977e", "#e07a5a", "#d56543", "#c25334", "#a8412a", "#8c3522", "#6f2a1b"],
    gray: ["#faf9f6", "#f3f1ec", "#e9e6df", "#dcd8cf", "#c5c0b5", "#a19b8f", "#7b756a", "#5d574d", "#3d3933", "#211f1b"],
    dark: ["#ece9e3", "#c9c4bb", "#b0aa9f", "#837d73", "#4f4b45", "#3b3833", "#2c2a26", "#1e1c1a", "#171614", "#100f0e"],
  },
  components: {
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true, events: { hover: true, focus: true, touch: false } } },
    Checkbox: { defaultProps: { radius: "sm" } }, // with the default radius, it would look like a radio button
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: 34 } },
    ColorInput: { defaultProps: { eyeDropperButtonProps: { "aria-label": "Pick a color from the screen" } } },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } }, // the placeholder is not an item of the menu
    ScrollArea: { defaultProps: { viewportProps: { tabIndex: -1 } } }, // the list of an open select is no stop of the Tab key
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, overlayProps: { backgroundOpacity: 0.45, blur: 2 } } },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
  },
});

/** Uses the light theme on paper. */
export function printInLightTheme() {
  const { dataset } = document.documentElement;
  let onScreen = dataset["mantineColorScheme"];
  window.matchMedia("print").addEventListener("change", ({ matches }) => {
    if (matches) onScreen = dataset["mantineColorScheme"];
    dataset["mantineColorScheme"] = matches ? "light" : onScreen;
  });
}

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--background": "#fdfcfa", "--sidebar-background": "#f5f3ee", "--surface": "#ffffff", "--background-muted": "#f1eee8", "--border": "#e4e0d8",
    "--text": "#211f1b", "--text-muted": "#5d574d", "--accent": "#a8412a", "--success": "#2c6e3f", "--error": "#a3261f", "--warning-background": "#fdf3dc", "--warning-text": "#6b4a06",
    "--error-background": "#fdeceb", "--shadow": "0 1px 2px rgb(50 40 20 / .05), 0 6px 24px rgb(50 40 20 / .07)",
    "--mantine-color-body": "#fdfcfa", "--mantine-color-text": "#211f1b", "--mantine-color-dimmed": "#5d574d", "--mantine-color-placeholder": "#6f695e", "--mantine-color-error": "#a3261f",
  },
  dark: {
    "--background": "#1a1917", "--sidebar-background": "#141311", "--surface": "#24221f", "--background-muted": "#292723", "--border": "#38352f",
    "--text": "#ece9e3", "--text-muted": "#b5afa4", "--accent": "#f0a088", "--success": "#8fce9f", "--error": "#ff9d94", "--warning-background": "#352c17", "--warning-text": "#f1d48a",
    "--error-background": "#3a211e", "--shadow": "0 1px 2px rgb(0 0 0 / .3), 0 8px 28px rgb(0 0 0 / .28)",
    "--mantine-color-body": "#1a1917", "--mantine-color-text": "#ece9e3", "--mantine-color-dimmed": "#b5afa4", "--mantine-color-placeholder": "#a19b8f", "--mantine-color-error": "#ff9d94",
  },
});
