// What a compaction is given for a session as it was at one of its entries: the same for the command line and for whoever
// measures it. Asks nobody and writes nothing.
import { modelFacts } from '../../core/catalog/models.ts'
import type { CompactionJob } from '../../core/compaction/job.ts'
import type { SessionAt } from './session-at.ts'

export type CompactAtOptions = Pick<CompactionJob, 'partial' | 'instructions' | 'budget'>

export function compactionJobAt(session: SessionAt, options: CompactAtOptions = {}): CompactionJob {
  const view = session.fold.view()
  const model = view.messages.findLast((message) => message.model !== undefined && modelFacts(message.model))?.model
  return {
    trigger: 'manual',
    reason: 'command line',
    view,
    recordOf: (uuid) => session.fold.entry(uuid)?.record,
    carried: session.carried,
    queued: session.queued,
    restore: session.restore,
    ...options,
    ...(model === undefined ? {} : { counting: { model } }),
    threshold: 0,
    transcriptPath: session.path,
    sessionId: session.sessionId,
    lastUuid: session.lastUuid,
    envelope: session.envelope,
  }
}
