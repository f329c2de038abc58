// Values stored for a session between two hooks, one JSON file each, in a folder that exists only while it has files, so that
// hooks can tell without starting Node that there are none.
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SummarySource } from 'everlong/internal/node'
import type { Planned } from './at-end.ts'

export type Notes<T> = {
  readonly put: (session: string, value: T) => void
  /** Undefined also for an invalid file, because everything can be computed again. */
  readonly get: (session: string) => T | undefined
  readonly remove: (session: string) => void
}

/** A compaction whose summary must still be compared with the transcript. */
export type Pending = {
  /** The size of the transcript when the new context started. */
  readonly bytes: number
  /** The start of the new context. */
  readonly given: string
}

/** A conversation that was read in advance; `bytes` as in its compaction. */
export type Prepared = { readonly bytes: number; readonly source: SummarySource }

export function notesIn<T>(folder: string): Notes<T> {
  const fileOf = (session: string) => join(folder, `${session}.json`)
  return {
    put: (session, value) => {
      const path = fileOf(session)
      // Another hook may read it at the same time, or the machine may go down.
      const temporary = `${path}.${process.pid}`
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(temporary, JSON.stringify(value))
      renameSync(temporary, path)
    },
    get: (session) => parsed(unlessMissing(() => readFileSync(fileOf(session), 'utf8'))),
    remove: (session) => {
      rmSync(fileOf(session), { force: true })
      unlessMissing(() => rmdirSync(folder))
    },
  }
}

function parsed<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined if there is no such file or folder, or the folder is not empty. */
function unlessMissing<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}

/** The plug-in's data about a session. */
export function memoryIn(dataFolder: string) {
  return {
    pending: notesIn<Pending>(join(dataFolder, 'waiting')),
    prepared: notesIn<Prepared>(join(dataFolder, 'prepared')),
    /** Position up to which the rules of the transcript were read. */
    mark: notesIn<unknown>(join(dataFolder, 'marks')),
    /** Text that the agent got after the last compaction. */
    given: notesIn<string>(join(dataFolder, 'given')),
    /** Records to append to the transcript when the session ends. */
    atEnd: notesIn<Planned>(join(dataFolder, 'at-end')),
  }
}

export type Memory = ReturnType<typeof memoryIn>
