// Checks the rules of the Messages API that a cut or an edit can break. It only reports problems; the repair runs until none are
// left.

import {
  type Block,
  blocksOf,
  isBlank,
  isBlock,
  isText,
  isThinking,
  type Message,
  pairHalfOf,
  pairsOf,
} from '../message/message.ts'
import { readableBlock } from '../message/readable.ts'
import { wellFormedValue } from '../text/cut.ts'

const types = [
  'request-empty',
  'opening-not-user',
  'roles-not-alternating',
  'content-empty',
  'text-empty',
  'block-not-accepted', // an unknown type, a broken block, media from the assistant, a result whose content is an object …
  'id-missing',
  'use-without-result', // its result is not in the very next message
  'result-without-use', // its use is not in the very message before
  'use-repeated',
  'result-repeated',
  'results-not-first',
  'block-in-wrong-role',
  'server-use-without-result',
  'server-result-without-use',
  'thinking-unsigned',
  'thinking-last', // an answer may not end with thinking
  'answer-ends-in-space', // the request ends with the start of an answer
  'text-ill-formed', // a lone surrogate in any string of the message
] as const

export type Problem = { readonly type: (typeof types)[number]; readonly message: number; readonly id?: string }

export function checkRequest(messages: readonly Message[]): readonly Problem[] {
  if (messages.length === 0) return [{ type: 'request-empty', message: 0 }]
  return [...messages.flatMap((_, index) => checkMessage(messages, index)), ...checkPairs(messages)]
}

/** One loop over the blocks, because this checks a whole conversation before each request. */
function checkMessage(messages: readonly Message[], index: number): readonly Problem[] {
  const { role, content } = messages[index] as Message
  const found = new Set<Problem['type']>()
  const blocks = blocksOf(content)
  if (index === 0 && role !== 'user') found.add('opening-not-user')
  if (index > 0 && messages[index - 1]?.role === role) found.add('roles-not-alternating')
  if (blocks.length === 0) found.add('content-empty')
  for (const [at, block] of blocks.entries()) {
    const isResult = block.type === 'tool_result'
    if (readableBlock(block, role) !== block) found.add('block-not-accepted')
    if (isBlank(block) || holdsEmptyText(block)) found.add('text-empty')
    if (lacksId(block)) found.add('id-missing')
    if (isResult && at > 0 && blocks[at - 1]?.type !== 'tool_result') found.add('results-not-first')
    if ((roleOf(block) ?? role) !== role) found.add('block-in-wrong-role')
    if (isUnsigned(block)) found.add('thinking-unsigned')
    if (isThinking(block) && at === blocks.length - 1) found.add('thinking-last')
  }
  if (index === messages.length - 1 && endsInSpace(role, blocks)) found.add('answer-ends-in-space')
  if (wellFormedValue(content) !== content) found.add('text-ill-formed')
  return found.size === 0 ? [] : types.filter((type) => found.has(type)).map((type) => ({ type, message: index }))
}

/** The start of an answer that the model continues may not end in white space. */
export function endsInSpace(role: Message['role'], blocks: readonly Block[]): boolean {
  const last = blocks.at(-1)
  return role === 'assistant' && last !== undefined && isText(last) && /\s$/.test(last.text)
}

/** True for a call or a result without an id. */
export function lacksId({ type, id, tool_use_id: answered }: Block): boolean {
  return (type === 'tool_use' && typeof id !== 'string') || (type === 'tool_result' && typeof answered !== 'string')
}

/** True for a result that contains an empty text, which the API refuses. */
export function holdsEmptyText({ content }: Block): boolean {
  return Array.isArray(content) && content.some((part) => isBlock(part) && isBlank(part))
}

/** The role that may hold this block. Undefined if both may. */
function roleOf(block: Block): Message['role'] | undefined {
  const half = pairHalfOf(block)
  if (half === undefined) return isThinking(block) ? 'assistant' : undefined
  return half.tool === 'client' && half.half === 'result' ? 'user' : 'assistant'
}

export function isUnsigned(block: Block): boolean {
  if (block.type === 'thinking')
    return typeof block.thinking !== 'string' || typeof block.signature !== 'string' || block.signature === ''
  return block.type === 'redacted_thinking' && (typeof block.data !== 'string' || block.data === '')
}

function checkPairs(messages: readonly Message[]): readonly Problem[] {
  const paused = pausedAnswer(messages)
  return pairsOf(messages).flatMap(({ id, tool, uses, results }) => {
    const found: Problem[] = []
    const say = (type: Problem['type'], message: number) => found.push({ type, message, id })
    for (const use of uses.slice(1)) say('use-repeated', use.message)
    for (const result of results.slice(1)) say('result-repeated', result.message)
    const use = uses[0]
    const result = results[0]
    if (tool === 'client') {
      if (use && result?.message !== use.message + 1) say('use-without-result', use.message)
      if (result && use?.message !== result.message - 1) say('result-without-use', result.message)
    } else {
      const isInOrder =
        use && result && (result.message > use.message || (result.message === use.message && result.block > use.block))
      if (use && !isInOrder && use.message !== paused) say('server-use-without-result', use.message)
      if (result && !isInOrder) say('server-result-without-use', result.message)
    }
    return found
  })
}

/** Index of a paused answer. It ends with a call that the server will run later; only results of client tools may follow it. */
function pausedAnswer(messages: readonly Message[]): number {
  const last = messages.length - 1
  const isResults = blocksOf(messages[last]?.content).every(({ type }) => type === 'tool_result')
  return messages[last]?.role === 'user' && isResults ? last - 1 : last
}
