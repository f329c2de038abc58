// The notes that session memory would have had at a recorded compaction, taken without a model.
import { offline } from 'everlong'
import { emptyNotes, extractNotes, parseNotes, renderNotes } from 'everlong/internal/compaction'
import type { Case } from '../fidelity/cases.ts'
import { countTokens } from '../fidelity/measure.ts'
import { sessionOf } from '../fidelity/parts.ts'

export async function notesOf(found: Case): Promise<string> {
  const { view, facts } = sessionOf(found)
  const model = offline()
  const made = await extractNotes({
    notes: parseNotes(emptyNotes()),
    conversation: { source: 'session-memory', model: model.model, messages: [] },
    messages: view.messages,
    ledger: facts().ledger,
    model,
    countTokens,
  })
  if (made.type === 'failed') throw new Error(`${found.name}: ${made.reason}`)
  return renderNotes(made.notes)
}
