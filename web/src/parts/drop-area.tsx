import { IconFileUpload } from "@tabler/icons-react";
import { useEffect, useState } from "react";

/** Accepts files dropped anywhere on the page. */
export function DropArea({ onFiles }: { onFiles: (files: FileList) => void }) {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    let depth = 0;
    const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
    const dragEnter = (e: DragEvent) => { if (hasFiles(e)) { depth++; setDragging(true); } };
    const dragLeave = (e: DragEvent) => { if (hasFiles(e) && --depth <= 0) { depth = 0; setDragging(false); } };
    const dragOver = (e: DragEvent) => { if (hasFiles(e)) e.preventDefault(); };
    const drop = (e: DragEvent) => {
      if (!hasFiles(e) || !e.dataTransfer) return;
      e.preventDefault();
      depth = 0;
      setDragging(false);
      onFiles(e.dataTransfer.files);
    };
    const handlers = { dragenter: dragEnter, dragleave: dragLeave, dragover: dragOver, drop };
    for (const [name, f] of Object.entries(handlers)) window.addEventListener(name, f as EventListener);
    return () => { for (const [name, f] of Object.entries(handlers)) window.removeEventListener(name, f as EventListener); };
  }, [onFiles]);
  return isDragging ? <div className="drop-overlay"><div className="drop-text"><IconFileUpload size={36} />Drop pictures or data files to attach them</div></div> : null;
}
