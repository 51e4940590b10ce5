import { IconFileUpload } from "@tabler/icons-react";
import { useEffect, useState } from "react";

/** Accepts files dropped anywhere on the page. */
export function DropArea({ onFiles }: { onFiles: (files: FileList) => void }) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const files = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
    const enter = (e: DragEvent) => { if (files(e)) { depth++; setOver(true); } };
    const leave = (e: DragEvent) => { if (files(e) && --depth <= 0) { depth = 0; setOver(false); } };
    const above = (e: DragEvent) => { if (files(e)) e.preventDefault(); };
    const drop = (e: DragEvent) => {
      if (!files(e) || !e.dataTransfer) return;
      e.preventDefault();
      depth = 0;
      setOver(false);
      onFiles(e.dataTransfer.files);
    };
    const on = { dragenter: enter, dragleave: leave, dragover: above, drop };
    for (const [name, f] of Object.entries(on)) window.addEventListener(name, f as EventListener);
    return () => { for (const [name, f] of Object.entries(on)) window.removeEventListener(name, f as EventListener); };
  }, [onFiles]);
  return over ? <div className="drop"><div className="drop-text"><IconFileUpload size={36} />Drop pictures or data files to attach them</div></div> : null;
}
