// Reads the conversation during the PreCompact hook, while Codex writes the summary. Nobody waits for this. If it is killed or
// too slow, the hook after the compaction reads the conversation itself.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, stringAt } from 'everlong/internal'
import { keepPrepared, preparedFolder } from './prepared.ts'
import { sourceBefore } from './source.ts'

/** Throws if the rollout cannot be read. */
export function inBackground(input: unknown, folder: string): void {
  if (!isObject(input) || input.hook_event_name !== 'PreCompact') return
  const rollout = stringAt(input, 'transcript_path')
  if (rollout === undefined) return
  const bytes = statSync(rollout).size
  keepPrepared({ rollout, bytes, source: sourceBefore(rollout, bytes) }, folder)
  removeOld(preparedFolder(folder))
}

const oldAfterMs = 24 * 60 * 60 * 1000

/** Removes data for which no compaction followed. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs !== undefined && Date.now() - mtimeMs > oldAfterMs) rmSync(path, { force: true })
  }
}
