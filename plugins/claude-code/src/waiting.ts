// Notes that wait to be given to the agent. A compaction's summary is known only after the one hook that could have added
// to the new context has run, so what it lacks is passed on with the next prompt or tool results. The folder exists only
// while something waits, so that hooks can tell without starting Node.
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Notes = {
  readonly put: (session: string, text: string) => void
  /** Returns the note and removes it. */
  readonly take: (session: string) => string | undefined
}

export function notesIn(folder: string): Notes {
  const fileOf = (session: string) => join(folder, `${session}.txt`)
  return {
    put: (session, text) => {
      mkdirSync(folder, { recursive: true })
      writeFileSync(fileOf(session), text)
    },
    take: (session) => {
      const text = unlessMissing(() => readFileSync(fileOf(session), 'utf8'))
      rmSync(fileOf(session), { force: true })
      unlessMissing(() => rmdirSync(folder))
      return text
    },
  }
}

/** Undefined where there is no such file or folder, or the folder still holds notes of other sessions. */
function unlessMissing<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}
