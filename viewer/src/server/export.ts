// One session as a page in a single file: everything that the viewer shows of it, without secrets, and readable without a server.
import { createHash } from 'node:crypto'
import { withoutSecrets } from 'everlong/internal'
import type { AgentLane, ExportData } from '../data/api.ts'
import type { SessionView } from '../data/session.ts'
import { withoutContent } from '../data/without-content.ts'
import type { Page } from './page.ts'

export type Shared = {
  /** Shown at the top: what the person who shares it has to say. */
  readonly comment: string | null
  readonly agents: readonly AgentLane[]
  /** Numbers only. */
  readonly isContentHidden?: boolean
}

export async function exportData(view: SessionView, { comment, agents, isContentHidden }: Shared): Promise<ExportData> {
  const { conversation } = view
  const session = view.data()
  const compactions = []
  for (const { number } of session.compactions) {
    const data = view.compaction(number)
    const alternative = await view.alternative(number)
    if (data && alternative) compactions.push({ data, alternative })
  }
  const items = conversation.page(0, conversation.count)
  const all = { session, lost: view.lost(), window: view.window(), agents, items, compactions }
  return withoutSecretsIn({ comment, ...(isContentHidden ? withoutContent(all) : all) })
}

/** Every text; names of fields stay. */
function withoutSecretsIn<T>(value: T): T
function withoutSecretsIn(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value)
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecretsIn(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSecretsIn(item)]))
}

/** The page with its script, its style and the data inside. Only these run: the policy names them by their hashes. */
export function exportPage(data: ExportData, page: Page): string {
  const filesOf = (ending: string) =>
    [...page].filter(([path]) => path.endsWith(ending)).map(([, file]) => String(file.bytes))
  const script = filesOf('.js').join('\n').replaceAll('</script', '<\\/script')
  const style = filesOf('.css').join('\n')
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`
  return [
    '<!doctype html>',
    '<html lang="en" data-address="fragment">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Everlong</title>',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="root"></div>',
    // In a script of this type nothing runs, and without < no tag can end it.
    `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`,
    `<script type="module">${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}
