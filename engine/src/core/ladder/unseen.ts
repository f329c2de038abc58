// Tool results that no answer has seen yet, when the context is full: they are shortened in their place, and no compaction
// takes them. A result that the model asked for and never saw is one that it asks for again, without end.
import { shortenResults, unseenResults } from '../mechanisms/shorten.ts'
import { type Desk, situationIn, withSize } from '../session/desk.ts'
import { targetShare } from '../session/settings.ts'
import { withFreed } from './compaction.ts'
import type { Rung, RungContext, Tried } from './rung.ts'

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

/** A rung that summarizes, without the results that are yet to be seen and the answer that asked for them. */
export function keepingUnseen(rung: Rung): Rung {
  return {
    name: rung.name,
    run: async (context) => {
      // They come last, so whatever is summarized from some message on takes them along.
      if (context.range.from !== undefined && unseenResults(context.view) !== undefined) {
        return { type: 'declined', why: notYetSeen }
      }
      return rung.run({ ...context, range: rangeWithoutUnseen(context) })
    },
  }
}

const notYetSeen =
  'The model has not seen the newest tool results yet, and they would be summarized: send the request first, or compact up to a message instead.'

/** Of the target, or of the size where that is less: recovery keeps that much of the newest rounds by itself. */
const keptInRecovery = 0.25

function rangeWithoutUnseen({ view, range, cause, target, size, situation }: RungContext): RungContext['range'] {
  const unseen = unseenResults(view)
  if (unseen === undefined || range.from !== undefined) return range
  const named = view.sources.findIndex(({ uuids }) => range.upTo !== undefined && uuids.includes(range.upTo))
  if (range.upTo !== undefined && named < unseen) return range
  const round = view.messages.slice(unseen - 1)
  const weight = round.reduce((sum, message) => sum + situation.weigher.message(message), 0)
  if (cause === 'overflow' && weight <= Math.min(target, size.tokens) * keptInRecovery) return range
  const upTo = view.sources[unseen - 1]?.uuids[0]
  return upTo === undefined ? range : { upTo }
}
