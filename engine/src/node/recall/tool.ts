// The recall tool over an archive, which searches a transcript or a folder of them and can narrow a search.
import { readDescription, recallDescription, searchDescription } from '../../core/prompts/recall.ts'
import {
  type AnswerStyle,
  oneLine,
  parseRead,
  parseRecall,
  parseSearch,
  type RecallRequest,
  readingText,
  readProperties,
  searchProperties,
  searchText,
} from '../../core/session/recall-text.ts'
import {
  answerStyle,
  phraseRecall,
  type RecallLimits,
  type RecallTool,
  readProperty,
  schemaOf,
  type ToolOutput,
} from '../../core/session/recall-tool.ts'
import type { Archive } from '../archive/archive.ts'
import type { Unreadable } from '../archive/catch-up.ts'
import { contentProblem } from '../archive/database.ts'

export type RecallOptions = RecallLimits & {
  /** An archive, or a function that opens it on the first call. */
  readonly archive: Archive | (() => Archive)
}

/** How long a call may index new records before it answers with what is indexed. */
const budgetMs = 10_000

export function createRecallTool(options: RecallOptions): RecallTool {
  return {
    name: 'recall',
    description: recallDescription,
    input_schema: schemaOf({ ...searchProperties, read: readProperty, ...readProperties }),
    run: (input) => answer(parseRecall(input), options, phraseRecall),
  }
}

/** The same functions as two tools, for MCP servers. */
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

function answer(request: RecallRequest, options: RecallOptions, phraseRead: AnswerStyle['phraseRead']): ToolOutput {
  if (request.type === 'refused') return { text: request.reason, isError: true }
  try {
    const archive = typeof options.archive === 'function' ? options.archive() : options.archive
    const { complete, bytesDone, bytesAll, unreadable } = archive.refresh({ budgetMs })
    const part = Math.floor((100 * bytesDone) / Math.max(1, bytesAll))
    const partly = complete ? '' : `The archive is still being indexed (${part} % so far): ask again for the rest.\n`
    const note = partly + (request.type === 'search' ? notSearched(unreadable) : '')
    const style = answerStyle(options, phraseRead, note)
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
