// `everlong memory`: shows the notes next to a session. If there are none, it drafts them without a model; --write saves the draft.
// Existing notes are never overwritten.

import { count, oneLine, visible } from '@everlong/agent/render'
import { countTokens, offline } from 'everlong'
import { afterExtraction, type Extraction, extractNotes, type Notes, renderNotes } from 'everlong/internal/compaction'
import { openMemory, type SessionMemory, type Transcript } from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import { failed, gathered, noTranscript, type Outcome, opening, reading } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'
import { fileHeading, heading, paragraph, type Screen } from '../../render/screen.ts'
import { openFile } from '../../session.ts'

export type MemoryOptions = { readonly write?: boolean; readonly json?: boolean }

export type MemoryReport = {
  readonly path: string
  /** The path of the notes, existing or not. */
  readonly notes: string
  /** kept: they existed. made: they were made now, without a model. */
  readonly origin: 'kept' | 'made'
  readonly isWritten: boolean
  readonly tokens: number
  readonly sections: readonly { readonly heading: string; readonly tokens: number; readonly text: string }[]
}

type Asked = MemoryOptions & { readonly io: Io }

export async function gather(path: string, { write = false, io }: Asked): Promise<Outcome<MemoryReport>> {
  const found = reading(path, () => {
    const memory = openMemory(path)
    const notes = memory.notes()
    return gathered({ memory, notes })
  })
  if (found.type === 'failed') return found
  const { memory, notes } = found.report
  if (notes) return gathered(reportOf(path, { memory, notes, origin: 'kept', isWritten: false }))
  const opened = await open(path, io)
  if (opened.type === 'failed') return opened
  return make(opened.report, { memory, write })
}

function open(path: string, io: Io): Promise<Outcome<Transcript>> {
  return opening(path, async () => {
    const progress = createProgress(io)
    try {
      const reading = { whole: true, withFacts: true, onProgress: progress.show }
      return gathered((await openFile(path, { env: io.env, ...reading })).transcript)
    } finally {
      progress.clear()
    }
  })
}

async function make(
  session: Transcript,
  { memory, write }: { readonly memory: SessionMemory; readonly write: boolean },
): Promise<Outcome<MemoryReport>> {
  if (session.lastUuid === undefined) {
    return failed(noTranscript(session.path))
  }
  const view = session.view
  const model = offline()
  const input = {
    conversation: { source: 'session-memory', model: model.model, messages: [] },
    messages: view.messages,
    ledger: session.facts().ledger,
    model,
    countTokens: textTokens,
  } as const
  const attempt = (): Promise<Extraction> =>
    write ? memory.extract(input) : extractNotes({ ...input, notes: memory.template() })
  const made = await attempt()
  if (made.type === 'failed') return failed(`no notes were written: ${visible(made.reason)}`)
  if (write) {
    const lastSeen = view.sources.at(-1)?.uuids.at(-1)
    memory.saveProgress(afterExtraction({ tokens: countTokens(view.messages), lastSeen }))
  }
  return gathered(reportOf(session.path, { memory, notes: made.notes, origin: 'made', isWritten: write }))
}

function textTokens(text: string): number {
  return countTokens([{ role: 'user', content: text }])
}

type Found = {
  readonly memory: SessionMemory
  readonly notes: Notes
  readonly origin: MemoryReport['origin']
  readonly isWritten: boolean
}

function reportOf(path: string, { memory, notes, origin, isWritten }: Found): MemoryReport {
  return {
    path,
    notes: memory.path,
    origin,
    isWritten,
    tokens: textTokens(renderNotes(notes)),
    sections: notes.map(({ heading: title, body }) => ({ heading: title, tokens: textTokens(body), text: body })),
  }
}

export function render(report: MemoryReport, screen: Screen): readonly string[] {
  const { path, notes, origin, isWritten, tokens, sections } = report
  const where = visible(notes)
  const what =
    origin === 'kept'
      ? `About ${count(tokens)} tokens of notes, in ${where}`
      : isWritten
        ? `There were no notes. This draft of about ${count(tokens)} tokens was made without a model and saved to ${where}`
        : `This session has no notes. This is a draft of about ${count(tokens)} tokens, made without a model; --write saves it`
  return [
    fileHeading(path, screen),
    ...paragraph(what, screen),
    ...sections
      .filter(({ text }) => text !== '')
      .flatMap(({ heading: title, text }) => [
        '',
        heading(oneLine(title), screen),
        ...text.split('\n').flatMap((line) => paragraph(visible(line), screen)),
      ]),
  ]
}
