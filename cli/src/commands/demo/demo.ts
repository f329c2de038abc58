// `everlong demo`: the loop works on a made-up repository against the simulated API with a small window, and a person sees what
// the engine does. Real requests, a real transcript; no key, no network.

import { resolve } from 'node:path'
import { textOf } from 'everlong/internal'
import type { PurposeUsage } from 'everlong/internal/compaction'
import type { Io } from '../../io.ts'
import { gathered, type Outcome } from '../../outcome.ts'
import { programName } from '../../render/shell.ts'
import { createChronicle } from './acts.ts'
import { createBoard } from './board.ts'
import { endingLines, openingLines } from './frame.ts'
import { progressLine } from './lines.ts'
import { createPace } from './pace.ts'
import { placeIn } from './place.ts'
import { type Stage, setStage } from './stage.ts'
import { playStory, type Show } from './story.ts'
import { rule } from './words.ts'

export type DemoOptions = {
  readonly fast?: boolean
  /** Folder of the session. */
  readonly folder?: string
}

export async function demo({ fast = false, folder }: DemoOptions, io: Io): Promise<Outcome<undefined>> {
  const { cwd, now, newId, onStop } = io
  const place = placeIn(folder === undefined ? undefined : resolve(cwd, folder))
  if (place.type === 'failed') return place
  const board = createBoard(io)
  const stopping = new AbortController()
  const release = onStop?.(() => stopping.abort())
  const isSlow = board.isLive && !fast
  try {
    const ports = { now, ...(newId ? { newId } : {}) }
    const stage = await setStage({ isSlow, transcript: place.report, ports })
    const { signal } = stopping
    await play({ stage, board, signal, chronicle: createChronicle(), pace: createPace(isSlow, signal) }, io)
    return gathered(undefined)
  } finally {
    board.end()
    release?.()
  }
}

async function play(show: Show, io: Io): Promise<void> {
  const { stage, board, chronicle, signal } = show
  const { session, transcript } = stage
  const { now } = io
  const started = now()
  session.on((event) => {
    chronicle.onEvent(event, session.explain())
    if (event.type === 'compaction-progressed') board.live((screen) => progressLine(event, screen))
  })
  try {
    board.print((screen) => openingLines(stage, screen))
    await playStory(show)
    board.end()
    const figures = { ...figuresOf(stage), durationMs: now() - started }
    const program = programName(io)
    const ending = { ...figures, transcript, program, seen: chronicle.seen(), isStopped: signal.aborted }
    board.print((screen) => endingLines(ending, screen))
  } finally {
    await stage.close()
  }
}

function figuresOf({ session }: Stage) {
  const { turn, ...own } = session.spent()
  const ownLines = Object.values(own)
  const lines = [turn, ...ownLines]
  const isRuleThere = session.messages().some(({ content }) => textOf(content).includes(rule))
  return {
    requests: lines.reduce((sum, { requests }) => sum + requests, 0),
    cost: costOf(lines),
    ownCost: costOf(ownLines),
    rule: isRuleThere ? rule : undefined,
  }
}

function costOf(lines: readonly PurposeUsage[]): number {
  return lines.reduce((sum, { cost = 0 }) => sum + cost, 0)
}
