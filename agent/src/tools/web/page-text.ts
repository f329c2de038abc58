// Converts a page to text for a model: HTML becomes Markdown without scripts and styles. Runs in a worker, because a large page
// takes seconds.
import { parentPort, workerData } from 'node:worker_threads'
import TurndownService from 'turndown'

export type PageBytes = { readonly bytes: Uint8Array; readonly mediaType: string }

/** Undefined if it is not text. */
function pageText({ bytes, mediaType }: PageBytes): string | undefined {
  const isHtml = mediaType === 'text/html' || mediaType === 'application/xhtml+xml'
  const isText =
    isHtml || mediaType === '' || /^text\/|[/+](?:json|xml|javascript|yaml|x-yaml|x-ndjson|toml)$/.test(mediaType)
  if (!isText || bytes.subarray(0, 8_000).includes(0)) return undefined
  const text = Buffer.from(bytes).toString('utf8')
  return isHtml ? fromHtml(text) : text
}

function fromHtml(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.remove(['script', 'style', 'noscript', 'iframe', 'title', 'template' as 'script'])
  const [, title] = /<title[^>]*>([\s\S]{0,300}?)<\/title>/i.exec(html) ?? []
  const text = service
    .turndown(html)
    .replace(/!\[[^\]]*\]\(data:[^)]*\)/g, '')
    .replace(/\n{3,}/g, '\n\n')
  return title === undefined ? text : `# ${title.trim()}\n\n${text}`
}

if (parentPort) parentPort.postMessage(pageText(workerData as PageBytes))
