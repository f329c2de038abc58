// `everlong lost`: what the compactions of one or many sessions lost, found by code. Reads file by file, newest first.

import { statSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { visible } from '@everlong/agent/render'
import { type FoundSession, findSessions, type LostFile, lostInFile } from 'everlong/internal/node'
import { nothingHere, ownSessions } from '../../agent-homes.ts'
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
  const own = named.length > 0 ? undefined : ownSessions(io.env)
  const paths = own?.folders ?? named
  const found = findSessions(paths)
  const { files } = found
  const unreadable = [...(own?.unreadable ?? []), ...found.unreadable]
  const [first] = unreadable
  if (files.length === 0 && first) return failed(isGone(first.path) ? notThere(first.path) : troubleAt(first))
  if (files.length === 0) return failed(own ? nothingHere('lost') : noTranscripts(paths))
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

function isGone(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) === undefined
}

function troubleAt({ path, reason }: LostReport['unreadable'][number]): string {
  return `${visible(path)} cannot be read: ${visible(reason)}`
}

type ReadFiles = Pick<LostReport, 'unreadable'> & {
  readonly sessions: readonly LostFile[]
  /** Files without a conversation. */
  readonly others: readonly string[]
}

/** Yields between files, so that Ctrl-C works and the progress line can be removed first. */
async function readAll(files: readonly FoundSession[], io: Io): Promise<ReadFiles> {
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
        const session = lostInFile(path, { onProgress })
        if (session.isTranscript) sessions.push(session)
        else others.push(path)
      } catch (error) {
        const reason = systemTrouble(path, error)
        if (reason === undefined) throw error
        unreadable.push({ path, reason: reason.replace(`${visible(path)}: `, '') })
      }
      done += bytes
      // Small files report no progress of their own.
      progress.show(done, all, `${at + 1} of ${files.length} sessions`)
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
