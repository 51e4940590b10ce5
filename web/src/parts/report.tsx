import { ActionIcon, Modal, Tooltip } from "@mantine/core";
import { IconArrowsMaximize, IconDownload, IconExternalLink, IconFileText, IconPrinter } from "@tabler/icons-react";
import { useState } from "react";
import { printReport, saveReport } from "../api/report";
import { showError } from "./notice";

const sandbox = "allow-popups allow-popups-to-escape-sandbox"; // links open new tabs

/** A report in a frame without scripts and without access to this page. */
export function Report({ run, title }: { run: string; title: string }) {
  const [isFullScreen, setFullScreen] = useState(false);
  const url = `/api/runs/${encodeURIComponent(run)}/report`;
  const tools = (
    <>
      <Tooltip label="Print"><ActionIcon aria-label="Print the report" onClick={() => void printReport(url).catch(showError)}><IconPrinter size={18} /></ActionIcon></Tooltip>
      <Tooltip label="Save as one file"><ActionIcon aria-label="Save the report as one file" onClick={() => void saveReport(url, title).catch(showError)}><IconDownload size={18} /></ActionIcon></Tooltip>
      <Tooltip label="Open in a new tab"><ActionIcon component="a" href={url} target="_blank" rel="noreferrer" aria-label="Open the report in a tab"><IconExternalLink size={18} /></ActionIcon></Tooltip>
    </>
  );
  return (
    <section className="report" aria-label="Report">
      <header className="report-head">
        <IconFileText size={18} /><span className="report-title">Report</span><span className="grow" />
        {tools}
        <Tooltip label="Full screen"><ActionIcon aria-label="Show the report full screen" onClick={() => setFullScreen(true)}><IconArrowsMaximize size={18} /></ActionIcon></Tooltip>
      </header>
      <iframe sandbox={sandbox} src={url} title={`Report: ${title}`} loading="lazy" className="report-frame" />
      <Modal opened={isFullScreen} onClose={() => setFullScreen(false)} fullScreen title={<span className="report-tools">Report <span className="grow" />{tools}</span>} padding={0} classNames={{ header: "report-full-head", title: "report-full-title", body: "report-full" }}>
        <iframe sandbox={sandbox} src={url} title={`Report, full screen: ${title}`} />
      </Modal>
    </section>
  );
}
