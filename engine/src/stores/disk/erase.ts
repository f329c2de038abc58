// Erases sessions from a folder: transcripts, what is kept next to them, locks and caches. A transcript that stays is never
// removed, wherever it is.
import { lstatSync, rmSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { discardCaches } from '../../node/archive/archive.ts'
import { filesIn, itemsIn, sessionFolder } from '../../node/session/session-folder.ts'

/** Writers that still have one of them open are told at their next append. */
export function eraseTranscripts(gone: ReadonlySet<string>, staying: ReadonlySet<string>): void {
  for (const path of gone) {
    discardCaches(path)
    rmSync(path, { force: true })
  }
  for (const path of gone) removeFolder(sessionFolder(path), staying)
  for (const folder of new Set([...gone].map(dirname)))
    for (const file of filesIn(folder)) if (gone.has(lockedBy(file) ?? '')) rmSync(file, { force: true })
}

/** The transcript whose lock this is, or a file that a taking of the lock left. */
function lockedBy(file: string): string | undefined {
  const name = /^(.+\.jsonl)\.lock(\..+)?$/s.exec(basename(file))?.[1]
  return name === undefined ? undefined : join(dirname(file), name)
}

/** Without the transcripts in it that stay, and without what belongs to these. */
function removeFolder(folder: string, staying: ReadonlySet<string>): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  if (![...staying].some((path) => path.startsWith(`${folder}${sep}`))) {
    rmSync(folder, { recursive: true, force: true })
    return
  }
  const kept = new Set([...staying].map(sessionFolder))
  for (const item of itemsIn(folder)) {
    const path = join(folder, item.name)
    if (staying.has(path) || kept.has(path) || staying.has(lockedBy(path) ?? '')) continue
    if (item.isDirectory()) removeFolder(path, staying)
    else rmSync(path, { force: true })
  }
}
