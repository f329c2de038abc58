// Counts a conversation as it grows: adding a message costs the same however long the conversation already is.
// Always equal to contextSize() over the same messages.
import { type Block, blocksOf, isToolResult } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import type { Usage } from '../message/usage.ts'
import {
  type ContextSize,
  isPieceOf,
  laterUsage,
  realModel,
  type SizeOptions,
  sizeFrom,
  usableUsage,
} from './context-size.ts'
import { addMeasures, type Measure, measureBlock, nothing } from './estimate/blocks.ts'

export type Counter = {
  readonly add: (message: ViewMessage) => void
  /** Begins again with these messages; tool results that are still the same are not measured again. */
  readonly rebuild: (messages: readonly ViewMessage[], options?: SizeOptions) => void
  readonly size: () => ContextSize
}

type Results = Map<string, { readonly content: unknown; readonly measure: Measure }>

/** The latest answer: still open for further pieces, with or without usage. */
type Answer = {
  id: string | undefined
  uuid: string | undefined
  usage: Usage | undefined
  own: Measure
  after: Measure
}

type State = {
  options: SizeOptions
  count: number
  /** Of the newest answer. */
  model: string | undefined
  isFresh: boolean
  summaryTime: number
  all: Measure
  /** The newest answer, and the newest one with usage: mostly the same. */
  answer: Answer | undefined
  anchor: Answer | undefined
}

export function createCounter(options: SizeOptions = {}): Counter {
  let results: Results = new Map()
  let earlier: Results = results
  let state = emptyState(options)

  const measured = (block: Block): Measure => {
    if (!isToolResult(block)) return measureBlock(block, state.options)
    const known = results.get(block.tool_use_id) ?? earlier.get(block.tool_use_id)
    const isSame = known !== undefined && known.content === block.content
    const measure = isSame ? known.measure : measureBlock(block, state.options)
    results.set(block.tool_use_id, { content: block.content, measure })
    return measure
  }
  const add = (message: ViewMessage): void => {
    const blocks = blocksOf(message.content)
    addMeasured(
      state,
      message,
      blocks.reduce((sum, block) => addMeasures(sum, measured(block)), nothing),
    )
  }
  return {
    add,
    rebuild: (messages, fresh = state.options) => {
      // Results that are gone from the conversation are gone from the cache too, one rebuild later.
      earlier = fresh.estimator === state.options.estimator && fresh.model === state.options.model ? results : new Map()
      results = new Map()
      state = emptyState(fresh)
      for (const message of messages) add(message)
    },
    size: () =>
      sizeFrom(
        { anchor: anchorOf(state.anchor), all: state.all },
        { ...state.options, model: state.options.model ?? state.model },
      ),
  }
}

function emptyState(options: SizeOptions): State {
  const isFresh = options.freshFrom === undefined
  const summaryTime = Number.NEGATIVE_INFINITY
  return {
    options,
    count: 0,
    model: undefined,
    isFresh,
    summaryTime,
    all: nothing,
    answer: undefined,
    anchor: undefined,
  }
}

function anchorOf(answer: Answer | undefined) {
  return answer?.usage && { usage: answer.usage, own: answer.own, after: answer.after, uuid: answer.uuid }
}

function addMeasured(state: State, message: ViewMessage, measure: Measure): void {
  const { freshFrom } = state.options
  if (freshFrom === message.uuid && freshFrom !== undefined) state.isFresh = true
  if (typeof freshFrom === 'number' && state.count >= freshFrom) state.isFresh = true
  state.count++
  state.model = realModel(message) ?? state.model
  state.all = addMeasures(state.all, measure)
  for (const answer of new Set([state.answer, state.anchor])) if (answer) growAnswer(answer, message, measure)
  if (message.role === 'assistant' && !isPieceOf(message, state.answer?.id)) {
    state.answer = { id: message.messageId, uuid: message.uuid, usage: undefined, own: measure, after: nothing }
  }
  if (message.origin === 'summary') forgetUsage(state, message)
  else takeUsage(state, message)
}

function growAnswer(answer: Answer, message: ViewMessage, measure: Measure): void {
  if (isPieceOf(message, answer.id)) answer.own = addMeasures(answer.own, measure)
  else answer.after = addMeasures(answer.after, measure)
}

function forgetUsage(state: State, summary: ViewMessage): void {
  state.summaryTime = Math.max(state.summaryTime, summary.time ?? state.summaryTime)
  if (state.answer) state.answer.usage = undefined
  state.anchor = undefined
}

function takeUsage(state: State, message: ViewMessage): void {
  const usage = usableUsage(message, state.options.window)
  const isOld = message.time !== undefined && message.time < state.summaryTime
  if (!usage || !state.isFresh || isOld || !state.answer) return
  state.answer.usage = laterUsage(state.answer.usage, usage)
  state.anchor = state.answer
}
