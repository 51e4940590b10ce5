import { MantineProvider } from "@mantine/core";
import "@mantine/core/styles.css";
import { Notifications } from "@mantine/notifications";
import "@mantine/notifications/styles.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Live } from "./api/live";
import { LiveProvider, queries, renewBy } from "./api/queries";
import { router } from "./router";
import "./style.css";
import { theme, variables } from "./theme";

const live = new Live();
renewBy(live);
live.connect();

const at = document.getElementById("root");
if (at) {
  createRoot(at).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <LiveProvider value={live}>
            <Notifications position="bottom-right" />
            <RouterProvider router={router} />
          </LiveProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
