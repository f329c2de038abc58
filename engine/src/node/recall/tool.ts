// Recall as a tool that any host can give its model: a definition and a handler, without anybody's SDK. It only reads,
// its answers are bounded, and whatever it is given, it answers.
import { readDescription, recallDescription, recallPointer, searchDescription } from '../../core/prompts/recall.ts'
import { estimateTokens } from '../../core/tokens/estimate/estimate.ts'
import type { Archive } from '../archive/archive.ts'
import type { Unreadable } from '../archive/catch-up.ts'
import { contentProblem } from '../archive/problem.ts'
import { type Manner, oneLine, readingText, searchText } from './cards.ts'
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
  readonly archive: Archive
  /** The longest answer: 4,000 tokens when not given. */
  readonly maxTokens?: number
  /** How tokens are counted: our estimate when not given. */
  readonly countTokens?: (text: string) => number
  /** How long a call may read on in the transcript before it answers with what it has: 10 seconds when not given. */
  readonly budgetMs?: number
}

/** Search and reading in one tool. */
export function createRecallTool(options: RecallOptions): RecallTool {
  const read = { type: 'string', description: 'An id from a card, or a pointer: reads that text instead of searching.' }
  const phraseRead: Manner['phraseRead'] = (id, from) =>
    from === undefined ? recallPointer(id) : `recall(${JSON.stringify({ read: id, ...from })})`
  return {
    name: 'recall',
    description: recallDescription,
    input_schema: schemaOf({ ...searchProperties, read, ...readProperties }),
    run: (input) => answer(parseRecall(input), options, phraseRead),
  }
}

/** The same as two tools, as servers of tools have them. */
export function createRecallTools(options: RecallOptions): { readonly search: RecallTool; readonly read: RecallTool } {
  const id = { type: 'string', description: 'The id of a card, or a pointer.' }
  const phraseRead: Manner['phraseRead'] = (wanted, from) => `read(${JSON.stringify({ id: wanted, ...from })})`
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

/** Below this there would be no room for an answer beside what must be said around it. */
const leastTokens = 400

function answer(request: RecallRequest, options: RecallOptions, phraseRead: Manner['phraseRead']): ToolOutput {
  if (request.type === 'refused') return { text: request.reason, isError: true }
  const { archive, countTokens = estimateTokens, maxTokens = 4000, budgetMs = 10_000 } = options
  try {
    const { complete, bytesDone, bytesAll, unreadable } = archive.refresh({ budgetMs })
    const part = Math.floor((100 * bytesDone) / Math.max(1, bytesAll))
    const partly = complete ? '' : `The archive is still being indexed (${part} % so far): ask again for the rest.\n`
    const note = partly + (request.type === 'search' ? notSearched(unreadable) : '')
    const room = Math.max(leastTokens, maxTokens) - (note === '' ? 0 : countTokens(note))
    const found = lookUp(request, archive, { phraseRead, countTokens, maxTokens: room })
    return { ...found, text: note + found.text }
  } catch (error) {
    return { text: `The archive cannot be read: ${contentProblem(error)}`, isError: true }
  }
}

/** Nobody should take a search for complete that was not. */
function notSearched([first, ...others]: readonly Unreadable[]): string {
  if (first === undefined) return ''
  const { path, line, reason } = first
  const where = `${oneLine(path, 120)}${line === undefined ? '' : `, line ${line}`}`
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `Not searched: ${where} (${oneLine(reason, 120)})${more}.\n`
}

type Answerable = Exclude<RecallRequest, { readonly type: 'refused' }>

function lookUp(request: Answerable, archive: Archive, manner: Manner): ToolOutput {
  if (request.type === 'search') return { text: searchText(archive.search(request.query), manner), isError: false }
  const reading = archive.read(request.read.id)
  if (reading === undefined) return { text: 'Nothing in the archive has this id. Search for it first.', isError: true }
  return { text: readingText(reading, request.read, manner), isError: false }
}
