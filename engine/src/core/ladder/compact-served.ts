// What the provider's own compaction wrote, kept as it came, and what code says beside it. The block may only be sent
// back unchanged, to the model that signed it; everybody else reads the summary as text.
import { modelFacts } from '../catalog/models.ts'
import { renderLedger } from '../ledger/render.ts'
import { type Block, isBlock } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import type { ModelClient } from '../ports/model.ts'
import { frameOf } from '../summary/frame.ts'
import { doubtsOpening } from '../summary/marks.ts'
import { continuation, type FitInput, type Fitted, textCounter } from './compact-fit.ts'
import { withTyped } from './compact-given.ts'
import type { Prose } from './compact-prose.ts'

/** On the summary's record, beside its text. */
export type Served = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Stands behind the block, in the place of the summary's text. */
  readonly beside: string
}

const intro =
  'The summary itself stands before this message, as the provider wrote it. What follows was read off the conversation by code; where the two differ, this holds.'

/** Of the room that the text of the summary leaves beside the block: less and less for what people typed. */
const shares = [1, 0.5, 0.25] as const
const leastFacts = 100

/** Undefined where the model wrote no block, or what has to stand beside it finds no room. */
export function servedBy(fit: FitInput, prose: Prose, fitted: Fitted): Omit<Served, 'provider'> | undefined {
  const { block, model } = prose
  if (block === undefined || model === undefined || fitted.isOffline) return undefined
  const { input, settings, parts, kept, ledger } = fit
  const countTokens = textCounter(input.counting)
  const room = countTokens(fitted.summary) - countTokens(stringAt(block, 'content') ?? '')
  const words = (given: readonly string[], frame: ReturnType<typeof frameOf>) =>
    continuation(fit, withTyped(given.filter((part) => part !== '').join('\n\n'), frame), { isShort: false })
  for (const share of shares) {
    const frame = frameOf(
      { messages: parts.summarised, ledger, kept },
      {
        budget: 2 * Math.min(settings.humanTokens, Math.floor(room * share)),
        humanBudget: settings.humanTokens,
        countTokens,
        recall: input.recall === true,
      },
    )
    const bare = [intro, ...corrections(fitted.report)]
    const shown = words(bare, frame)
    const left = Math.min(settings.ledgerTokens, room - countTokens(shown))
    const facts = left < leastFacts ? '' : renderLedger(ledger, { budget: left, countTokens, shown })
    const beside = words([...bare, facts], frame)
    if (countTokens(beside) <= room) return { model, block, beside }
    if (countTokens(shown) <= room) return { model, block, beside: shown }
  }
  return undefined
}

/** What would be mended in a text is said beside a block, which nobody may change. */
function corrections({ falseQuotes, inferredApprovals, unsupported }: FidelityReport): readonly string[] {
  const quoted = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join(', ')
  return [
    ...(falseQuotes.length === 0 ? [] : [`Quoted there, and never said by the user: ${quoted(falseQuotes)}`]),
    ...(inferredApprovals.length === 0
      ? []
      : [`Told there, and borne out by no words of the user: ${quoted(inferredApprovals)}`]),
    ...(unsupported.length === 0 ? [] : [`${doubtsOpening} ${unsupported.join(', ')}`]),
  ]
}

/** What a summary's record holds for whoever asks this model of this client; undefined when text is what it gets. */
export function servedIn(record: JsonObject | undefined, client: ModelClient, model: string): Served | undefined {
  const served = objectAt(objectAt(record, 'everlong'), 'served')
  const [provider, by, beside] = [stringAt(served, 'provider'), stringAt(served, 'model'), stringAt(served, 'beside')]
  const block = served?.block
  if (provider === undefined || by === undefined || beside === undefined || !isBlock(block)) return undefined
  const isSame = by === model || (modelFacts(by) !== undefined && modelFacts(by) === modelFacts(model))
  if (provider !== client.provider || !isSame) return undefined
  return client.capabilities(model).compaction === 'on-demand' ? { provider, model: by, block, beside } : undefined
}
