// Shortens tool results that no answer has seen yet when the context is full. The model would request a result that it
// never saw again and again, so it is neither cleared nor summarized.

import { shortenResults } from '../mechanisms/shorten.ts'
import type { Tried } from '../ports/events.ts'
import { type Desk, situationIn, withSize } from '../session/desk.ts'
import { targetShare } from '../session/settings.ts'
import { withFreed } from './compaction.ts'

/** Of what a compaction must get below: the rest is for its summary. */
const unseenShare = 0.5

/** What was shortened, if anything had to be. */
export function shortenUnseen(desk: Desk): readonly Tried[] {
  const view = desk.conversation.view()
  const situation = situationIn(desk, view)
  const { size, autoCompactThreshold } = situation.explanation
  const room = autoCompactThreshold.value * targetShare(desk.settings) * unseenShare
  const { name: mechanism, plan } = shortenResults({ room })
  const planned = plan(view, situation)
  if (planned.type === 'declined' || planned.outcome.type !== 'edits') return []
  desk.conversation.edit(withSize(desk, withFreed(planned.outcome.edits, planned.freed)))
  // Nothing of it was in a request yet: the cached prefix is what it was.
  desk.tracking = { ...desk.tracking, changes: desk.tracking.changes + 1 }
  const after = situationIn(desk, desk.conversation.view()).explanation.size.tokens
  const results = planned.items.length
  desk.emit({ type: 'micro-compacted', mechanism, results, tokensBefore: size.tokens, tokensAfter: after })
  return [{ mechanism, outcome: 'done', why: `shortened ${results}, freed ${planned.freed} tokens` }]
}
