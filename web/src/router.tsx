import { Link, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { ConversationPage } from "./pages/conversation";
import { GalleryPage } from "./pages/gallery";
import { Layout } from "./pages/layout";
import { StartPage } from "./pages/start";
import { NotFound } from "./parts/not-found";
import { PageError } from "./parts/page-error";

/** The URL of every page holds the open item and the item that it is compared with. */
interface Search { media?: string; with?: string }

/** The search and the filter of the gallery. */
interface Filter { q?: string; kind?: string }

const stringParam = (s: Record<string, unknown>, key: keyof Search | keyof Filter) => (typeof s[key] === "string" && s[key] ? { [key]: s[key] } : {});

const root = createRootRoute({
  component: Layout,
  validateSearch: (s: Record<string, unknown>): Search => ({ ...stringParam(s, "media"), ...stringParam(s, "with") }),
  notFoundComponent: () => <NotFound title="Page not found"><p>There is nothing at this address. <Link to="/">Start a conversation</Link>, or open the <Link to="/gallery">media</Link> or the <Link to="/workflows">workflows</Link>.</p></NotFound>,
});
const start = createRoute({ getParentRoute: () => root, path: "/", component: StartPage });
const conversation = createRoute({ getParentRoute: () => root, path: "/c/$id", component: ConversationPage });

const gallery = createRoute({
  getParentRoute: () => root, path: "/gallery", component: GalleryPage,
  validateSearch: (s: Record<string, unknown>): Filter => ({ ...stringParam(s, "q"), ...stringParam(s, "kind") }),
});

const workflows = createRoute({ getParentRoute: () => root, path: "/workflows", component: lazyRouteComponent(() => import("./pages/workflows")) });
const workflow = createRoute({ getParentRoute: () => root, path: "/workflows/$id", component: lazyRouteComponent(() => import("./pages/workflow")) });
const workflowRun = createRoute({ getParentRoute: () => root, path: "/workflows/runs/$id", component: lazyRouteComponent(() => import("./pages/workflow-run")) });

export const router = createRouter({ routeTree: root.addChildren([start, conversation, gallery, workflows, workflow, workflowRun]), scrollRestoration: true, defaultErrorComponent: PageError });

declare module "@tanstack/react-router" {
  interface Register { router: typeof router }
}
