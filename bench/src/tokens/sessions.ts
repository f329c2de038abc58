// Reads real sessions (Claude Code and pi) just far enough to replay their growth: each answer's reported counts and
// the text that came before it. Tolerant: what it does not know it leaves out.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block, Message } from 'everlong'

export type Answer = {
  readonly id: string
  readonly model: string
  /** Everything the request held, as reported: input, cache reads and cache writes. */
  input: number
  output: number
  /** The answer itself. */
  readonly own: Message[]
  /** What was added between the previous answer and this one. */
  readonly before: readonly Message[]
  /** A compaction or a change of the model lies between: nothing can be predicted over it. */
  readonly isCut: boolean
}

type Json = { readonly [key: string]: unknown }

/** Main sessions only: sub-agents are conversations of their own. */
export function sessionFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl') && !/(^|[/\\])(subagents[/\\]|agent-|codex)/.test(name))
    .map((name) => join(folder, name))
    .toSorted()
}

export function readAnswers(file: string): readonly Answer[] {
  const answers: Answer[] = []
  let before: Message[] = []
  let isCut = false
  for (const record of readRecords(file)) {
    const found = record.isSidechain === true ? undefined : readRecord(record)
    const last = answers.at(-1)
    if (found === 'cut') isCut = true
    else if (found && 'role' in found) before.push(found)
    else if (found && last?.id === found.id) {
      last.own.push(...found.own)
      last.input = Math.max(last.input, found.input)
      last.output = Math.max(last.output, found.output)
    } else if (found) {
      answers.push({ ...found, before, isCut: isCut || last?.model !== found.model })
      before = []
      isCut = false
    }
  }
  return answers
}

function readRecords(file: string): readonly Json[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Json]
      } catch {
        return [] // the known case is two objects on one line: one line of a session is not missed here
      }
    })
}

type Found = Omit<Answer, 'before' | 'isCut'> | Message | 'cut' | undefined

function readRecord(record: Json): Found {
  const message = (record.message ?? {}) as Json
  if (record.type === 'compaction' || /compact_boundary/.test(String(record.subtype))) return 'cut'
  if (record.type === 'attachment') return readAttachment((record.attachment ?? {}) as Json)
  if (message.role === 'assistant') return readAnswer(message, String(message.id ?? record.timestamp))
  if (message.role === 'user') return { role: 'user', content: message.content as Message['content'] }
  if (message.role === 'toolResult') return { role: 'user', content: message.content as readonly Block[] }
  return undefined
}

/** Hook reports are shown to people, not to the model. */
function readAttachment({ type, content, text }: Json): Message | undefined {
  if (/^hook_(success|progress)/.test(String(type))) return undefined
  const said = content ?? text ?? ''
  return { role: 'user', content: typeof said === 'string' ? said : JSON.stringify(said) }
}

function readAnswer(message: Json, id: string): Found {
  const usage = (message.usage ?? {}) as Json
  const count = (...names: readonly string[]) => names.reduce((sum, name) => sum + (Number(usage[name]) || 0), 0)
  const input =
    count('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens') +
    count('input', 'cacheRead', 'cacheWrite')
  if (input === 0 || message.model === '<synthetic>') return undefined
  const content = (message.content as readonly Json[]).map((block) =>
    block.type === 'toolCall' ? { type: 'tool_use', id: '', name: block.name, input: block.arguments } : block,
  )
  return {
    id,
    model: String(message.model),
    input,
    output: count('output_tokens', 'output'),
    own: [{ role: 'assistant', content: content as unknown as readonly Block[] }],
  }
}
