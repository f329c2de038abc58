// Data about a rollout that was read while Codex wrote the summary, stored in a file until the compaction exists. Used only if
// the start of the rollout is unchanged and nobody said anything in between; otherwise the rollout is read again.
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { markAt, type SummarySource } from 'everlong/internal/node'
import packageFacts from '../package.json' with { type: 'json' }
import { compactedMark, itemMark, readRange } from './last-compaction.ts'

type Prepared = {
  /** Version of the program. Another version may have another idea of a source. */
  readonly version: string
  /** How much of the rollout was read, and a fingerprint of it. */
  readonly bytes: number
  readonly mark: string
  readonly source: SummarySource
}

/** Next to the program, so uninstalling removes it. */
export const preparedFolder = (folder: string) => join(folder, 'prepared')

/** Undefined unless the name is one of Codex's: paths come from outside. */
function fileFor(rollout: string, folder: string): string | undefined {
  const name = basename(rollout)
  return /^[\w.-]{1,200}\.jsonl$/.test(name) ? join(preparedFolder(folder), `${name}.json`) : undefined
}

export type Reading = { readonly rollout: string; readonly bytes: number; readonly source: SummarySource }

export function keepPrepared({ rollout, bytes, source }: Reading, folder: string): void {
  const path = fileFor(rollout, folder)
  if (path === undefined) return
  const prepared: Prepared = { version: packageFacts.version, bytes, mark: markAt(rollout, bytes), source }
  // The hook that waits for it must never see half of it.
  const temporary = `${path}.${process.pid}`
  mkdirSync(preparedFolder(folder), { recursive: true })
  writeFileSync(temporary, JSON.stringify(prepared), { mode: 0o600 })
  renameSync(temporary, path)
}

/** For the compaction whose line begins at `start`. What was prepared is good for one compaction, so its file goes. */
export function takePrepared(rollout: string, start: number, folder: string): SummarySource | undefined {
  const path = fileFor(rollout, folder)
  if (path === undefined) return undefined
  const prepared = parsed(path)
  rmSync(path, { force: true })
  if (prepared?.version !== packageFacts.version || prepared.bytes > start) return undefined
  const isSame = markAt(rollout, prepared.bytes) === prepared.mark && !isSpoken(rollout, prepared.bytes, start)
  return isSame ? prepared.source : undefined
}

/** Undefined if there is none, or none that can be read. */
function parsed(path: string): Prepared | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Codex also writes events and counts of tokens, which do not matter. */
function isSpoken(rollout: string, from: number, to: number): boolean {
  const file = openSync(rollout, 'r')
  try {
    const between = readRange(file, from, to)
    return between.includes(itemMark) || between.includes(compactedMark)
  } finally {
    closeSync(file)
  }
}
