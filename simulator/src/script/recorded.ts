// A script from a transcript: repeats the model's recorded answers. Reads Claude Code record objects, and skips unknown ones.
import type { Block, Message } from 'everlong'
import { blocksOf, isObject, isText, isToolResult, objectAt, stringAt } from 'everlong/internal'
import { type WhenExhausted, whenDry } from './fixed.ts'
import type { Answer, Script } from './script.ts'

/** The messages to the model since its last answer, by key, and its answer. */
type Exchange = { readonly keys: readonly string[]; readonly answer: Answer }

/** How many earlier messages are compared if the last message fits several places. */
const maxComparison = 50

/**
 * Answers a request with what followed its last user message in the recording: found by the ids of its tool results,
 * else by its text; of several places the one whose earlier messages agree best, then the next one not yet used.
 * Nothing found: the answer after the one given last. Out of answers: as `whenExhausted` says (`say` by default).
 * `sidechains` reads the records of sub-agents instead of leaving them out.
 */
export function recorded(
  records: readonly unknown[],
  options: { readonly whenExhausted?: WhenExhausted; readonly sidechains?: boolean } = {},
): Script {
  const exchanges = exchangesOf(records.filter((record) => isObject(record) && takesPart(record, options)))
  const places = placesOf(exchanges)
  let next = 0
  return (request) => {
    const said = request.messages.filter((message) => message.role === 'user').map(keysOfMessage)
    const at = placeOf({ said, exchanges, places, next }) ?? next
    const exchange = exchanges[at]
    if (!exchange) {
      const why = `The recording has ${exchanges.length} answers, and all of them were given.`
      return whenDry({ how: options.whenExhausted ?? 'say', last: exchanges.at(-1)?.answer, why })
    }
    next = at + 1
    return exchange.answer
  }
}

/** Errors and notices that the client wrote in the model's name were not answers. */
function takesPart(record: object, options: { readonly sidechains?: boolean }): boolean {
  const side = 'isSidechain' in record && record.isSidechain === true
  const error = 'isApiErrorMessage' in record && record.isApiErrorMessage === true
  return side === (options.sidechains ?? false) && !error && modelOf(record) !== '<synthetic>'
}

const modelOf = (record: unknown) => stringAt(objectAt(record, 'message'), 'model')

/**
 * Lines with one message id are one answer, also with tool results between them: a client that starts tools
 * while the answer still streams writes results before the answer's last lines. Such results belong to the next answer.
 */
function exchangesOf(records: readonly unknown[]): readonly Exchange[] {
  type Growing = { readonly keys: readonly string[]; readonly blocks: Block[]; stopReason: string | undefined }
  const exchanges: Growing[] = []
  const byId = new Map<string, Growing>()
  let keys: string[] = []
  for (const record of records) {
    const type = stringAt(record, 'type')
    const message = objectAt(record, 'message')
    if (!message) continue
    if (type === 'user') keys.push(...keysOf(message.content))
    if (type !== 'assistant') continue
    const id = stringAt(message, 'id') ?? `answer ${exchanges.length}`
    const known = byId.get(id)
    const exchange = known ?? { keys, blocks: [], stopReason: undefined }
    if (!known) {
      exchanges.push(exchange)
      byId.set(id, exchange)
      keys = []
    }
    exchange.blocks.push(...blocksOf(message.content).map(withoutSignature))
    exchange.stopReason = stringAt(message, 'stop_reason') ?? exchange.stopReason
  }
  return exchanges.map(({ keys: said, blocks, stopReason }) => ({
    keys: said,
    answer: { content: blocks, ...(stopReason === undefined ? {} : { stopReason }) },
  }))
}

/** A recorded signature was made by another server for another prefix: ours would refuse it when it comes back. */
function withoutSignature(block: Block): Block {
  if (block.type !== 'thinking') return block
  const { signature: _, ...rest } = block
  return { ...rest, type: block.type }
}

function placesOf(exchanges: readonly Exchange[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [at, exchange] of exchanges.entries()) {
    for (const key of exchange.keys) {
      const found = places.get(key)
      if (found) found.push(at)
      else places.set(key, [at])
    }
  }
  return places
}

function placeOf(search: {
  readonly said: readonly (readonly string[])[]
  readonly exchanges: readonly Exchange[]
  readonly places: ReadonlyMap<string, readonly number[]>
  readonly next: number
}): number | undefined {
  const keys = (search.said.at(-1) ?? []).toSorted((a, b) => rankOf(b) - rankOf(a))
  const key = keys.find((candidate) => search.places.has(candidate))
  const candidates = key === undefined ? [] : (search.places.get(key) ?? [])
  if (candidates.length < 2) return candidates[0]
  const agreements = candidates.map((at) => agreementOf(search, at))
  const best = Math.max(...agreements)
  const fitting = candidates.filter((_, index) => agreements[index] === best)
  return fitting.find((at) => at >= search.next) ?? fitting.at(-1)
}

/** Results have unique ids, so they come first. Of texts, the longest identifies a message best. */
function rankOf(key: string): number {
  return key.startsWith('result ') ? Number.POSITIVE_INFINITY : key.length
}

/** Number of earlier messages that match the exchanges before this place. */
function agreementOf(
  search: { readonly said: readonly (readonly string[])[]; readonly exchanges: readonly Exchange[] },
  at: number,
): number {
  for (let back = 1; back <= maxComparison; back++) {
    const said = search.said.at(-1 - back)
    const then = back > at ? undefined : search.exchanges[at - back]
    if (!said || !then || !said.some((key) => then.keys.includes(key))) return back - 1
  }
  return maxComparison
}

const keysOfMessage = (message: Message) => keysOf(message.content)

function keysOf(content: unknown): readonly string[] {
  return blocksOf(content).flatMap((block) => {
    if (isToolResult(block)) return [`result ${block.tool_use_id}`]
    if (isText(block) && block.text.trim() !== '') return [`text ${block.text.trim()}`]
    return []
  })
}
