// How much of what an agent needed after each recorded compaction the ledger holds: recall of atoms at fixed budgets,
// alone and beside the human's messages, against what the recorded compaction left.
import { createLedger, estimateTokens, type Ledger, renderLedger } from 'everlong'
import { messagesOf } from 'everlong/transcript'
import { atomsOf } from './atoms.ts'
import { type Case, shownIn } from './cases.ts'

/** The estimator counts another maker's vocabulary; this is how much more the models at hand use. */
export const countTokens = (text: string) => Math.ceil(estimateTokens(text) * 1.25)

export type Measured = {
  readonly name: string
  readonly needed: number
  readonly recorded: { readonly tokens: number; readonly recall: number }
  readonly humanTokens: number
  /** By budget: the ledger alone. */
  readonly alone: readonly number[]
  /** By budget: the human's messages word for word and the ledger in the rest. */
  readonly beside: readonly number[]
  /** Human messages and ledger at half of the recorded tokens, and at all of them. */
  readonly half: number
  readonly whole: number
}

export const budgets = [2000, 4000, 8000, 16_000]

export function measure(found: Case): Measured {
  const messages = messagesOf(found.before)
  const had = atomsOf(messages.map(shownIn).join('\n'))
  const needed = [...atomsOf(found.written)].filter((atom) => had.has(atom))
  const recall = (context: string) =>
    needed.filter((atom) => context.includes(atom)).length / Math.max(1, needed.length)
  const human = messages
    .filter(({ origin }) => origin === 'human')
    .map(shownIn)
    .join('\n\n')
  const left = messagesOf(found.left).map(shownIn).join('\n')
  const ledger = ledgerOf(found)
  const beside = (budget: number) => {
    const rest = budget - countTokens(human)
    return recall(`${human}\n${rest > 0 ? renderLedger(ledger, { budget: rest, countTokens, shown: human }) : ''}`)
  }
  const recorded = countTokens(left)
  return {
    name: found.name,
    needed: needed.length,
    recorded: { tokens: recorded, recall: recall(left) },
    humanTokens: countTokens(human),
    alone: budgets.map((budget) => recall(renderLedger(ledger, { budget, countTokens }))),
    beside: budgets.map(beside),
    half: beside(recorded / 2),
    whole: beside(recorded),
  }
}

export function ledgerOf(found: Case): Ledger {
  const book = createLedger()
  for (const entry of found.before) {
    const [message] = messagesOf([entry])
    if (message) book.add(message, entry.record)
  }
  return book.ledger()
}
