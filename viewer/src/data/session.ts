// Everything that the page shows of one session. Parts are computed on first use, because a large session must open quickly.
import { ConfigurationError, type Environment } from 'everlong'
import { createScanner, objectAt, readEdit, type Scan } from 'everlong/internal'
import { explainTranscript, lostIn, type Transcript } from 'everlong/internal/compaction'
import { alternativeTo } from './alternative.ts'
import type {
  Alternative,
  CompactionData,
  CompactionRow,
  Gauge,
  LostData,
  SessionData,
  SessionRow,
  WindowData,
} from './api.ts'
import { compactionData } from './compaction.ts'
import { type Conversation, createConversation } from './conversation.ts'
import { createTitleBook, parsed, sessionFacts } from './facts.ts'
import { lostItem } from './lost-item.ts'
import { windowOverTime } from './window.ts'

export type SessionView = {
  readonly transcript: Transcript
  readonly conversation: Conversation
  readonly data: () => SessionData
  readonly lost: () => LostData
  readonly window: () => WindowData
  /** Undefined if there is no such compaction. */
  readonly compaction: (number: number) => CompactionData | undefined
  /** What Everlong would have left. */
  readonly alternative: (number: number) => Promise<Alternative | undefined>
}

export type SessionSource = {
  readonly row: Omit<SessionRow, 'facts' | 'trouble'>
  readonly transcript: Transcript
  /** The transcript before an entry. */
  readonly before: (uuid: string) => Transcript
  readonly env: Environment
  readonly now: () => number
  readonly newId: () => string
}

export function createSessionView(source: SessionSource): SessionView {
  const { transcript } = source
  const conversation = createConversation(transcript)
  const scan = once(() => scanOf(transcript))
  const lost = once(() => lostIn(transcript.entries))
  const compactions = once(() => compactionRows(scan(), transcript, conversation))
  const known = new Map<number, CompactionData>()
  const rowOf = (number: number) => compactions().find((row) => row.number === number)
  return {
    transcript,
    conversation,
    data: once(() => ({
      row: { ...source.row, facts: factsOf(transcript, scan()), trouble: null },
      ...gaugeOf(source),
      items: conversation.count,
      types: conversation.types(),
      epochs: conversation.epochs,
      compactions: compactions(),
    })),
    lost: once(() => lostData(lost(), conversation)),
    window: once(() => windowOverTime(transcript, conversation)),
    compaction: (number) => {
      const row = rowOf(number)
      if (row === undefined) return undefined
      const data = known.get(number) ?? compactionData({ row, transcript, conversation, scan: scan(), lost: lost() })
      known.set(number, data)
      return data
    },
    alternative: async (number) => {
      const row = rowOf(number)
      return row && alternativeTo(source.before(row.uuid), { ...source, entries: transcript.entries, row })
    },
  }
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function scanOf({ entries }: Transcript): Scan {
  const scanner = createScanner()
  for (const entry of entries) scanner.add(entry)
  return scanner.finish()
}

type Lost = ReturnType<typeof lostIn>

function lostData({ compactions, facts, unverified, unknown }: Lost, conversation: Conversation): LostData {
  const numbers = (isWanted: (one: Lost['compactions'][number]) => boolean) =>
    compactions.filter(isWanted).map(({ number }) => number)
  return {
    facts: facts.map((fact) => lostItem(fact, conversation)),
    doubts: unverified,
    unknown: unknown ?? null,
    undone: numbers(({ isUndone }) => isUndone),
    unreadable: numbers(({ isReadable }) => !isReadable),
  }
}

function factsOf({ entries, format }: Transcript, scan: Scan) {
  const titles = createTitleBook()
  for (const entry of entries) titles.add(entry)
  return sessionFacts({ scan: { ...scan, format, salvaged: 0 }, titles: titles.found(), lost: null })
}

function gaugeOf({ transcript, env }: SessionSource): Pick<SessionData, 'gauge' | 'trouble'> {
  try {
    const explanation = explainTranscript(transcript, { env })
    const { model, size, state, percentLeft, warnings } = explanation
    const gauge: Gauge = {
      model: model ?? null,
      window: explanation.contextWindow.value,
      ...{ size, state, percentLeft, warnings },
      isAutoCompactOn: explanation.autoCompact.mode !== false,
      marks: {
        warning: explanation.warning.value,
        autoCompact: explanation.autoCompactThreshold.value,
        blocking: explanation.blocking.value,
        effectiveWindow: explanation.effectiveWindow.value,
      },
    }
    return { gauge, trouble: null }
  } catch (error) {
    if (error instanceof ConfigurationError) return { gauge: null, trouble: error.message }
    throw error
  }
}

function compactionRows(
  { epochs }: Scan,
  transcript: Transcript,
  conversation: Conversation,
): readonly CompactionRow[] {
  const undo = undoOf(transcript)
  return epochs.flatMap(({ number, openedBy }): readonly CompactionRow[] => {
    if (openedBy === undefined) return []
    const { uuid, line, trigger, time, tokensBefore, tokensAfter, durationMs, kept, summary } = openedBy
    return [
      {
        ...{ number, uuid, line, trigger, kept },
        item: conversation.epochs[number] ?? 0,
        time: parsed(time) ?? null,
        tokensBefore: tokensBefore ?? null,
        tokensAfter: tokensAfter ?? null,
        milliseconds: durationMs ?? null,
        summaryCharacters: summary?.characters ?? null,
        isUndone: openedBy.isUndone === true,
        undo: undo(uuid, openedBy.isUndone === true),
      },
    ]
  })
}

/** Other agents do not know undos, so only compactions that Everlong wrote can be undone. */
function undoOf({ entries, entry }: Transcript): (uuid: string, isUndone: boolean) => string | null {
  const undos = new Map<string, string>()
  for (const { record } of entries) {
    const edit = readEdit(record)
    if (edit?.type === 'undo' && typeof record.uuid === 'string') undos.set(edit.uuid, record.uuid)
  }
  return (uuid, isUndone) => {
    if (objectAt(entry(uuid)?.record, 'everlong') === undefined) return null
    return isUndone ? (undos.get(uuid) ?? null) : uuid
  }
}
