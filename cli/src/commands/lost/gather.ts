// `everlong lost`: what the compactions of one session or many lost, found by code. Reads file by file, newest first.

import { existsSync, statSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { visible } from '@everlong/agent/render'
import type { Environment } from 'everlong'
import { findTranscripts, type LostFile, lostInTranscript, readTranscript } from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import { failed, noTranscript, noTranscripts, notThere, type Outcome, systemTrouble } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'
import { programName } from '../../render/shell.ts'
import { homeOf } from '../install/place.ts'
import { DamagedRecord, readRecord } from '../install/record.ts'
import { targets } from '../install/targets.ts'
import { type LostReport, reportOf } from './report.ts'

export type LostOptions = {
  /** How many of the newest sessions of folders are read; 0 reads all. */
  readonly limit: number
  readonly io: Io
}

export async function gather(named: readonly string[], options: LostOptions): Promise<Outcome<LostReport>> {
  const { io, limit } = options
  const homes = agentHomes(io.env)
  const paths = named.length > 0 ? named : homes.map(({ folder }) => folder).filter((folder) => existsSync(folder))
  if (paths.length === 0) return failed(nothingHere(homes))
  const { files, unreadable } = sessionsIn(paths)
  const [first] = unreadable
  if (files.length === 0 && first) return failed(isGone(first.path) ? notThere(first.path) : troubleAt(first))
  if (files.length === 0) return failed(named.length > 0 ? noTranscripts(paths) : nothingHere(homes))
  const chosen = limit === 0 ? files : files.filter(({ path }, at) => at < limit || named.includes(path))
  const read = await readAll(chosen, io)
  const other = read.others.find((path) => named.includes(path))
  const report = reportOf({
    paths,
    found: files.length - read.others.length - read.unreadable.length,
    files: read.sessions,
    unreadable: [...unreadable, ...read.unreadable],
    installable: installableFor(read.sessions, io),
    program: programName(io),
  })
  const isBlank = read.sessions.length === 0
  const complaint = complaintAbout(report, { other, isBlank })
  const exitCode = report.unreadable.length > 0 || complaint !== undefined ? 1 : 0
  return { type: 'gathered', report, exitCode, isBlank, ...(complaint === undefined ? {} : { complaint }) }
}

type Blank = { readonly other: string | undefined; readonly isBlank: boolean }

function complaintAbout({ paths, unreadable }: LostReport, { other, isBlank }: Blank): string | undefined {
  if (other !== undefined) return noTranscript(other)
  const [first] = unreadable
  if (isBlank) return first ? troubleAt(first) : noTranscripts(paths)
  return undefined
}

function nothingHere(homes: readonly AgentHome[]): string {
  const names = homes.map(({ agent }) => agent)
  return `found no sessions of ${names.slice(0, -1).join(', ')} or ${names.at(-1)} on this machine. Name a file or folder: everlong lost PATH`
}

function isGone(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) === undefined
}

function troubleAt({ path, reason }: LostReport['unreadable'][number]): string {
  return `${visible(path)} cannot be read: ${visible(reason)}`
}

type FoundFile = { readonly path: string; readonly time: number; readonly bytes: number }

/** Newest first. Files of sub-agents count only where they are named. */
function sessionsIn(
  paths: readonly string[],
): Pick<LostReport, 'unreadable'> & { readonly files: readonly FoundFile[] } {
  const { files, unreadable } = findTranscripts(paths)
  const isSession = (path: string) => paths.includes(path) || !basename(path).startsWith('agent-')
  const found = [...new Set(files)].filter(isSession).flatMap((path): readonly FoundFile[] => {
    // An agent may remove a file at any time.
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats ? [{ path, time: stats.mtimeMs, bytes: stats.size }] : []
  })
  return { files: found.toSorted((a, b) => b.time - a.time), unreadable }
}

type ReadFiles = Pick<LostReport, 'unreadable'> & {
  readonly sessions: readonly LostFile[]
  /** Files that hold no conversation. */
  readonly others: readonly string[]
}

/** Yields between files, so that Ctrl-C is heard and the progress line can be removed first. */
async function readAll(files: readonly FoundFile[], io: Io): Promise<ReadFiles> {
  const progress = createProgress(io)
  const forget = io.onInterrupt?.(progress.clear)
  const all = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const sessions: LostFile[] = []
  const others: string[] = []
  const unreadable: { path: string; reason: string }[] = []
  let done = 0
  try {
    for (const [at, { path, bytes }] of files.entries()) {
      const onProgress = (part: number) => progress.show(done + part, all, `${at} of ${files.length} sessions`)
      try {
        const session = lostInTranscript(readTranscript(path, { onProgress }))
        if (session.isTranscript) sessions.push(session)
        else others.push(path)
      } catch (error) {
        const reason = systemTrouble(path, error)
        if (reason === undefined) throw error
        unreadable.push({ path, reason: reason.replace(`${visible(path)}: `, '') })
      }
      done += bytes
      await setImmediate()
    }
    return { sessions, others, unreadable }
  } finally {
    forget?.()
    progress.clear()
  }
}

function installableFor(sessions: readonly LostFile[], { env }: Io): readonly string[] {
  const formats = new Set<string>(sessions.filter(({ facts }) => facts.length > 0).map(({ format }) => format))
  return targets.map(({ name }) => name).filter((name) => formats.has(name) && !isInstalled(name, homeOf(env)))
}

function isInstalled(name: string, home: string): boolean {
  try {
    return readRecord(home, name) !== undefined
  } catch (error) {
    if (error instanceof DamagedRecord) return true
    throw error
  }
}

type AgentHome = { readonly agent: string; readonly folder: string }

/** Where agents keep their sessions, existing or not. opencode is not listed: it keeps its sessions in a database. */
function agentHomes(env: Environment): readonly AgentHome[] {
  const home = homeOf(env)
  // A relative path would point into the current project.
  const own = (name: string, ...fallback: readonly string[]) => {
    const set = env[name]
    return set !== undefined && isAbsolute(set) ? set : join(home, ...fallback)
  }
  return [
    { agent: 'Claude Code', folder: join(own('CLAUDE_CONFIG_DIR', '.claude'), 'projects') },
    { agent: 'Codex', folder: join(own('CODEX_HOME', '.codex'), 'sessions') },
    { agent: 'pi', folder: join(own('PI_CODING_AGENT_DIR', '.pi', 'agent'), 'sessions') },
    { agent: 'Gemini CLI', folder: join(home, '.gemini', 'tmp') },
    { agent: 'Copilot CLI', folder: join(home, '.copilot', 'session-state') },
    { agent: 'Cursor', folder: join(home, '.cursor', 'projects') },
  ]
}
