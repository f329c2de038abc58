// The output of the commands for people: /everlong:context, compact, undo and lost. Asks no model.
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { plainScreen } from '../../shared/screen.ts'
import type { Planned } from './at-end.ts'
import type { Memory } from './notes.ts'
import { type Environment, projectFolder, sessionName } from './project.ts'

/** Names of commands are untrusted. */
export const commandNames = ['context', 'compact', 'undo', 'lost'] as const

export type Answer = {
  readonly text: string
  /** For the end of the session. */
  readonly planned?: Planned
}

/** For a session by its id, from the folder of the project. */
export async function answerTo(
  command: string,
  session: string | undefined,
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): Promise<Answer> {
  const name = sessionName(session)
  return answerAbout(command, join(projectFolder(cwd, env), `${name ?? 'none'}.jsonl`), env)
}

/** The text to show. Stores records for the end of the session. */
export function keptAnswer(
  command: string,
  { text, planned }: Answer,
  { session, memory }: { readonly session: string; readonly memory: Memory },
): string {
  if (planned) memory.atEnd.put(session, planned)
  const given = command === 'lost' ? memory.given.get(session) : undefined
  return given === undefined ? text : `${text}\n\nGiven back to the agent after the last compaction:\n\n${given}`
}

export async function answerAbout(command: string, transcript: string, env: Environment): Promise<Answer> {
  if (!existsSync(transcript)) return { text: 'This session has no transcript yet.' }
  if (command === 'context') return context(transcript, env)
  if (command === 'compact') return compact(transcript, env)
  if (command === 'undo') return undo(transcript)
  if (command === 'lost') return lost(transcript)
  throw new Error(`unknown command ${command}`)
}

async function context(transcript: string, env: Environment): Promise<Answer> {
  const { gather, render } = await import('@everlong/cli/context')
  const outcome = await gather(transcript, { env })
  return { text: outcome.type === 'failed' ? outcome.message : render(outcome.report, plainScreen).join('\n') }
}

async function compact(transcript: string, env: Environment): Promise<Answer> {
  const { compactSession } = await import('@everlong/cli/compact')
  const bytes = statSync(transcript).size
  const { stdin, stdout, stderr } = process
  const io = { stdin, stdout, stderr, env, cwd: process.cwd(), now: Date.now }
  const outcome = await compactSession(transcript, { io })
  if (outcome.type === 'failed') return { text: outcome.message }
  const { report, records } = outcome.report
  if (records.length === 0) return { text: outcome.complaint ?? 'There is nothing to compact.' }
  const [before, after] = [report.tokens.before, report.tokens.after].map((count) => count.toLocaleString('en-US'))
  const text = `A compaction is ready: ${before} tokens become ${after}. ${howToResume(transcript)}`
  return { text, planned: { bytes, text: asLines(records) } }
}

/** Returns to the conversation before the last compaction, if nothing was said since. */
async function undo(transcript: string): Promise<Answer> {
  const { lastCompaction } = await import('./last-compaction.ts')
  const bytes = statSync(transcript).size
  const found = lastCompaction(transcript)
  if (found === undefined) return { text: 'This session was not compacted yet.' }
  if (found.isContinued || found.before === undefined) {
    return { text: 'The conversation went on after the last compaction, so it cannot be taken back in Claude Code.' }
  }
  const uuid = randomUUID()
  const notice = {
    ...{ parentUuid: found.before, isSidechain: false, type: 'system', subtype: 'informational' },
    ...{ content: 'The last compaction was taken back by everlong.', isMeta: false, level: 'info' },
    ...{ ...found.envelope, timestamp: new Date().toISOString(), uuid },
  }
  // Claude Code resumes from the entry named here.
  const leaf = { type: 'last-prompt', lastPrompt: '', leafUuid: uuid, sessionId: found.envelope.sessionId }
  return {
    text: `The last compaction will be taken back. ${howToResume(transcript)}`,
    planned: { bytes, text: asLines([notice, leaf]) },
  }
}

function asLines(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

function howToResume(transcript: string): string {
  const id = transcript.replace(/^.*[\\/]|\.jsonl$/g, '')
  return `Leave with /exit now and continue with: claude --resume ${id}\nIf you go on talking here instead, nothing happens.`
}

async function lost(transcript: string): Promise<Answer> {
  const [{ lostInFile }, { renderSession }] = await Promise.all([
    import('everlong/internal/node'),
    import('@everlong/cli/lost'),
  ])
  return { text: renderSession(lostInFile(transcript), plainScreen).join('\n') }
}
