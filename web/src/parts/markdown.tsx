import { createContext, memo, useContext, useId, useMemo } from "react";
import type { ReactNode } from "react";
import Markdown, { defaultUrlTransform } from "react-markdown";
import type { Components, ExtraProps } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import type { Media } from "../api/contract";
import { toMarkdown } from "../schema/format";
import { FileLink } from "./attachment";
import { MediaItems } from "./media-item";
import { Picture } from "./picture";

interface Props { text: string; media: Record<string, Media>; pending: boolean }

// The ids are those of footnotes, which have the prefix of their message: a text has no elements of its own.
const schema = { ...defaultSchema, clobberPrefix: "", protocols: { ...defaultSchema.protocols, src: ["media", "http", "https"] } };

/** The media that elements of the text may show. It is a context, because new component functions for each
 * change would make React replace the elements, and a picture replaced under the pointer loses the click. */
const MediaContext = createContext<{ media: Record<string, Media>; pending: boolean }>({ media: {}, pending: false });

/** The text of an answer: Markdown without HTML, with its media. Nothing is loaded from other
 * hosts: their pictures become links. */
export const MessageText = memo(function MessageText({ text, media, pending }: Props) {
  const context = useMemo(() => ({ media, pending }), [media, pending]);
  const id = useId();
  return (
    <div className="prose" dir="auto">
      <MediaContext value={context}>
        <Markdown
          skipHtml remarkPlugins={[remarkGfm]} remarkRehypeOptions={{ clobberPrefix: `${id}-` }} rehypePlugins={[lineBreaks, [rehypeSanitize, schema]]}
          urlTransform={(url) => (url.startsWith("media:") ? url : defaultUrlTransform(url))} components={components}
        >
          {toMarkdown(text, pending)}
        </Markdown>
      </MediaContext>
    </div>
  );
});

const components: Components = {
  p: Paragraph,
  img: MarkdownImage,
  a: ({ href, id, children }) => (href?.startsWith("#") ? <a href={href} id={id}>{children}</a> : externalLink(href ?? "", children)),
  table: ({ children }) => <div className="table-scroll" role="region" aria-label="Table" tabIndex={0}><table>{children}</table></div>,
  input: ({ checked }) => <input type="checkbox" checked={checked ?? false} disabled aria-label={checked ? "done" : "open"} />,
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
};

interface HtmlNode { type: string; value?: string; children?: HtmlNode[] }

/** Keeps the tag <br>, the only way to write a line break in a cell of a table. */
function lineBreaks() {
  return function visit(node: HtmlNode) {
    if (node.type === "raw" && /^<br\s*\/?>$/i.test(node.value ?? "")) Object.assign(node, { type: "element", tagName: "br", properties: {}, children: [] });
    node.children?.forEach(visit);
  };
}

function Paragraph({ children, node }: { children?: ReactNode } & ExtraProps) {
  const { media, pending } = useContext(MediaContext);
  const refs = onlyMedia(node);
  if (!refs) return <p>{children}</p>;
  const found = refs.flatMap((r) => media[r] ?? []);
  return <>{found.length > 0 && <MediaItems media={found} />}{found.length < refs.length && <MissingPicture pending={pending} />}</>;
}

function MarkdownImage({ src, alt }: { src?: string | Blob | undefined; alt?: string | undefined }) {
  const { media, pending } = useContext(MediaContext);
  const ref = typeof src === "string" && src.startsWith("media:") ? src.slice(6) : "";
  const item = media[ref];
  if (item) return item.modality === "image" ? <Picture media={item} inline /> : <FileLink media={item} />;
  if (ref) return <MissingPicture pending={pending} />;
  return typeof src === "string" && src ? externalLink(src, alt || src) : null;
}

function externalLink(href: string, children: ReactNode) {
  return <a href={href} target="_blank" rel="noreferrer noopener nofollow">{children}</a>;
}

function MissingPicture({ pending }: { pending: boolean }) {
  return pending ? <span className="missing missing-pending" aria-hidden /> : <span className="missing">This picture is not available.</span>;
}

/** The refs of a paragraph that contains only media. */
function onlyMedia(node: ExtraProps["node"]): string[] | undefined {
  const refs: string[] = [];
  for (const c of node?.children ?? []) {
    if (c.type === "text" && c.value.trim() === "") continue;
    const src = c.type === "element" && c.tagName === "img" ? c.properties["src"] : undefined;
    if (typeof src !== "string" || !src.startsWith("media:")) return undefined;
    refs.push(src.slice(6));
  }
  return refs.length > 0 ? refs : undefined;
}
