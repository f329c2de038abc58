// The phases of a compaction in words.
import type { CompactionPhase } from 'everlong/internal/compaction'

export const compactionPhases: Readonly<Record<CompactionPhase, string>> = {
  'hooks-before': 'running hooks',
  summarizing: 'summarizing',
  verifying: 'checking the summary',
  restoring: 'restoring context',
  committing: 'writing',
  'hooks-after': 'running hooks after it',
}
