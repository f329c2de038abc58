// Shortens tool results that no answer has seen yet when the context is full. The model would request a result that it
// never saw again and again, so it is neither cleared nor summarized.
import { shortenResults } from '../mechanisms/shorten.ts'
import type { Tried } from '../ports/events.ts'
import { type Runtime, writeReduction } from '../session/runtime.ts'
import { targetShare } from '../session/settings.ts'

/** Of the target of a compaction; the rest is for the summary. */
const unseenShare = 0.5

/** Returns what was shortened, if anything had to be. */
export function shortenUnseen(runtime: Runtime): readonly Tried[] {
  const { conversation, gauge, tracker, settings, ports } = runtime
  const view = conversation.view()
  const situation = gauge.situation(view)
  const { size, autoCompactThreshold } = situation.explanation
  const room = autoCompactThreshold.value * targetShare(settings) * unseenShare
  const { name: mechanism, plan } = shortenResults({ room })
  const planned = plan(view, situation)
  if (planned.type === 'declined' || planned.outcome.type !== 'edits') return []
  const { freed, items, outcome } = planned
  writeReduction(runtime, { edits: outcome.edits, freed })
  tracker.tailChange()
  const results = items.length
  const sizes = { tokensBefore: size.tokens, tokensAfter: gauge.size().tokens }
  ports.emit({ type: 'micro-compacted', mechanism, results, ...sizes })
  return [{ mechanism, outcome: 'done', why: `shortened ${results}, freed ${freed} tokens` }]
}
