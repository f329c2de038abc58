// Copies of the project's sessions as transcripts, for the search: opencode keeps them in a database of its own. A copy is
// written again when its session has changed.
import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { PluginInput, SessionInfo, SessionMessage } from './opencode-api.ts'
import { recordsOf } from './records.ts'

export type Copies = {
  readonly folder: string
  readonly pathOf: (session: string) => string
  /** Brings all copies up to date, the newest first. False if the time ran out. */
  readonly update: () => Promise<boolean>
  readonly remove: (session: string) => void
}

const maxMs = 10_000

/** Folders outside of a repository all belong to one project. */
export function isRepository({ project }: Pick<PluginInput, 'project'>): boolean {
  return project.id !== 'global'
}

export function createCopies(input: PluginInput, folder: string): Copies {
  const { client, project, directory } = input
  const pathOf = (session: string) => join(folder, `${fileName(session)}.jsonl`)
  const isOurs = (session: SessionInfo) =>
    session.projectID === project.id && (isRepository(input) || isInside(directory, session.directory))
  return {
    folder,
    pathOf,
    update: async () => {
      const deadline = performance.now() + maxMs
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const { data: sessions = [] } = await client.session.list()
      const stale = sessions.filter((session) => isOurs(session) && !isFresh(pathOf(session.id), session))
      for (const session of stale.toSorted((a, b) => b.time.updated - a.time.updated)) {
        if (performance.now() > deadline) return false
        const { data: messages = [] } = await client.session.messages({ path: { id: session.id } })
        write(pathOf(session.id), messages, session.time.updated)
      }
      return true
    },
    remove: (session) => {
      rmSync(pathOf(session), { force: true })
      rmSync(join(folder, fileName(session)), { recursive: true, force: true })
    },
  }
}

/** Ids come from outside and become file names. */
function fileName(session: string): string {
  return session.replaceAll(/[^\w-]/g, '_').slice(0, 100)
}

function isInside(directory: string, folder: string): boolean {
  const path = relative(directory, folder)
  return path !== '..' && !path.startsWith(`..${sep}`)
}

/** A copy has the time of its session. */
function isFresh(path: string, session: SessionInfo): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Math.round(stat.mtimeMs) === Math.round(session.time.updated)
}

function write(path: string, messages: readonly SessionMessage[], updated: number): void {
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(
    draft,
    recordsOf(messages)
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(''),
    { mode: 0o600 },
  )
  utimesSync(draft, updated / 1_000, updated / 1_000)
  renameSync(draft, path)
}
