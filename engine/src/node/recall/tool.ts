// Recall as a tool that any host can give its model: definition and handler, independent of any SDK. It only reads, its
// answers are bounded, and it answers every input.
import { readDescription, recallDescription, recallPointer, searchDescription } from '../../core/prompts/recall.ts'
import { estimateTokens } from '../../core/tokens/estimate/estimate.ts'
import type { Archive } from '../archive/archive.ts'
import type { Unreadable } from '../archive/catch-up.ts'
import { contentProblem } from '../archive/database.ts'
import { type AnswerStyle, oneLine, readingText, searchText } from './cards.ts'
import { parseRead, parseRecall, parseSearch, type RecallRequest, readProperties, searchProperties } from './input.ts'

export type ToolOutput = { readonly text: string; readonly isError: boolean }

export type RecallTool = {
  readonly name: string
  readonly description: string
  readonly input_schema: {
    readonly type: 'object'
    readonly properties: Readonly<Record<string, object>>
    readonly required?: string[]
    readonly additionalProperties: boolean
  }
  readonly run: (input: unknown) => ToolOutput
}

export type RecallOptions = {
  /** Or how to open it: then it is opened by the first call. */
  readonly archive: Archive | (() => Archive)
  /** Default: 4,000. */
  readonly maxTokens?: number
  /** Default: our estimate. */
  readonly countTokens?: (text: string) => number
}

/** How long a call may index new records before it answers with what it has. */
const budgetMs = 10_000

export function createRecallTool(options: RecallOptions): RecallTool {
  const read = { type: 'string', description: 'An id from a card, or a pointer: reads that text instead of searching.' }
  const phraseRead: AnswerStyle['phraseRead'] = (id, from) =>
    from === undefined ? recallPointer(id) : `recall(${JSON.stringify({ read: id, ...from })})`
  return {
    name: 'recall',
    description: recallDescription,
    input_schema: schemaOf({ ...searchProperties, read, ...readProperties }),
    run: (input) => answer(parseRecall(input), options, phraseRead),
  }
}

/** The same as two tools, for MCP servers. */
export function createRecallTools(options: RecallOptions): { readonly search: RecallTool; readonly read: RecallTool } {
  const id = { type: 'string', description: 'The id of a card, or a pointer.' }
  const phraseRead: AnswerStyle['phraseRead'] = (wanted, from) => `read(${JSON.stringify({ id: wanted, ...from })})`
  const search: RecallTool = {
    name: 'search',
    description: searchDescription,
    input_schema: schemaOf(searchProperties),
    run: (input) => answer(parseSearch(input), options, phraseRead),
  }
  const read: RecallTool = {
    name: 'read',
    description: readDescription,
    input_schema: { ...schemaOf({ id, ...readProperties }), required: ['id'] },
    run: (input) => answer(parseRead(input, 'id'), options, phraseRead),
  }
  return { search, read }
}

function schemaOf(properties: Readonly<Record<string, object>>): RecallTool['input_schema'] {
  return { type: 'object', properties, additionalProperties: false }
}

/** Less leaves no room for an answer inside its frame. */
const minTokens = 400

function answer(request: RecallRequest, options: RecallOptions, phraseRead: AnswerStyle['phraseRead']): ToolOutput {
  if (request.type === 'refused') return { text: request.reason, isError: true }
  const { countTokens = estimateTokens, maxTokens = 4000 } = options
  try {
    const archive = typeof options.archive === 'function' ? options.archive() : options.archive
    const { complete, bytesDone, bytesAll, unreadable } = archive.refresh({ budgetMs })
    const part = Math.floor((100 * bytesDone) / Math.max(1, bytesAll))
    const partly = complete ? '' : `The archive is still being indexed (${part} % so far): ask again for the rest.\n`
    const note = partly + (request.type === 'search' ? notSearched(unreadable) : '')
    const room = Math.max(minTokens, maxTokens) - (note === '' ? 0 : countTokens(note))
    const style = { phraseRead, countTokens, maxTokens: room }
    if (request.type === 'search')
      return { text: note + searchText(archive.search(request.query), style), isError: false }
    const reading = archive.read(request.read.id)
    if (reading) return { text: note + readingText(reading, request.read, style), isError: false }
    return { text: `${note}Nothing in the archive has this id. Search for it first.`, isError: true }
  } catch (error) {
    return { text: `The archive cannot be read: ${contentProblem(error)}`, isError: true }
  }
}

function notSearched([first, ...others]: readonly Unreadable[]): string {
  if (first === undefined) return ''
  const { path, line, reason } = first
  const where = `${oneLine(path, 120)}${line === undefined ? '' : `, line ${line}`}`
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `Not searched: ${where} (${oneLine(reason, 120)})${more}.\n`
}
