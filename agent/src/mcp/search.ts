// Finds tools by words and describes them for a model. Pure.
import type { Server, ServerTool } from './servers.ts'

const longestDescription = 1_000
const maxSchemaLength = 8_000
const longestInstructions = 2_000
const maxNames = 300

/** Best first. An exact name, or a list of them after `select:`, gives just these. */
export function searchTools(tools: readonly ServerTool[], query: string, most: number): readonly ServerTool[] {
  const names = query
    .replace(/^select:/, '')
    .split(/[\s,]+/)
    .filter(Boolean)
  const exact = tools.filter(({ name }) => names.includes(name))
  if (exact.length > 0 || names.length === 0) return exact.slice(0, 20)
  const words = names.map((word) => word.toLowerCase())
  const scored = tools.map((tool) => ({ tool, score: words.reduce((sum, word) => sum + scoreOf(tool, word), 0) }))
  const matching = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
  return matching.slice(0, most).map(({ tool }) => tool)
}

function scoreOf({ name, tool }: ServerTool, word: string): number {
  const parts = name.toLowerCase().split(/[_-]+/)
  if (parts.includes(word)) return 6
  if (name.toLowerCase().includes(word)) return 3
  return (tool.description ?? '').toLowerCase().includes(word) ? 1 : 0
}

export type FoundInput = {
  readonly servers: readonly Server[]
  readonly tools: readonly ServerTool[]
  readonly matches: readonly ServerTool[]
  readonly query: string
  readonly problems: readonly string[]
}

export function foundText({ servers, tools, matches, query, problems }: FoundInput): string {
  const parts = [...problems]
  if (matches.length === 0) {
    if (query !== '') parts.push(`No tool matches ${JSON.stringify(query)}.`)
    const names = tools.slice(0, maxNames).map(({ name }) => name)
    const more = tools.length - names.length
    parts.push(
      names.length === 0
        ? 'There are no tools.'
        : `Tools:\n${names.join('\n')}${more > 0 ? `\n… and ${more} more` : ''}`,
    )
  } else {
    const used = servers.filter(({ name }) => matches.some(({ server }) => server === name))
    for (const server of used) {
      const said = server.instructions()
      if (said !== undefined) parts.push(`About ${server.name}: ${said.slice(0, longestInstructions).toWellFormed()}`)
    }
    parts.push(...matches.map(described))
  }
  return parts.join('\n\n')
}

function described({ name, tool }: ServerTool): string {
  const schema = JSON.stringify(tool.inputSchema)
  const shown = schema.length > maxSchemaLength ? `${schema.slice(0, maxSchemaLength).toWellFormed()}… (cut)` : schema
  return `${name}\n${(tool.description ?? '').slice(0, longestDescription).toWellFormed()}\nInput: ${shown}`
}
