// `everlong inspect`: one screen about one session. Reads the whole file once, in bounded memory, and changes nothing.

import {
  bytes,
  count,
  counted,
  dateTime,
  duration,
  type Fullness,
  fullnessOf,
  oneLine,
  visible,
} from '@everlong/agent/render'
import { ConfigurationError, type Entry } from 'everlong'
import {
  type Finding,
  type Format,
  findingsOf,
  isTranscript,
  type LiveWindow,
  liveWindow,
  readHead,
  type Tally,
  tallyOf,
} from 'everlong/internal'
import type { ContextSize, Explanation } from 'everlong/internal/compaction'
import { type FileScan, findSubagents, readTranscript, type SubAgents, type Transcript } from 'everlong/internal/node'
import { agentNames } from '../../agent-names.ts'
import type { Io } from '../../io.ts'
import { type Outcome, opening, orNoTranscript } from '../../outcome.ts'
import { gaugeLine, sourceInWords } from '../../render/context.ts'
import { facts, fileHeading, heading, headingWith, remarks, type Screen } from '../../render/screen.ts'
import { explainFile, type Measured, openFile, scanWithProgress, type WindowChoice, windowHint } from '../../session.ts'

export type InspectReport = {
  readonly path: string
  readonly format: Format
  readonly versions: readonly string[]
  readonly sessionIds: readonly string[]
  readonly bytes: number
  readonly lines: number
  readonly records: number
  /** Records by type; system records by their subtype. */
  readonly types: Readonly<Record<string, number>>
  readonly from: string | undefined
  readonly to: string | undefined
  readonly epochs: number
  readonly boundaries: number
  /** Compactions in force, by trigger. */
  readonly compactions: Readonly<Record<string, number>>
  /** Compactions that were undone. */
  readonly undone: number
  readonly live: Tally
  readonly stop: LiveWindow['stop']
  readonly context: Context | undefined
  readonly subagents: Readonly<Record<'agents' | 'compactionRuns' | 'inside' | 'beside' | 'folder', number>>
  readonly toolResultFiles: number
  readonly salvaged: number
  readonly orphans: number
  readonly errors: number
  readonly notes: number
  /** The first errors; `everlong repair` has all. */
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

type Context = Fullness & {
  readonly model: string | undefined
  readonly window: number
  readonly size: ContextSize
}

const maxFindings = 5

type Asked = WindowChoice & { readonly io: Io }

export function gather(path: string, { io, ...options }: Asked): Promise<Outcome<InspectReport>> {
  return opening(path, async () => {
    const scan = scanWithProgress(path, io)
    const transcript = readTranscript(path)
    const { explanation, trouble } = await tryToExplain(path, { ...options, env: io.env })
    const hint = explanation && windowHint(explanation, transcript, options)
    const window = windowOf(transcript)
    const findings = findingsOf(scan, scan.problems, tallyOf(window.entries))
    const errors = findings.filter(({ severity }) => severity === 'error')
    const times = timesOf(scan, window.entries)
    const report: InspectReport = {
      path,
      ...fileFacts(scan),
      from: times[0],
      to: times.at(-1),
      live: tallyOf(window.entries),
      stop: window.stop,
      context: explanation && {
        model: explanation.model,
        window: explanation.contextWindow.value,
        size: explanation.size,
        ...fullnessOf(explanation),
      },
      ...subagentFacts(findSubagents(path)),
      salvaged: scan.salvaged,
      orphans: scan.graph.orphans.length,
      errors: errors.length,
      notes: findings.length - errors.length,
      findings: errors.slice(0, maxFindings),
      warnings: [trouble, hint, ...(explanation?.warnings ?? [])].filter((warning) => warning !== undefined),
    }
    return orNoTranscript(report, { path, bytes: scan.bytes, isTranscript: isTranscript(scan) })
  })
}

type Tried = { readonly explanation?: Explanation; readonly trouble?: string }

/** Here, settings that cannot work are just one problem among others. */
async function tryToExplain(path: string, measured: Measured): Promise<Tried> {
  try {
    return { explanation: explainFile(await openFile(path, measured), measured) }
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return { trouble: error.message }
  }
}

type Window = { readonly entries: readonly Entry[]; readonly stop: LiveWindow['stop'] }

/** The entries of the view. After an undo or a rewind they are before the last boundary. */
function windowOf({ entries: read, view, entry }: Transcript): Window {
  const { order, stop } = liveWindow(read.map(readHead))
  const entries = order.flatMap((at) => read[at] ?? [])
  const near = new Set(entries.map(({ record }) => record.uuid))
  const shown = view.sources.flatMap(({ uuids }) => uuids)
  if (shown.every((uuid) => near.has(uuid))) return { entries, stop }
  const isSummarized = view.messages[0]?.origin === 'summary'
  return { entries: shown.flatMap((uuid) => entry(uuid) ?? []), stop: isSummarized ? 'boundary' : 'root' }
}

/** In the file of a sub-agent no epoch has a time, so the live window is used. */
function timesOf(scan: FileScan, live: readonly Entry[]): readonly string[] {
  const ofEpochs = scan.epochs.flatMap(({ from, to }) => [from, to]).filter((time) => time !== undefined)
  if (ofEpochs.length > 0) return ofEpochs
  return live.map(({ record }) => record.timestamp).filter((time) => typeof time === 'string')
}

function fileFacts(scan: FileScan) {
  const compactions: Record<string, number> = {}
  let undone = 0
  for (const { openedBy } of scan.epochs) {
    if (openedBy?.isUndone) undone++
    else if (openedBy) compactions[openedBy.trigger] = (compactions[openedBy.trigger] ?? 0) + 1
  }
  return {
    format: scan.format,
    versions: scan.versions,
    sessionIds: scan.sessionIds,
    bytes: scan.bytes,
    lines: scan.lines,
    records: scan.records,
    types: Object.fromEntries(scan.types),
    epochs: scan.epochs.length,
    boundaries: scan.boundaries.length,
    compactions,
    undone,
  }
}

function subagentFacts({ agents, toolResults }: SubAgents): Pick<InspectReport, 'subagents' | 'toolResultFiles'> {
  const at = (place: string) => agents.filter((agent) => agent.kind === 'agent' && agent.place === place).length
  return {
    subagents: {
      agents: agents.filter(({ kind }) => kind === 'agent').length,
      compactionRuns: agents.filter(({ kind }) => kind === 'compaction').length,
      inside: at('inside'),
      beside: at('beside'),
      folder: at('folder'),
    },
    toolResultFiles: toolResults.size,
  }
}

export function render(report: InspectReport, screen: Screen): readonly string[] {
  return [
    fileHeading(report.path, screen),
    ...facts(
      [
        ['file', fileLine(report)],
        ['session', several(report.sessionIds) || 'no id'],
        ['time', timeLine(report, screen)],
        ['epochs', epochLine(report)],
        ['sub-agents', subagentLine(report)],
      ],
      screen,
    ),
    '',
    ...headingWith('Live window', stops[report.stop], screen),
    ...facts(
      [
        ['entries', entriesLine(report.live)],
        ['tools', toolsLine(report.live)],
        ['context', contextLine(report.context)],
      ],
      screen,
    ),
    ...(report.context ? [gaugeLine(report.context, screen)] : []),
    ...remarks(report.warnings, screen),
    '',
    ...problemLines(report, screen),
  ]
}

const stops: Readonly<Record<LiveWindow['stop'], string>> = {
  boundary: 'since the last compaction',
  root: 'from the beginning: no compaction yet',
  continued: 'from a message that continues an earlier one',
  orphan: 'from an entry whose parent is not in the file',
  empty: 'empty',
}

const maxNames = 4

function several(names: readonly string[]): string {
  const more = names.length > maxNames ? [`and ${count(names.length - maxNames)} more`] : []
  return [...names.slice(0, maxNames).map(oneLine), ...more].join(', ')
}

function fileLine(report: InspectReport): string {
  // Everlong writes the format of Claude Code, which names its version in every record.
  const isOurs = report.format === 'claude-code' && report.versions.length === 0
  const client = isOurs ? 'Everlong' : `${agentNames[report.format]} ${several(report.versions)}`.trimEnd()
  return `${bytes(report.bytes)}, ${counted(report.lines, 'line')}, ${counted(report.records, 'record')}, ${client}`
}

function timeLine({ from, to }: InspectReport, { timeZone }: Screen): string {
  const lasted = Date.parse(to ?? '') - Date.parse(from ?? '')
  const words = Number.isNaN(lasted) ? '' : ` (${duration(lasted)})`
  return from === undefined ? 'not known' : `${dateTime(from, timeZone)} to ${dateTime(to, timeZone)}${words}`
}

function epochLine({ epochs, boundaries, compactions, undone }: InspectReport): string {
  if (boundaries === 0) return '1, never compacted'
  const triggers = Object.entries(compactions).map(([trigger, times]) => `${count(times)} ${oneLine(trigger)}`)
  const left = boundaries - undone
  const by = left === 0 ? '' : `, by ${counted(left, 'compaction')}: ${triggers.join(', ')}`
  return `${count(epochs - undone)}${by}${undone === 0 ? '' : `; ${counted(undone, 'compaction')} undone`}`
}

function subagentLine({ subagents, toolResultFiles }: InspectReport): string {
  const places = (['inside', 'beside', 'folder'] as const).filter((place) => subagents[place] > 0)
  const names = { inside: 'in the file', beside: 'beside it', folder: 'in its folder' }
  const where = places.map((place) => (places.length === 1 ? names[place] : `${subagents[place]} ${names[place]}`))
  return [
    subagents.agents === 0 ? 'none' : `${count(subagents.agents)} ${where.join(', ')}`,
    ...(subagents.compactionRuns > 0 ? [`${counted(subagents.compactionRuns, 'recorded compaction run')}`] : []),
    ...(toolResultFiles > 0 ? [`${counted(toolResultFiles, 'tool result')} in files of their own`] : []),
  ].join('; ')
}

function entriesLine(live: Tally): string {
  const others = live.entries - live.assistantLines - live.userLines
  const answers = `${counted(live.assistantLines, 'assistant line')} of ${counted(live.messages, 'answer')}`
  return `${count(live.entries)}: ${answers}, ${counted(live.userLines, 'user line')}, ${counted(others, 'other')}`
}

function toolsLine(live: Tally): string {
  const pairs = live.unpaired === 0 ? 'all paired' : `${count(live.unpaired)} unpaired`
  return `${counted(live.toolUses, 'call')}, ${counted(live.toolResults, 'result')}, ${pairs}`
}

function contextLine(context: Context | undefined): string {
  if (!context) return 'cannot be said:'
  const model = context.model === undefined ? 'unknown model' : oneLine(context.model)
  return `${count(context.size.tokens)} of ${count(context.window)} tokens, ${sourceInWords(context.size)} (${model})`
}

function problemLines(report: InspectReport, screen: Screen): readonly string[] {
  const { errors, notes, salvaged, orphans } = report
  const expected =
    notes === 0 ? [] : [`${counted(notes, 'note')}${orphans > 0 ? `, ${counted(orphans, 'orphan')}` : ''}`]
  const saved = salvaged === 0 ? [] : [`${counted(salvaged, 'record')} salvaged`]
  const summary = [errors === 0 ? 'no errors' : counted(errors, 'error'), ...saved, ...expected].join(', ')
  return [
    `${heading('Problems', screen)}  ${screen.paint(errors === 0 ? 'green' : 'red', summary)}`,
    ...report.findings.map(({ line, text }) => `  line ${line ?? '?'} ${oneLine(text)}`),
    ...(errors > report.findings.length ? [`  … and ${count(errors - report.findings.length)} more`] : []),
    ...(errors + notes > 0 ? [screen.paint('dim', `  all of them: everlong repair ${visible(report.path)}`)] : []),
  ]
}
