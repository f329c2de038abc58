// microcompact(messages, options): clears old tool results from messages of any kind. Asks no model, drops no message, and leaves
// the newest results unchanged.

import { clearableKind } from './core/mechanisms/clearable.ts'
import { microBySize } from './core/mechanisms/micro.ts'
import { situationOf } from './core/mechanisms/situation.ts'
import { defined, isObject } from './core/message/json.ts'
import { blocksOf, isToolResult, isToolUse, type Message } from './core/message/message.ts'
import { compactionOff, type Environment, type ReductionSettings } from './core/settings/resolve.ts'
import { countTokens } from './core/tokens/estimate/counting.ts'
import { toolCall } from './core/tools/call.ts'
import type { Edit } from './core/transcript/format/edits.ts'
import { clearedResult } from './core/transcript/view/effects.ts'
import type { View } from './core/transcript/view/fold.ts'
import { readForeign } from './foreign-messages.ts'
import {
  type AnyMessage,
  foreignKind,
  indexOfPlain,
  type PlainMessage,
  readPlain,
  withoutThinking,
} from './plain-messages.ts'

export type MicrocompactOptions = {
  /** Number of the newest tool results that stay. Default: 3. */
  readonly keep?: number
  /** Tokens of tool results that may stay. The oldest are cleared first. Default: 0, which clears all but the newest. */
  readonly target?: number
  /** Your tools whose results can be produced again. Those of well-known agents (Read, Bash, Grep …) are built in. */
  readonly reproducible?: readonly string[]
  /** The model that will read the messages. For some models, a change invalidates all later thinking. */
  readonly model?: string
  /** The variables for `DISABLE_COMPACT`, for example `process.env`. Default: none. */
  readonly environment?: Environment
}

/** `cleared`: number of results that were replaced by a short note. Unchanged messages are the given objects. */
export type Microcompacted<M extends AnyMessage> = {
  readonly messages: M[]
  readonly cleared: number
  readonly tokens: { readonly before: number; readonly after: number }
  /** The reason why nothing was cleared. */
  readonly why?: string
  /** Tools whose results were left alone because they are not declared `reproducible`. */
  readonly leftAlone: readonly string[]
}

/**
 * Makes a conversation smaller without a model: old tool results that can be produced again are cleared. Takes messages of the
 * Messages API, of chat completions, of the AI SDK (`ModelMessage`) or of LangChain, and returns the same kind.
 *
 * ```ts
 * const { messages } = microcompact(history, { keep: 5 })
 * ```
 */
export function microcompact<M extends AnyMessage>(
  messages: readonly M[],
  options: MicrocompactOptions = {},
): Microcompacted<M> {
  const kind = foreignKind(messages)
  if (!kind) return microcompactPlain(messages as readonly PlainMessage[], options) as unknown as Microcompacted<M>
  const { plain, givenBack } = readForeign(messages, { kind, caller: 'microcompact' })
  const result = microcompactPlain(plain, options)
  return { ...result, messages: givenBack(result.messages as readonly Message[]) }
}

function microcompactPlain<M extends PlainMessage>(
  messages: readonly M[],
  options: MicrocompactOptions,
): Microcompacted<M> {
  const { keep = 3, target = 0, reproducible = [], model, environment = {} } = options
  const { view } = readPlain(messages, 'microcompact')
  const before = countTokens(view.messages, { model })
  const unchanged = (why: string, leftAlone: readonly string[] = []) => ({
    messages: [...messages],
    cleared: 0,
    tokens: { before, after: before },
    why,
    leftAlone,
  })
  const off = compactionOff({ environment })
  if (off !== undefined) return unchanged(off)
  const situation = situationOf(view, {
    // The clock only matters for the price of a cache, and nothing is weighed here.
    now: 0,
    environment,
    ...defined({ model }),
    reductions: {
      microCompact: 'always',
      weigh: false,
      boundThinking: 'remove',
      reproducible,
      bySize: { keep, target, minFreed: 1 },
    },
  })
  const plan = microBySize.plan(view, situation)
  const leftAlone = unknownTools(view, situation.settings)
  if (plan.type === 'declined') return unchanged(`${plan.why}${leftAloneText(leftAlone)}`, leftAlone)
  const edits = plan.type === 'reduced' ? plan.edits : []
  const texts = new Map(edits.flatMap(clearedTexts))
  const unthought = edits.flatMap((edit) => (edit.type === 'clear-thinking' && edit.after ? [edit.after] : []))
  const thinkingAfter = Math.min(...unthought.map(indexOfPlain))
  const cleared = messages.flatMap((message, at) => {
    const kept = withoutResults(message, texts)
    return at > thinkingAfter ? withoutThinking(kept) : [kept]
  })
  const after = countTokens(readPlain(cleared, 'microcompact').view.messages, { model })
  return { messages: cleared, cleared: texts.size, tokens: { before, after }, leftAlone }
}

/** Tools that are not known to be reproducible. */
function unknownTools({ messages }: View, settings: ReductionSettings): readonly string[] {
  const blocks = messages.flatMap(({ content }) => blocksOf(content))
  const answered = new Set(blocks.filter(isToolResult).map((result) => result.tool_use_id))
  const calls = blocks.filter(isToolUse).filter(({ id }) => answered.has(id))
  const unknown = calls.filter((call) => clearableKind(toolCall(call), settings) === undefined)
  return [...new Set(unknown.map(({ name }) => name))]
}

const maxNamed = 10

function leftAloneText(tools: readonly string[]): string {
  if (tools.length === 0) return ''
  const more = tools.length > maxNamed ? ` and ${tools.length - maxNamed} more` : ''
  const named = `${tools.slice(0, maxNamed).join(', ')}${more}`
  return ` The results of ${named} were left alone: if they can be produced again, list these tools in \`reproducible\`.`
}

function clearedTexts(edit: Edit): readonly (readonly [string, string])[] {
  if (edit.type !== 'clear-results') return []
  return edit.toolUseIds.map((id, at) => [id, clearedResult({ stub: edit.stubs?.[at] })] as const)
}

/** In either shape: a block of type tool_result, or a message of role tool. */
function withoutResults<M extends PlainMessage>(message: M, texts: ReadonlyMap<string, string>): M {
  const own = 'tool_call_id' in message ? texts.get(message.tool_call_id ?? '') : undefined
  if (own !== undefined) return { ...message, content: own }
  const { content } = message
  if (!Array.isArray(content)) return message
  const textFor = (block: unknown) => (isObject(block) ? texts.get(String(block.tool_use_id)) : undefined)
  if (content.every((block) => textFor(block) === undefined)) return message
  return {
    ...message,
    content: content.map((block) => (textFor(block) === undefined ? block : { ...block, content: textFor(block) })),
  }
}
