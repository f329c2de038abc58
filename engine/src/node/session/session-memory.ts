// Session notes on disk: `SESSION/session-memory/summary.md`, with an optional template and prompt. Files are replaced
// atomically, changes by a person are merged, and only one extraction runs at a time, across processes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Extraction, extractNotes, type MemoryProgress, type SessionMemory } from '../../core/memory/extract.ts'
import { merged, parseNotes, renderNotes, withTemplate } from '../../core/memory/notes.ts'
import { defined, numberAt, parseObject, stringAt } from '../../core/message/json.ts'
import { noTokens } from '../../core/message/usage.ts'
import { type NoteHead, noteHeads } from '../../core/prompts/memory.ts'
import { type ModelPorts, systemPorts } from '../../models/ports.ts'
import { acquireLease, type Lease, lockPathOf } from '../lease/lease.ts'
import { nodeProcesses, readLock } from '../lease/lock-file.ts'
import { diskProblem, ignoring, nodeDisk, replaceFile } from '../write/disk.ts'
import { makeSessionFolder, sessionFolder } from './session-folder.ts'

export type { SessionMemory }

type MemoryPorts = Pick<ModelPorts, 'now' | 'wait'>

const maxWaitMs = 15_000
const deadAfterMs = 60_000
const pollMs = 200

export function openMemory(transcript: string, ports: MemoryPorts = systemPorts): SessionMemory {
  const folder = join(sessionFolder(transcript), 'session-memory')
  const path = join(folder, 'summary.md')
  const statePath = join(folder, 'progress.json')
  const notes = () => {
    const text = readText(path)
    return text === undefined ? undefined : withTemplate(parseNotes(text), templateIn(folder))
  }
  const settled = async (): Promise<'settled' | 'still-running'> => {
    const start = ports.now()
    while (isRunning(path, ports.now())) {
      if (ports.now() - start >= maxWaitMs) return 'still-running'
      await ports.wait(pollMs)
    }
    return 'settled'
  }
  return {
    path,
    notes,
    template: () => withTemplate([], templateIn(folder)),
    progress: () => progressIn(readText(statePath)),
    saveProgress: (progress) => {
      makeSessionFolder(folder)
      replaceFile(statePath, Buffer.from(`${JSON.stringify(progress)}\n`), { flush: false })
    },
    settled,
    extract: async (input) => {
      if ((await settled()) === 'still-running') return failed('another extraction is running')
      try {
        makeSessionFolder(folder)
        const { now } = ports
        const terms = { owner: 'session memory', durationMs: deadAfterMs, graceMs: 0, ports: { now } }
        const asked = acquireLease(path, terms)
        if (asked.type !== 'acquired') return failed('another extraction is running')
        try {
          return await extractInto({ path, folder, lease: asked.lease }, input)
        } finally {
          asked.lease.release()
        }
      } catch (error) {
        return failed(diskProblem(error).message)
      }
    },
  }
}

type LeasedMemory = { readonly path: string; readonly folder: string; readonly lease: Lease }

async function extractInto({ path, folder, lease }: LeasedMemory, input: Parameters<SessionMemory['extract']>[0]) {
  const base = readText(path)
  const before = withTemplate(parseNotes(base ?? ''), templateIn(folder))
  const prompt = readText(join(folder, 'config', 'prompt.md'))
  const extraction = await extractNotes({ ...input, notes: before, prompt })
  if (extraction.type === 'failed') return extraction
  // Another process considered this one dead, so it must not write.
  if (lease.confirm().type === 'lease-lost') return failed('another process took over')
  const now = readText(path)
  const next = now === undefined || now === base ? extraction.notes : merged(before, parseNotes(now), extraction.notes)
  replaceFile(path, Buffer.from(renderNotes(next)))
  return { ...extraction, notes: next }
}

function failed(reason: string): Extraction {
  return { type: 'failed', reason, usage: noTokens }
}

function isRunning(path: string, now: number): boolean {
  const lock = readLock({ disk: nodeDisk, path: lockPathOf(path) })
  if (lock === undefined || nodeProcesses.isDead(lock)) return false
  return now - Date.parse(lock.acquiredAt) < deadAfterMs && Date.parse(lock.expiresAt) > now
}

/** A custom template counts if it has at least one section. */
function templateIn(folder: string): readonly NoteHead[] {
  const own = parseNotes(readText(join(folder, 'config', 'template.md')) ?? '')
  return own.length > 0 ? own.map(({ heading, hint }) => ({ heading, hint })) : noteHeads
}

function readText(path: string): string | undefined {
  return ignoring(['ENOENT', 'ENOTDIR'], () => readFileSync(path, 'utf8'))
}

function progressIn(text: string | undefined): MemoryProgress {
  const value = parseObject(text ?? '')
  return {
    ...defined({ tokens: numberAt(value, 'tokens'), lastSeen: stringAt(value, 'lastSeen') }),
    failures: numberAt(value, 'failures') ?? 0,
  }
}
