// The new context around a summary that was there already: its words stay as they are, and what people typed stands
// behind them word for word, as far as there is room. Sends nothing and writes nothing.
import { type Frame, frameOf } from '../summary/frame.ts'
import { inWords } from '../tokens/figure.ts'
import {
  continuation,
  type FitInput,
  type Fitted,
  type NotFitted,
  newMessages,
  textCounter,
  tokensOf,
} from './compact-fit.ts'

/** Of the room for what people typed: less and less, until it fits. */
const shares = [1, 0.5, 0.25, 0] as const

export function fitGiven(fit: FitInput, given: string): Fitted | NotFitted {
  const { input, settings, parts, kept, ledger, most } = fit
  const countTokens = textCounter(input.counting)
  const sizeWith = (summary: string) => tokensOf(newMessages(parts, { kept, summary, rest: [] }), input.counting)
  const alone = sizeWith(continuation(fit, given, { isShort: false }))
  for (const share of shares) {
    const room = Math.floor(Math.max(0, most - alone) * share)
    // A frame gives half of its budget to what people typed.
    const budget = 2 * Math.min(settings.humanTokens, room)
    const frame = frameOf(
      { messages: parts.summarised, ledger, kept },
      { budget, humanBudget: settings.humanTokens, countTokens, recall: input.recall === true },
    )
    const text = share === 0 ? given : withTyped(given, frame)
    const summary = continuation(fit, text, { isShort: false })
    if (sizeWith(summary) > most) continue
    return { text, tokens: countTokens(text), report: reportOf(frame, share > 0), summary, isOffline: false }
  }
  const detail = `With it the context would have ${inWords(alone)} tokens, and ${inWords(most)} are allowed.`
  return { type: 'too-large', detail }
}

/** A summary, and behind it what people typed. */
export function withTyped(given: string, { said, rules, end }: Frame): string {
  return [
    given,
    ...(said.length === 0 ? [] : ['# What the user typed, word for word', said.join('\n')]),
    ...(rules.length === 0 ? [] : ['# Standing constraints, in the user’s words', rules.join('\n')]),
    ...(end === '' ? [] : [end]),
  ].join('\n\n')
}

function reportOf({ counts }: Frame, hasTyped: boolean): Fitted['report'] {
  const { total } = counts
  return {
    humanMessages: hasTyped ? { ...counts, putIn: total } : { total, verbatim: 0, shortened: 0, putIn: 0 },
    falseQuotes: [],
    inferredApprovals: [],
    unsupported: [],
    missingSections: [],
    ledgerTokens: 0,
  }
}
