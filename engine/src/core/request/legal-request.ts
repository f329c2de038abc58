// A request as the Messages API accepts it, whatever hosts, tools and other providers put into its messages. The session
// keeps the originals. The same objects where nothing changes.
import type { Block } from '../message/block.ts'
import { defined, isObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import type { ModelRequest } from '../ports/model.ts'
import { neutralizeFrames } from '../text/neutralize.ts'
import { withLegalMarks } from './cache-marks.ts'
import { legalFields } from './legal-blocks.ts'
import { legalCall, withLegalNames } from './legal-calls.ts'

export function legalRequest(request: ModelRequest): ModelRequest {
  const { betas = [], messages, options, tools = [] } = request
  const offered = new Set(tools.map(({ name }) => name))
  const takesCompactions = betas.some((beta) => beta.startsWith('compact-'))
  const legal = {
    messages: legalMessages(messages, { offered, takesCompactions }),
    options: withLegalNames(options, offered),
  }
  const isSame = legal.messages === messages && legal.options === options
  return withLegalMarks(isSame ? request : { ...request, ...defined(legal) })
}

type Accepted = {
  /** Names of the tools in the request: calls of them keep their names. */
  readonly offered?: ReadonlySet<unknown>
  /** Without the beta of a compaction, the API does not know the blocks that it left. */
  readonly takesCompactions?: boolean
}

export function legalMessages(
  messages: readonly Message[],
  { offered = new Set(), takesCompactions = false }: Accepted = {},
): readonly Message[] {
  const legal = messages.map((message) => {
    const { role, content } = message
    if (typeof content === 'string') return message
    const blocks = content.map((block) => {
      if (block.type === 'compaction' && !takesCompactions) return compactionText(block)
      return legalCall(legalFields(block, role), offered)
    })
    return blocks.every((block, at) => block === content[at]) ? message : { ...message, content: blocks }
  })
  return legal.every((message, at) => message === messages[at]) ? messages : legal
}

function compactionText({ content, cache_control: mark }: Block): Block {
  const summary = typeof content === 'string' && content !== '' ? content : undefined
  const text = summary === undefined ? '[Summary by the server, without text]' : `[Summary by the server]\n${summary}`
  return { type: 'text', text: neutralizeFrames(text), ...(isObject(mark) ? { cache_control: mark } : {}) }
}
