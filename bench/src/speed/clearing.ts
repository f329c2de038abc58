// Making a conversation smaller without a model, and folding a session's records into what is sent.

import { createFold, editRecord, type Fold, foldEntries } from 'everlong/internal'
import { createWeigher, type SituationInput, situationOf, type Weigher } from 'everlong/internal/compaction'
import { microBySize, type View } from 'everlong/mechanisms'
import { prune } from '../peers/ai-sdk.ts'
import { clearToolUses, countTokensApproximately, trimMessages } from '../peers/langchain.ts'
import { tokenLimiter } from '../peers/mastra.ts'
import { loadPi } from '../peers/pi.ts'
import type { Contest, Work } from './contest.ts'
import { conversation, inAiSdk, inLangChain, inPi, longestSession } from './conversations.ts'

const model = 'claude-opus-4-8'

export const clearing: Contest = {
  name: 'clearing',
  what: 'Old tool results go, the newest stay: from the conversation to the messages that are sent.',
  contestants: [
    { name: 'Everlong, in a running session', side: 'ours', ready: (size) => clearingIn(size, 'running') },
    {
      name: 'Everlong, at first sight',
      side: 'ours',
      ready: (size) => clearingIn(size, 'first sight'),
    },
    {
      name: 'LangChain, ClearToolUsesEdit',
      side: 'peer',
      ready: (size) => {
        const list = inLangChain(size)
        return { run: () => clearToolUses([...list], { trigger: 1 }) }
      },
    },
    {
      name: 'AI SDK, pruneMessages',
      side: 'peer',
      ready: (size) => {
        const list = inAiSdk(size)
        return { run: () => prune(list) }
      },
    },
  ],
}

function clearingIn(size: number, when: 'running' | 'first sight'): Work {
  const { entries } = conversation(size)
  const fold = createFold()
  for (const entry of entries) fold.add(entry)
  let changes = 0
  const place = () => ({
    uuid: `change-${changes++}`,
    parentUuid: null,
    timestamp: '2026-03-02T10:00:00.000Z',
    sessionId: 's',
  })
  const position = { line: 0, offset: 0, length: 0, nth: 0 }
  // As a session keeps it, and its own: one that follows two sessions by turns reads both again each time.
  const kept = createWeigher({ model })
  // In a running session everything but the newest was weighed by the requests before.
  const settle = () => (when === 'running' ? planOf(fold.view(), kept) : fold.view())
  settle()
  let edit = ''
  return {
    run: () => {
      const plan = planOf(fold.view(), when === 'running' ? kept : createWeigher({ model }))
      if (plan.type !== 'reduced') throw new Error(`Nothing was planned: ${JSON.stringify(plan).slice(0, 300)}`)
      edit = addEdits(fold, plan.edits, { place, position })
      return fold.view().messages.length
    },
    after: () => {
      fold.add({ record: editRecord({ type: 'undo', uuid: edit }, place()), position })
      // Weighed again, since taking an edit back makes its messages anew, and no session does that each turn.
      settle()
    },
  }
}

type Writing = {
  readonly place: () => Parameters<typeof editRecord>[1]
  readonly position: Parameters<Fold['add']>[0]['position']
}

function addEdits(
  fold: Fold,
  edits: readonly Parameters<typeof editRecord>[0][],
  { place, position }: Writing,
): string {
  let last = ''
  for (const edit of edits) {
    const record = editRecord(edit, place())
    last = String(record.uuid)
    fold.add({ record, position })
  }
  return last
}

function planOf(view: View, weigher: Weigher) {
  const now = (view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0) + 1
  const input: SituationInput = {
    model,
    weigher,
    now,
    window: longestSession,
    settings: { contextWindow: 40_000 },
    // As the others do it: whatever it costs in cache.
    reductions: { microCompact: 'always', weigh: false, bySize: { keep: 3, target: 1, minFreed: 1 } },
  }
  return microBySize.plan(view, situationOf(view, input))
}

export const fitting: Contest = {
  name: 'fitting',
  what: 'What does not fit into half of the conversation goes: oldest messages there, all old tool results here.',
  contestants: [
    { name: 'Everlong, in a running session', side: 'ours', ready: (size) => clearingIn(size, 'running') },
    {
      name: 'LangChain, trimMessages',
      side: 'peer',
      ready: (size) => {
        const list = inLangChain(size)
        const maxTokens = Math.floor(countTokensApproximately(list) / 2)
        return {
          run: () => trimMessages(list, { maxTokens, strategy: 'last', tokenCounter: countTokensApproximately }),
        }
      },
    },
    {
      name: 'Mastra, TokenLimiter',
      side: 'peer',
      ready: async (size) => {
        const limit = Math.floor(countTokensApproximately(inLangChain(size)) / 2)
        const limiter = await tokenLimiter(limit)
        const prompt = inAiSdk(size)
        return { run: () => limiter.processLLMRequest({ prompt }) }
      },
    },
  ],
}

export const folding: Contest = {
  name: 'folding',
  what: 'From the records of a session, in memory, to the messages that are sent.',
  contestants: [
    {
      name: 'Everlong, foldEntries',
      side: 'ours',
      ready: (size) => {
        const { entries } = conversation(size)
        return { run: () => foldEntries(entries).messages.length }
      },
    },
    {
      name: 'pi, buildSessionContext',
      side: 'peer',
      ready: async (size) => {
        const { buildSessionContext } = await loadPi()
        const entries = inPi(size)
        return { run: () => buildSessionContext(entries).messages.length }
      },
    },
  ],
}
