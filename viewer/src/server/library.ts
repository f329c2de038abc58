// The sessions below some paths, each with an id. Only files that were found there can be read.
import { createHash, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Environment } from 'everlong'
import { createScanner, isTranscript } from 'everlong/internal'
import {
  findSessions,
  findSubagents,
  findTranscripts,
  forEachEntry,
  lostInFile,
  readTranscript,
} from 'everlong/internal/node'
import type { SessionFacts, SessionRow } from '../data/api.ts'
import { createTitleBook, sessionFacts } from '../data/facts.ts'
import { createSessionView, type SessionView } from '../data/session.ts'

export type Library = {
  readonly rows: () => readonly SessionRow[]
  readonly facts: (id: string) => FactsOrTrouble
  /** Undefined if there is no such session. */
  readonly open: (id: string) => SessionView | undefined
  readonly pathOf: (id: string) => string | undefined
  /** The id of a file that belongs to a session of the library, such as a sub-agent's. */
  readonly admit: (path: string) => string
}

export type FactsOrTrouble = { readonly facts: SessionFacts | null; readonly trouble: string | null }

export type LibraryOptions = { readonly paths: readonly string[]; readonly env: Environment }

/** Sessions that stay in memory: the one on the page and the one before it. */
const maxOpen = 2

export function createLibrary({ paths, env }: LibraryOptions): Library {
  const files = new Map<string, string>()
  const open = new Map<string, { readonly stamp: string; readonly view: SessionView }>()
  const admit = (path: string) => {
    const id = idOf(path)
    files.set(id, path)
    return id
  }
  const rows = () => {
    const { files: found, unreadable } = findSessions(paths)
    const rows = found.map(
      ({ path, time, bytes }): SessionRow => ({
        id: admit(path),
        path,
        bytes,
        modified: time,
        facts: null,
        trouble: null,
      }),
    )
    const others = unreadable.map(
      ({ path, reason }): SessionRow => ({
        id: idOf(path),
        path,
        bytes: 0,
        modified: 0,
        facts: null,
        trouble: reason,
      }),
    )
    return [...rows, ...others]
  }
  /** A session may have begun since. Sub-agents have no row, but can be opened. */
  const pathOf = (id: string) => {
    if (!files.has(id)) findTranscripts(paths).files.forEach(admit)
    // Next to a session that was named itself, nothing but its sub-agents is looked at.
    if (!files.has(id))
      for (const { path } of paths.filter(isFile).flatMap((path) => findSubagents(path).agents)) admit(path)
    return files.get(id)
  }
  return {
    rows,
    facts: (id) => {
      const path = pathOf(id)
      return path === undefined ? { facts: null, trouble: 'There is no such session.' } : factsIn(path)
    },
    open: (id) => {
      const path = pathOf(id)
      if (path === undefined) return undefined
      const { size, mtimeMs } = statSync(path)
      const stamp = `${size} ${mtimeMs}`
      const known = open.get(id)
      open.delete(id)
      const view = known?.stamp === stamp ? known.view : viewOf({ id, path, bytes: size, modified: mtimeMs }, env)
      open.set(id, { stamp, view })
      for (const oldest of [...open.keys()].slice(0, -maxOpen)) open.delete(oldest)
      return view
    },
    pathOf,
    admit,
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function idOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16)
}

/** Larger than any session that a browser could be expected to show; of a larger one, old texts are shortened. */
const wholeBytes = 512 << 20

function viewOf(row: Pick<SessionRow, 'id' | 'path' | 'bytes' | 'modified'>, env: Environment): SessionView {
  const { path } = row
  return createSessionView({
    row,
    transcript: readTranscript(path, { wholeBytes }),
    before: (uuid) => readTranscript(path, { before: uuid, withFacts: true }),
    env,
    now: Date.now,
    newId: randomUUID,
  })
}

/** One pass. What compactions lost is looked for only where there were any. */
function factsIn(path: string): FactsOrTrouble {
  try {
    const scanner = createScanner()
    const titles = createTitleBook()
    const { format, salvaged } = forEachEntry(path, (entry) => {
      scanner.add(entry)
      titles.add(entry)
    })
    const scan = { ...scanner.finish(), format, salvaged }
    if (!isTranscript(scan)) return { facts: null, trouble: 'It holds no conversation.' }
    const lost = scan.epochs.length > 1 ? lostCount(path) : 0
    return { facts: sessionFacts({ scan, titles: titles.found(), lost }), trouble: null }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    return { facts: null, trouble: error.message }
  }
}

function lostCount(path: string): number | null {
  const { facts, unknown } = lostInFile(path)
  return unknown === 'unreadable-summary' ? null : facts.length
}
