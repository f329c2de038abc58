// What a request must be, as code: the rules of the Messages API that a cut or an edit can break. Written without the
// repairer in mind, and used to test it. It reports and never mends.

import { type Block, blocksOf, isBlank, isEmptyText, isThinking } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { pairHalfOf, pairsOf } from '../message/pairing.ts'
import { wellFormedValue } from '../text/well-formed.ts'

export type Problem = {
  readonly type:
    | 'request-empty'
    | 'opening-not-user'
    | 'roles-not-alternating'
    | 'content-empty'
    | 'text-empty'
    | 'id-missing'
    | 'use-without-result' // its result is not in the very next message
    | 'result-without-use' // its use is not in the very message before
    | 'use-repeated'
    | 'result-repeated'
    | 'results-not-first'
    | 'block-in-wrong-role'
    | 'server-use-without-result'
    | 'server-result-without-use'
    | 'thinking-unsigned'
    | 'thinking-last' // an answer may not end with thinking
    | 'text-ill-formed' // a lone surrogate, in whatever string of the message
  readonly message: number
  readonly id?: string
}

export function checkRequest(messages: readonly Message[]): readonly Problem[] {
  if (messages.length === 0) return [{ type: 'request-empty', message: 0 }]
  return [...messages.flatMap((_, index) => checkMessage(messages, index)), ...checkPairs(messages)]
}

function checkMessage(messages: readonly Message[], index: number): readonly Problem[] {
  const message = messages[index]
  if (!message) return []
  const found: Problem[] = []
  const say = (type: Problem['type']) => found.push({ type, message: index })
  const blocks = blocksOf(message.content)
  if (index === 0 && message.role !== 'user') say('opening-not-user')
  if (index > 0 && messages[index - 1]?.role === message.role) say('roles-not-alternating')
  if (blocks.length === 0) say('content-empty')
  if (blocks.some((block) => isBlank(block) || blocksOf(block.content).some(isEmptyText))) say('text-empty')
  if (blocks.some(lacksId)) say('id-missing')
  const firstOther = blocks.findIndex((block) => block.type !== 'tool_result')
  if (firstOther >= 0 && blocks.slice(firstOther).some((block) => block.type === 'tool_result')) {
    say('results-not-first')
  }
  if (blocks.some((block) => !mayStandIn(message, block))) say('block-in-wrong-role')
  if (blocks.some(isUnsigned)) say('thinking-unsigned')
  const last = blocks.at(-1)
  if (last && isThinking(last)) say('thinking-last')
  if (wellFormedValue(message.content) !== message.content) say('text-ill-formed')
  return found
}

function lacksId({ type, id, tool_use_id: answered }: Block): boolean {
  return (type === 'tool_use' && typeof id !== 'string') || (type === 'tool_result' && typeof answered !== 'string')
}

function mayStandIn({ role }: Message, block: Block): boolean {
  const half = pairHalfOf(block)
  const isUsers = half?.tool === 'client' && half.half === 'result'
  if (isUsers) return role === 'user'
  return half === undefined && !isThinking(block) ? true : role === 'assistant'
}

function isUnsigned(block: Block): boolean {
  if (block.type === 'thinking') return typeof block.signature !== 'string' || block.signature === ''
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
      const isBehind =
        use && result && (result.message > use.message || (result.message === use.message && result.block > use.block))
      if (use && !isBehind && use.message !== paused) say('server-use-without-result', use.message)
      if (result && !isBehind) say('server-result-without-use', result.message)
    }
    return found
  })
}

/** A paused turn ends with a call that the server has yet to run; only results of the client's tools may follow it. */
function pausedAnswer(messages: readonly Message[]): number {
  const last = messages.length - 1
  const isResults = blocksOf(messages[last]?.content).every(({ type }) => type === 'tool_result')
  return messages[last]?.role === 'user' && isResults ? last - 1 : last
}
