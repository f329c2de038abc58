// Where the notes of a session are kept, as core sees it: one file with a lock across processes (node/session-memory.ts).
import type { ExtractInput, Extraction } from './extract.ts'
import type { Notes } from './notes.ts'
import type { MemoryProgress } from './trigger.ts'

export type SessionMemory = {
  readonly path: string
  /** The notes as they stand; undefined when there are none yet. */
  readonly notes: () => Notes | undefined
  /** The sections that there would be, still empty. */
  readonly template: () => Notes
  readonly progress: () => MemoryProgress
  readonly saveProgress: (progress: MemoryProgress) => void
  /** Runs one extraction, after the one that runs. Never disturbs the conversation: a failure is a value. */
  readonly extract: (input: Omit<ExtractInput, 'notes' | 'prompt'>) => Promise<Extraction>
  /** Waits for an extraction that runs somewhere: up to 15 seconds; one older than 60 is taken for dead. */
  readonly settled: () => Promise<'settled' | 'still-running'>
}
