import { MantineProvider } from "@mantine/core";
import "@mantine/core/styles.css";
import { Notifications } from "@mantine/notifications";
import "@mantine/notifications/styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RunStore } from "./api/run-store";
import { RunStoreProvider, invalidateOnEvents, queryClient } from "./api/queries";
import { router } from "./router";
import "./style.css";
import { printInLightTheme, theme, variables } from "./theme";

const store = new RunStore();
invalidateOnEvents(store);
store.start();
printInLightTheme();

const rootElement = document.getElementById("root");
if (rootElement) {
  createRoot(rootElement).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <RunStoreProvider value={store}>
            <Notifications position="top-right" zIndex={10_000 /* above the lightbox */} />
            <RouterProvider router={router} />
          </RunStoreProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
