import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRunStore } from "../api/queries";
import { NotFound } from "./not-found";

/** A page that failed, often because a part of it could not be loaded. It is loaded again when the server is back. */
export function PageError({ error }: { error: unknown }) {
  const { connection } = useRunStore();
  const [wasOpen] = useState(connection === "open");
  useEffect(() => { if (!wasOpen && connection === "open") window.location.reload(); }, [wasOpen, connection]);
  return <NotFound title="The page could not be shown"><p>{wasOpen ? String(error) : "The server cannot be reached. The page is loaded again when it is back."}</p><Button variant="default" onClick={() => window.location.reload()}>Load the page again</Button></NotFound>;
}
