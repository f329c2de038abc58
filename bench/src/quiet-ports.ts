// What a compaction needs from outside, where nothing outside is measured: no hooks, no files, nobody who listens, and no
// waiting.
import type { ModelClient } from 'everlong'
import { type CompactionPorts, noHooks } from 'everlong/internal/compaction'

export type QuietPorts = {
  readonly model: ModelClient
  readonly now?: () => number
  readonly newId?: () => string
}

export function quietPorts({
  model,
  now = () => Date.UTC(2026, 2, 3),
  newId = countedIds(),
}: QuietPorts): CompactionPorts {
  return {
    now,
    newId,
    model,
    hooks: noHooks,
    emit: () => undefined,
    // Short waits are over at once; the one that keeps a connection alive ends with the work.
    wait: async (milliseconds, signal) => {
      if (milliseconds < 30_000) return
      await new Promise<void>((resolve) => signal?.addEventListener('abort', resolve, { once: true }))
    },
  }
}

function countedIds(): () => string {
  let ids = 0
  return () => `id-${ids++}`
}
