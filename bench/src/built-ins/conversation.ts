// A recorded conversation as every SDK can hold it: what the model had seen when it was compacted, and the work that
// followed. Thinking is left out and images become a line of text, because not every SDK has a place for them.
import type { Block, Entry, Message } from 'everlong'
import { blocksOf, messagesOf, readBoundary, repairRequest, textOf } from 'everlong/internal'
import { forEachEntry } from 'everlong/internal/node'
import type { Case } from '../fidelity/cases.ts'
import { sessionOf } from '../fidelity/parts.ts'

/** An answer, and the messages that the next request adds. */
export type Step = readonly [answer: Message, next: Message]

export type Conversation = {
  readonly history: readonly Message[]
  readonly steps: readonly Step[]
}

/** Maximum number of requests after the graded one. */
const maxSteps = 20

export function conversationOf(found: Case): Conversation {
  const history = endingWithUser(repairRequest(sessionOf(found).fold.view().messages.map(plain)).messages)
  return { history, steps: stepsOf(found) }
}

/** A manual compaction comes after an answer, but a request cannot end with one. */
function endingWithUser(messages: readonly Message[]): readonly Message[] {
  return messages.at(-1)?.role === 'user' ? messages : [...messages, { role: 'user', content: 'Go on.' }]
}

function plain({ role, content }: Message): Message {
  return { role, content: plainBlocks(content) }
}

function plainBlocks(content: Message['content']): readonly Block[] {
  return blocksOf(content).flatMap((block): readonly Block[] => {
    if (block.type === 'thinking' || block.type === 'redacted_thinking') return []
    if (block.type === 'image' || block.type === 'document') return [{ type: 'text', text: `[${block.type}]` }]
    if (block.type !== 'tool_result') return [block]
    const parts = plainBlocks(block.content as Message['content'])
    return [{ ...block, content: textOf(parts).trim() === '' ? '(no output)' : parts }]
  })
}

/** The calls that followed with their results, until the next compaction. */
function stepsOf({ path, at }: Case): readonly Step[] {
  const after = entriesAfter(path, at)
  const first = after.findIndex(({ record }) => record.type === 'assistant')
  const messages = repairRequest(messagesOf(first < 0 ? [] : after.slice(first)).map(plain)).messages
  const steps: Step[] = []
  for (let place = 0; place + 1 < messages.length && steps.length < maxSteps; place++) {
    const [answer, next] = [messages[place], messages[place + 1]]
    if (answer?.role === 'assistant' && next?.role === 'user') steps.push([answer, next])
  }
  return steps
}

function entriesAfter(path: string, boundary: string): readonly Entry[] {
  const found: Entry[] = []
  const seen = new Set<string>()
  let state: 'before' | 'after' | 'done' = 'before'
  forEachEntry(path, (entry) => {
    const uuid = String(entry.record.uuid ?? '')
    if (entry.record.isSidechain === true || seen.has(uuid)) return
    seen.add(uuid)
    if (state === 'after' && readBoundary(entry.record)) state = 'done'
    if (state === 'after') found.push(entry)
    if (uuid === boundary) state = 'after'
  })
  return found
}
