// Small texts kept for a session between two hooks, one file each, in a folder that exists only while something is in it:
// so hooks can tell that there is nothing without starting Node.
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Notes = {
  readonly put: (session: string, text: string) => void
  readonly get: (session: string) => string | undefined
  readonly remove: (session: string) => void
}

export function notesIn(folder: string, ending: string): Notes {
  const fileOf = (session: string) => join(folder, `${session}.${ending}`)
  return {
    put: (session, text) => {
      const path = fileOf(session)
      // Another hook may read it at the same time, or the machine may go down.
      const temporary = `${path}.${process.pid}`
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(temporary, text)
      renameSync(temporary, path)
    },
    get: (session) => unlessMissing(() => readFileSync(fileOf(session), 'utf8')),
    remove: (session) => {
      rmSync(fileOf(session), { force: true })
      unlessMissing(() => rmdirSync(folder))
    },
  }
}

/** Undefined where there is no such file or folder, or the folder still holds something else. */
function unlessMissing<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}

/** What the plug-in keeps for a session. */
export function memoryIn(dataFolder: string) {
  return {
    /** What the agent is to read next. */
    note: notesIn(join(dataFolder, 'waiting'), 'txt'),
    /** A summary that is still to be compared with the transcript. */
    pending: notesIn(join(dataFolder, 'waiting'), 'json'),
    /** The rules that the new context started with. */
    given: notesIn(join(dataFolder, 'given'), 'txt'),
    /** How far the transcript was read for its rules. */
    mark: notesIn(join(dataFolder, 'marks'), 'json'),
    /** What is appended to the transcript when the session ends. */
    atEnd: notesIn(join(dataFolder, 'at-end'), 'json'),
  }
}

export type Memory = ReturnType<typeof memoryIn>
