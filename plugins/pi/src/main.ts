// The extension: what pi calls, and when. pi keeps deciding when to compact; nothing runs in the background.

import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from 'everlong/internal'
import { compactionOff } from 'everlong/internal/compaction'
import { countGivenBack } from 'everlong/internal/node'
import { givenBackLine } from '../../shared/given-back.ts'
import type { Sent } from './cached-prompt.ts'
import { completionsOf, usageText } from './command-words.ts'
import { compactForPi } from './compaction.ts'
import { gaugeText, short } from './gauge.ts'
import { lostText } from './lost.ts'
import { clearingEdits, microMode } from './micro.ts'
import type { BoundaryEvent, CommandContext, CompactEvent, Context, Pi } from './pi-api.ts'
import { createRecall, recallName } from './recall.ts'
import { compactionSettings } from './session.ts'
import { undoLast } from './undo.ts'

// pi loads the default export of an extension.
export default function everlong(pi: Pi): void {
  if (typeof pi.getSettings !== 'function') {
    sayTooOld(pi)
    return
  }
  const recall = createRecall()
  let sent: Sent | undefined
  const settingsIn = ({ model }: Context) => compactionSettings(pi.getSettings(), model)
  const hasRecall = ({ sessionManager }: Context) =>
    pi.getActiveTools().includes(recallName) && sessionManager.getSessionFile() !== undefined
  const showGauge = (_: unknown, context: Context) => {
    if (context.hasUI) context.ui.setStatus('everlong', gaugeText(context, settingsIn(context)))
  }
  const remember = ({ context }: BoundaryEvent, { model }: Context) => {
    sent = model && { context, model: model.id, time: Date.now() }
  }

  /** After it the context may be another one, which the provider has not cached. */
  const startOver = (event: unknown, context: Context) => {
    sent = undefined
    showGauge(event, context)
  }

  pi.registerTool(recall.tool)
  registerCommands(pi, recall.search)
  pi.on('session_start', startOver)
  pi.on('session_tree', startOver)
  pi.on('model_select', showGauge)
  pi.on('agent_settled', showGauge)
  pi.on('session_before_compact', (event, context) => {
    if (compactionOff({ environment: process.env }) !== undefined) return undefined
    return compactForPi(event, { context, sent, recall: hasRecall(context) })
  })
  pi.on('session_compact', (event, context) => {
    startOver(event, context)
    // pi draws the conversation again right after this, which would remove it.
    if (event.fromExtension && context.hasUI) setTimeout(() => context.ui.notify(compactedText(event)), drawnMs)
  })
  pi.on('turn_end', (event, context) => {
    const { model } = context
    remember(event, context)
    showGauge(event, context)
    // Between the turns of one run only: after the last one the next prompt may be far away.
    if (!model || event.outcome !== 'completed' || event.toolResults.length === 0) return undefined
    const edits = clearingEdits({
      ...{ context, model, settings: settingsIn(context), mode: microMode(process.env) },
      ...{ recall: hasRecall(context), now: Date.now() },
    })
    return edits.length === 0 ? undefined : { entries: [...event.entries, ...edits] }
  })
  pi.on('agent_before_settle', (event, context) => {
    remember(event, context)
    return undefined
  })
  pi.on('session_shutdown', recall.close)
}

/** An older pi lacks what the extension calls, and would report an error at every turn. */
function sayTooOld(pi: Pick<Pi, 'on'>): void {
  pi.on('session_start', (_, context) => {
    if (context.hasUI) context.ui.notify('Everlong is not active: it needs pi 1.5 or later.')
  })
}

function registerCommands(pi: Pi, search: (words: string, context: Context) => string): void {
  pi.registerCommand('everlong', {
    description: 'context | lost: what compactions lost | recall WORDS | undo the last compaction or clearing',
    getArgumentCompletions: (prefix) => completionsOf(prefix).map((word) => ({ value: word, label: word })),
    handler: async (typed, context) => context.ui.notify(await answer(typed.trim(), context)),
  })
  const answer = async (typed: string, context: CommandContext): Promise<string> => {
    const [command = '', ...rest] = typed.split(/\s+/)
    if (command === '' || command === 'context') {
      return gaugeText(context, compactionSettings(pi.getSettings(), context.model)) ?? 'No model is chosen yet.'
    }
    if (command === 'lost') return lostText(context)
    if (command === 'undo') return undoLast(context, () => pi.appendEntry('everlong-undo'))
    if (command === 'recall' && rest.length > 0) return search(rest.join(' '), context)
    return usageText
  }
}

const drawnMs = 200

/** Sizes as pi counts them; of the size after, only its share is known. */
function compactedText({ compactionEntry }: CompactEvent): string {
  const everlong = objectAt(objectAt(compactionEntry, 'details'), 'everlong')
  const compaction = objectAt(everlong, 'compaction')
  const { before = 1, after = 1 } = (objectAt(compaction, 'tokens') ?? {}) as { before?: number; after?: number }
  const size = numberAt(compactionEntry, 'tokensBefore') ?? before
  const sizes = `Compacted: ${short(size)} → ${short((size * after) / before)} tokens`
  // Then all of it is what code found.
  if (stringAt(compaction, 'mechanism') === 'offline')
    return `${sizes}. The summary was written by code: /everlong lost`
  const given = countGivenBack(stringAt(compactionEntry, 'summary') ?? '')
  const line = givenBackLine({ ...given, doubts: doubtsIn(objectAt(compaction, 'fidelity')) }, '/everlong lost')
  return `${sizes}. ${line ?? 'The summary was checked, and nothing had to be added: /everlong lost'}`
}

/** They are marked where they are said. */
function doubtsIn(fidelity: JsonObject | undefined): number {
  return ['falseQuotes', 'inferredApprovals', 'contradicted'].flatMap((key) => arrayAt(fidelity, key)).length
}
