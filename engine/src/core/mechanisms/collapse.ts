// Collapse: replaces finished spans with summaries that were staged in the background. Undoing it expands them again.
import { createLedger } from '../ledger/ledger.ts'
import { textOf } from '../message/block.ts'
import { defined } from '../message/json.ts'
import { isRequest } from '../message/message.ts'
import { turnsOf } from '../message/rounds.ts'
import { billedCounts, noTokens, type TokenCounts } from '../message/usage.ts'
import type { AbortSignalPort, ModelClient } from '../ports/model.ts'
import { collapsedText, collapsePrompt, collapseSystem } from '../prompts/collapse.ts'
import { recallPointer } from '../prompts/recall.ts'
import { repairRequest } from '../request/repair.ts'
import { condensed } from '../text/condense.ts'
import { withoutMiddle } from '../text/cut.ts'
import type { Explanation } from '../tokens/explain.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import { declined, type PlanningMechanism } from './mechanism.ts'
import { type Part, partsOf, planRanges, replacementOf } from './ranges.ts'
import type { Weigher } from './weigher.ts'

export type Staged = { readonly from: string; readonly to: string; readonly text: string }

/** Shares of the effective window at which staged summaries are used, and at which the next request waits for one. */
export const commitAt = 0.9
export const waitAt = 0.95

export function collapseState({ size, effectiveWindow }: Explanation): 'idle' | 'commit' | 'wait' {
  const share = size.tokens / effectiveWindow.value
  return share >= waitAt ? 'wait' : share >= commitAt ? 'commit' : 'idle'
}

export function collapse(staged: readonly Staged[]): PlanningMechanism {
  const name = 'collapse'
  return {
    name,
    plan: (view, situation) => {
      const { explanation } = situation
      if (collapseState(explanation) === 'idle') {
        const at = formatNumber(Math.ceil(explanation.effectiveWindow.value * commitAt))
        const detail = `${formatNumber(explanation.size.tokens)} tokens; staged summaries are used from ${at} on.`
        return declined(name, 'below-commit', detail)
      }
      const parts = partsOf(view)
      const replacements = staged.flatMap(({ from, to, text }) => {
        const start = parts.findIndex(({ uuid }) => uuid === from)
        const own = start < 0 ? [] : parts.slice(start, parts.findIndex(({ uuid }) => uuid === to) + 1)
        // The span is not in the view as it was, or something in it was pinned.
        if (own.length === 0 || own.some(({ isPinned }) => isPinned)) return []
        return replacementOf(view, situation, { parts: own, text: () => text, why: 'a finished span' })
      })
      if (replacements.length === 0)
        return declined(name, 'nothing-to-do', 'No staged summary is smaller than its span.')
      return planRanges(view, situation, {
        mechanism: name,
        reason: 'finished spans have summaries of their own',
        parts,
        replacements,
        editOf: (range) => ({ type: 'replace-range', ...range, mechanism: name }),
      })
    },
  }
}

/** From something a person asked to the answer that ends it. */
export type Span = {
  readonly from: string
  readonly to: string
  readonly parts: readonly Part[]
  readonly tokens: number
}

const leastSpan = 2_000

/** Oldest first; none with anything pinned or with a summary. The newest one is not finished. */
export function finishedSpans(view: View, weigher: Weigher, least: number = leastSpan): readonly Span[] {
  const parts = partsOf(view)
  const turns = turnsOf(parts, ({ origin }) => isRequest(origin)).slice(0, -1)
  return turns.flatMap(({ start, end }): readonly Span[] => {
    const own = parts.slice(start, end)
    const [first, last] = [own[0], own.at(-1)]
    if (first?.uuid === undefined || last?.uuid === undefined) return []
    const isPlain = own.every(({ isPinned, origin }) => !isPinned && origin !== 'summary')
    const isAlone = parts[start - 1]?.at !== first.at && parts[end]?.at !== last.at
    if (!isRequest(first.origin) || last.role !== 'assistant' || !isPlain || !isAlone) return []
    const tokens = own.reduce((sum, { piece }) => sum + weigher.message(piece), 0)
    return tokens < least ? [] : [{ from: first.uuid, to: last.uuid, parts: own, tokens: Math.round(tokens) }]
  })
}

export type StageInput = {
  readonly span: Span
  readonly client: ModelClient
  readonly model: string
  readonly countTokens: (text: string) => number
  readonly signal?: AbortSignalPort | undefined
}

export type Staging =
  | { readonly type: 'staged'; readonly staged: Staged; readonly usage: TokenCounts }
  | { readonly type: 'failed'; readonly reason: string; readonly usage: TokenCounts }

const mostOutput = 1_500
const mostSteps = 10
const longestStep = 160
const longestRequest = 2_000
const longestAnswer = 1_500

/** Summarizes one finished span, with or without a model. What the person asked stays verbatim. */
export async function stageCollapse(input: StageInput): Promise<Staging> {
  const { span, client, model, countTokens, signal } = input
  if (client.capabilities(model).offline) return stagedAs(input, offlineSummary(input), noTokens)
  const { messages } = repairRequest(
    span.parts.map(({ role, content }) => ({ role, content })),
    { thinking: 'strip-all' },
  )
  const answer = await client.send(
    {
      source: 'collapse',
      model,
      system: collapseSystem,
      messages: [...messages, { role: 'user', content: collapsePrompt }],
      maxTokens: mostOutput,
    },
    defined({ signal }),
  )
  if (answer.type === 'failed') return { type: 'failed', reason: answer.message, usage: noTokens }
  const usage = billedCounts(answer.usage)
  const text = textOf(answer.content).trim()
  if (text === '') return { type: 'failed', reason: 'The answer holds no text.', usage }
  if (countTokens(text) > span.tokens / 2) {
    return { type: 'failed', reason: 'The summary is more than half as long as the span.', usage }
  }
  return stagedAs(input, text, usage)
}

function stagedAs({ span }: StageInput, summary: string, usage: TokenCounts): Staging {
  const { from, to, parts } = span
  const asked = parts
    .filter(({ origin }) => isRequest(origin))
    .map(({ uuid, content }) => cutMiddle(textOf(content), uuid))
  return { type: 'staged', staged: { from, to, text: collapsedText(asked, summary) }, usage }
}

/** A long text keeps head and tail, and says where the whole is. */
function cutMiddle(text: string, uuid: string | undefined): string {
  const whole = uuid === undefined ? 'in the transcript' : `at ${recallPointer(uuid)}`
  const marker = (missing: number) => `\n[… ${missing} characters left out: the whole text is ${whole} …]\n`
  return withoutMiddle(text, { most: longestRequest, headShare: 0.5, marker })
}

function offlineSummary({ span }: StageInput): string {
  const book = createLedger()
  for (const { piece } of span.parts) book.add(piece)
  const last = book.ledger().exchanges.at(-1)
  const steps = (last?.steps ?? []).filter(({ type }) => type === 'did').slice(-mostSteps)
  return [condensed(last?.report ?? '', longestAnswer), ...steps.map(({ text }) => `- ${condensed(text, longestStep)}`)]
    .filter((part) => part !== '')
    .join('\n')
}
