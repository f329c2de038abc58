// The last rounds of a conversation as lines: what the assistant said, which calls it made, how they ended. Words of
// others are quoted on one line, so that they can start nothing of their own.
import { commandText, endingOf, outcomeLine } from '../ledger/commands.ts'
import { oneLine } from '../ledger/text.ts'
import { commandOf, patchedFiles, patchOf, toolKind } from '../ledger/tools.ts'
import {
  type Block,
  blocksOf,
  isText,
  isToolResult,
  isToolUse,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
} from '../message/block.ts'
import { isObject, stringAt } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { pathIn } from '../message/tool-names.ts'

export type Step = {
  readonly type: 'said' | 'called'
  /** Where in the conversation. */
  readonly at: number
  readonly text: string
}

export type Report = {
  readonly at: number
  /** The assistant's last words of a turn, which mostly say what was done. */
  readonly text: string
  /** The turn has ended: the person spoke again. */
  readonly isEnded: boolean
  /** It lists or asks, and was answered in so few words that they say little without it: "skip 5 and 7", "the second". */
  readonly isPointedAt: boolean
}

const fewWords = 120
/** Bounded, since a report may be a page of nothing but dashes or question marks. */
const listsOrAsks = /^[ \t|>*#-]{0,12}(?:\d{1,2}|[A-H])\s?[.):|]|\?\W{0,4}$/m

/** Words that only announce the next call. */
const announces =
  /^(?:now |next,? |first,? |ok(?:ay)?[,.!]? |good[,.!]? |great[,.!]? |perfect[,.!]? )?(?:let me|let's|I'll|I will|I'm going to)\b[^.!?]{0,160}[.:!]?$/i

/** The last words of each turn in which the assistant spoke, oldest first. */
export function reportsOf(messages: readonly ViewMessage[]): readonly Report[] {
  const reports: Report[] = []
  let last: Pick<Report, 'at' | 'text'> | undefined
  for (const [at, message] of messages.entries()) {
    if (message.origin === 'assistant') {
      const text = spokenIn(message)
      if (text.length >= 24 && !announces.test(text)) last = { at, text }
    } else if (isRequest(message.origin) && last) {
      reports.push({
        ...last,
        isEnded: true,
        isPointedAt: textOf(message.content).length <= fewWords && listsOrAsks.test(last.text),
      })
      last = undefined
    }
  }
  return last ? [...reports, { ...last, isEnded: false, isPointedAt: false }] : reports
}

function spokenIn(message: ViewMessage): string {
  return blocksOf(message.content)
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
    .trim()
}

/** The newest steps, at most `count`, oldest first. */
export function lastSteps(messages: readonly ViewMessage[], count: number): readonly Step[] {
  const results = new Map<string, ToolResultBlock>()
  const steps: Step[] = []
  for (let at = messages.length - 1; at >= 0 && steps.length < count; at--) {
    const message = messages[at]
    if (!message) continue
    const blocks = blocksOf(message.content)
    if (message.origin === 'tool-result') {
      for (const block of blocks) if (isToolResult(block)) results.set(block.tool_use_id, block)
    } else if (message.origin === 'assistant') {
      for (const block of blocks.toReversed()) {
        const step = stepOf(block, results)
        if (step) steps.push({ ...step, at })
      }
    }
  }
  return steps.toReversed().slice(-count)
}

/** The to-do list stands elsewhere as it now is. */
function stepOf(block: Block, results: ReadonlyMap<string, ToolResultBlock>): Omit<Step, 'at'> | undefined {
  if (isText(block)) {
    const text = block.text.trim()
    return text.length >= 12 ? { type: 'said', text } : undefined
  }
  if (!isToolUse(block) || toolKind(block.name, block.input) === 'todo') return undefined
  return { type: 'called', text: callLine(block, results.get(block.id)) }
}

function callLine(call: ToolUseBlock, result: ToolResultBlock | undefined): string {
  const kind = toolKind(call.name, call.input)
  const output = result === undefined ? '' : textOf(result.content)
  const isError = result?.is_error === true || output.startsWith('<tool_use_error>')
  if (kind === 'command') {
    const ending = endingOf(output, { isError })
    const outcome = outcomeLine(ending.output, ending.ended === 'badly')
    const ended =
      result === undefined
        ? 'no result yet'
        : ending.ended === 'badly'
          ? 'failed'
          : ending.ended === 'well'
            ? 'ok'
            : 'unfinished'
    return `ran ${mark(commandText(commandOf(call.input)))} → ${ended}${outcome === '' ? '' : `: ${outcome}`}`
  }
  const failed = isError ? ` → failed: ${oneLine(output.replace(/<\/?tool_use_error>/g, ''), 160)}` : ''
  const waiting = result === undefined ? ' → no result yet' : ''
  return `${verb(kind, call)}${failed}${waiting}`
}

function verb(kind: ReturnType<typeof toolKind>, call: ToolUseBlock): string {
  const path = shortPath(pathIn(call.input) ?? '')
  switch (kind) {
    case 'read':
      return `read ${path}`
    case 'edit':
      return `changed ${path}${changeOf(call.input)}`
    case 'write':
      return `wrote ${path}`
    case 'patch':
      return `patched ${patchedFiles(patchOf(call.input))
        .map((file) => shortPath(file.path))
        .join(', ')}`
    default:
      return `called ${oneLine(call.name, 60)}${inputGist(call.input)}`
  }
}

/** The first line of what was put in. */
function changeOf(input: unknown): string {
  const lines = (stringAt(input, 'new_string') ?? stringAt(input, 'newText') ?? '').split('\n')
  const first = lines.find((line) => /[\p{L}\p{N}]{3}/u.test(line))
  return first === undefined ? '' : `: ${mark(first.trim(), 120)}`
}

function inputGist(input: unknown): string {
  if (!isObject(input)) return ''
  const words = Object.entries(input)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([key, value]) => `${key} ${mark(String(value), 100)}`)
  return words.length === 0 ? '' : ` (${words.slice(0, 3).join(', ')})`
}

/** Foreign words in marks that they cannot close. */
function mark(text: string, longest = 240): string {
  return `\`${oneLine(text, longest).replaceAll('`', "'")}\``
}

/** The end of a path: the whole stands among the files. */
export function shortPath(path: string): string {
  return oneLine(path.split(/[\\/]/).slice(-2).join('/'), 120)
}
