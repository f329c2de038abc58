// `everlong handoff`: the handover of a session as a document, or as a new session of another agent. The session itself is
// only read.
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { visible } from '@everlong/agent/render'
import { type Block, estimateTokens, type Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, stringAt, textOf } from 'everlong/internal'
import { readContinuation } from 'everlong/internal/compaction'
import { agentNames } from '../../agent-names.ts'
import type { Io } from '../../io.ts'
import type { ModelSpec } from '../../option-values.ts'
import { failed, gathered, noPlaceFor, type Outcome, writing } from '../../outcome.ts'
import { shellWord } from '../../render/shell.ts'
import { compactSession, type MadeCompaction } from '../compact/report.ts'
import { formats, type NewSession } from './formats.ts'

export type HandoffOptions = {
  readonly to: 'markdown' | keyof typeof formats
  readonly model?: ModelSpec
  readonly instructions?: string
  readonly folder?: string
  readonly out?: string
  readonly json?: boolean
}

export type HandoffReport = {
  readonly file: string
  readonly to: HandoffOptions['to']
  /** The session's previous agent. */
  readonly from: string
  readonly text: string
  readonly tokens: number
  readonly cost: number | undefined
  /** The file that was written. */
  readonly out?: string
  readonly folder?: string
  /** The words of the command that continues the new session. */
  readonly command?: readonly string[]
}

type Asked = HandoffOptions & { readonly io: Io }

export async function gather(file: string, options: Asked): Promise<Outcome<HandoffReport>> {
  const { io, to, out, model, instructions } = options
  const trouble = out === undefined ? undefined : noPlaceFor(out)
  if (trouble) return failed(trouble)
  const made = await compactSession(file, {
    io,
    ...(model ? { model } : {}),
    ...(instructions ? { instructions } : {}),
  })
  if (made.type === 'failed') return made
  const { failed: refused } = made.report.report
  // A short conversation is handed over unchanged.
  if (refused && !tooShort.has(refused.reason)) return failed(`nothing was handed over. ${visible(refused.why)}`)
  const report = reportOf(file, made.report, to)
  if (to !== 'markdown') return newSession(report, made.report, options)
  return out === undefined ? gathered(report) : written({ ...report, out }, `${report.text}\n`)
}

const tooShort: ReadonlySet<string> = new Set(['nothing-to-compact', 'no-progress'])

function reportOf(file: string, { report, session, request }: MadeCompaction, to: HandoffOptions['to']): HandoffReport {
  const from = agentNames[session.format]
  const text = handoverText(report.messages, { from, file: session.path, request })
  return { file, to, from, text, tokens: estimateTokens(text), cost: report.cost }
}

function newSession(report: HandoffReport, { session }: MadeCompaction, options: Asked): Outcome<HandoffReport> {
  const { io, to, out } = options
  if (to === 'markdown') return gathered(report)
  const format = formats[to]
  const last = session.entry(session.lastUuid ?? '')
  const recorded = stringAt(last?.record, 'cwd')
  const known = recorded !== undefined && existsSync(recorded) ? recorded : io.cwd
  const folder = resolve(io.cwd, options.folder ?? known)
  if (!existsSync(folder)) return failed(`${visible(folder)} is not there. Name the folder of the work with --folder.`)
  const fresh: NewSession = { text: report.text, id: randomUUID(), folder, now: io.now() }
  const path = out === undefined ? format.place(fresh, io.env) : resolve(io.cwd, out)
  if (path === undefined)
    return failed(`${format.agent} imports sessions from a file. Give it a name with --out FILE.json.`)
  return written({ ...report, out: path, folder, command: format.command(fresh, path) }, format.content(fresh))
}

function written<Report extends HandoffReport & { readonly out: string }>(
  report: Report,
  content: string,
): Outcome<HandoffReport> {
  return writing(report.out, () => {
    mkdirSync(dirname(report.out), { recursive: true })
    // Readable only by its owner, like the session itself. An existing file is never replaced.
    writeFileSync(report.out, content, { flag: 'wx', mode: 0o600 })
    return gathered(report)
  })
}

type Handover = {
  readonly from: string
  readonly file: string
  /** The user's latest request at the end of the context. */
  readonly request: string | undefined
}

/**
 * The page of the compaction, its kept messages and the latest request. Omits restored files, skills and tools, because the next
 * agent has its own tools and reads current files.
 */
function handoverText(messages: readonly Message[], { from, file, request }: Handover) {
  const texts = messages.flatMap(({ role, content }) =>
    blocksOf(content).flatMap((block) => (isText(block) && block.text === request ? [] : textOfBlock(block, role))),
  )
  const opening = `The work of another agent is handed over to you. This is what was asked, done, decided and left open.`
  const rest = `Nothing is lost: \`everlong recall ${shellWord(file)} WORDS\` searches everything that was said.`
  const parts = [`# Handover from a session of ${from}`, opening, ...texts, request ?? '', rest]
  return parts.filter((part) => part !== '').join('\n\n')
}

function textOfBlock(block: Block, role: Message['role']): readonly string[] {
  if (isToolUse(block)) return [`Agent called ${block.name}: ${JSON.stringify(block.input)}`]
  if (isToolResult(block)) return [`Result: ${textOf(block.content)}`]
  if (!isText(block) || block.text.startsWith('<system-reminder>')) return []
  const { summary } = readContinuation(block.text) ?? {}
  return [summary ?? `${role === 'user' ? 'User' : 'Agent'}: ${block.text}`]
}
