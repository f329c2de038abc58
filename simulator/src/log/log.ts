// One line per request: its shape, its tokens, cache reads and writes, its cost, and how it ended.
import type { Block } from 'everlong'
import { isThinking, isToolResult, isToolUse } from 'everlong/internal'
import { promptTokens, type Sampling } from '../answer/usage.ts'
import type { InputMessage } from '../request/request.ts'

export type LogEntry = {
  readonly number: number
  readonly time: number
  readonly endpoint: string
  readonly model: string
  readonly organization: string
  readonly shape: string
  readonly status: number
  /** The stop reason, or the problem. */
  readonly outcome: string
  readonly samplings: readonly Sampling[]
  /** US dollars. Undefined if the model has no price. */
  readonly cost: number | undefined
  readonly line: string
}

export type RequestLog = {
  readonly entries: readonly LogEntry[]
  readonly add: (entry: Omit<LogEntry, 'number' | 'line'>) => LogEntry
  readonly text: () => string
  readonly clear: () => void
}

export function createLog(maxEntries: number): RequestLog {
  const entries: LogEntry[] = []
  let count = 0
  return {
    entries,
    add: (entry) => {
      const number = ++count
      const whole = { ...entry, number, line: lineOf({ ...entry, number }) }
      entries.push(whole)
      if (entries.length > maxEntries) entries.splice(0, entries.length - maxEntries)
      return whole
    },
    text: () => entries.map((entry) => `${entry.line}\n`).join(''),
    clear: () => {
      entries.length = 0
    },
  }
}

function lineOf(entry: Omit<LogEntry, 'line'>): string {
  const counts = entry.samplings.map(countsOf).join(' + ')
  const cost = entry.cost === undefined ? '' : ` $${entry.cost.toFixed(4)}`
  const head = `#${entry.number} ${entry.status} ${entry.endpoint} ${entry.model}`
  return `${head} [${entry.shape}]${counts === '' ? '' : ` ${counts}`}${cost} ${entry.outcome}`
}

function countsOf(sampling: Sampling): string {
  const written = sampling.write5m + sampling.write1h
  const deleted = sampling.deleted > 0 ? ` deleted=${sampling.deleted}` : ''
  const name = sampling.type === 'compaction' ? 'compaction ' : ''
  const size = `${name}prompt=${promptTokens(sampling)} read=${sampling.read} written=${written}`
  return `${size}${deleted} in=${sampling.input} out=${sampling.output}`
}

type Shaped = {
  readonly system: number
  readonly tools: number
  readonly messages: readonly Pick<InputMessage, 'role' | 'content'>[]
}

/** `sys tools3 | u a(t2) u(r2)`: the roles, with numbers of tool uses, results, thinking blocks, images. */
export function shapeOf(request: Shaped): string {
  const head = [request.system > 0 ? 'sys' : '', request.tools > 0 ? `tools${request.tools}` : ''].filter(Boolean)
  const body = runs(request.messages.map(({ role, content }) => `${roleLetters[role]}${detailOf(content)}`))
  return [head.join(' '), body.join(' ')].filter(Boolean).join(' | ')
}

const roleLetters = { user: 'u', assistant: 'a', system: 's' } as const
const kinds: readonly (readonly [string, (block: Block) => boolean])[] = [
  ['th', isThinking],
  ['t', isToolUse],
  ['r', isToolResult],
  ['i', (block) => block.type === 'image'],
  ['c', (block) => block.type === 'compaction'],
  ['e', (block) => block.type === 'cache_edits'],
]

function detailOf(content: readonly Block[]): string {
  const counts = kinds.map(() => 0)
  for (const block of content) {
    const at = kinds.findIndex(([, is]) => is(block))
    if (at >= 0) counts[at] = (counts[at] ?? 0) + 1
  }
  const parts = kinds.flatMap(([letter], at) => (counts[at] ? [`${letter}${counts[at]}`] : []))
  return parts.length === 0 ? '' : `(${parts.join(' ')})`
}

/** Shortens repetitions: `a(t1) u(r1)` 40 times in a row is written once, with `×40`. */
function runs(words: readonly string[]): readonly string[] {
  const out: string[] = []
  for (let at = 0; at < words.length; ) {
    let times = 1
    const pair = () => words[at] === words[at + times * 2] && words[at + 1] === words[at + times * 2 + 1]
    while (at + times * 2 + 1 < words.length && pair()) times++
    if (times > 2) {
      out.push(`{${words[at]} ${words[at + 1]}}×${times}`)
      at += times * 2
    } else {
      out.push(words[at] ?? '')
      at++
    }
  }
  return out
}
