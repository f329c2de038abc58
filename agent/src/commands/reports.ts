// Commands that only show something: the content of the context, every number with its source, the cost, and the agent's memory.
import { type Breakdown, breakdown, type Figure, type PurposeUsage } from 'everlong/internal/compaction'
import { openMemory } from 'everlong/internal/node'
import type { Session } from 'everlong/node'
import { memoryFiles } from '../context/memory-files.ts'
import { systemPrompt } from '../context/system-prompt.ts'
import { forecastOf } from '../forecast.ts'
import { count, counted, exactDollars, percent } from '../render/numbers.ts'
import { sumOf } from '../sessions/spending.ts'
import { type CommandContext, type SlashCommand, text } from './command.ts'

export const context: SlashCommand = {
  name: 'context',
  help: 'shows what fills the context',
  run: (_, given) => {
    const { size, percentLeft, limit, contextWindow, model = 'unknown model' } = given.session().explain()
    const { kinds, unattributed } = contextBreakdown(given)
    const rows = [...kinds, ...(unattributed > 0 ? [{ kind: 'unattributed', tokens: unattributed }] : [])]
    const width = Math.max(...rows.map(({ kind }) => kind.length), 0)
    const digits = Math.max(...rows.map(({ tokens }) => count(tokens).length), 0)
    const lines = rows.map(({ kind, tokens }, at) =>
      [
        `${markOf(at)} ${kind.padEnd(width)}`,
        bar(tokens / size.tokens),
        count(tokens).padStart(digits),
        percent(tokens, size.tokens).padStart(5),
      ].join('  '),
    )
    const how = size.source === 'usage' ? 'reported' : 'estimated'
    return text(
      `${count(size.tokens)} tokens (${how}, ${model}), ${percentLeft} % left of ${count(limit.value)}`,
      ...windowLines(rows, { window: contextWindow.value, limit: limit.value }),
      ...lines,
    )
  },
}

const cells = 60

function markOf(row: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + row)
}

/** The whole window: a letter for each kind, a dot where it is free, a bar where it is compacted. */
function windowLines(
  rows: readonly { readonly tokens: number }[],
  { window, limit }: { readonly window: number; readonly limit: number },
): readonly string[] {
  let used = 0
  let picture = ''
  for (const [at, { tokens }] of rows.entries()) {
    used += tokens
    picture = picture.padEnd(Math.min(cells, Math.round((used / window) * cells)), markOf(at))
  }
  const bar = Math.min(cells, Math.round((limit / window) * cells))
  const whole = picture.padEnd(cells, '·')
  return [`[${whole.slice(0, bar)}|${whole.slice(bar)}]  of ${count(window)}`]
}

function contextBreakdown(given: CommandContext): Breakdown {
  const { size, model } = given.session().explain()
  const { folder, home, settings } = given
  const files = memoryFiles({ home, folder, ...settings.permissions })
  const own = systemPrompt({ folder, platform: process.platform, memoryFiles: [], isHeadless: false })
  return breakdown({
    messages: given.session().messages(),
    size,
    model,
    systemPrompt: own.map(({ text: words }) => words).join('\n'),
    tools: given.tools,
    memoryFiles: files,
  })
}

const barWidth = 20

function bar(share: number): string {
  const full = Math.max(0, Math.min(barWidth, Math.round(share * barWidth)))
  return '█'.repeat(full) + '░'.repeat(barWidth - full)
}

export const explain: SlashCommand = {
  name: 'explain',
  help: 'shows every limit with its source, and when to expect the next compaction',
  run: (_, { session }) => {
    const found = session().explain()
    const figures: readonly (readonly [string, Figure])[] = [
      ['context window', found.contextWindow],
      ['output limit', found.maxOutputTokens],
      ['effective window', found.effectiveWindow],
      ['auto-compact', found.autoCompactThreshold],
      ['warning', found.warning],
      ['error', found.error],
      ['blocking', found.blocking],
    ]
    const width = Math.max(...figures.map(([, { value }]) => count(value).length))
    const lines = figures.map(
      ([name, { value, source }]) => `${name.padEnd(16)}  ${count(value).padStart(width)}  ${source}`,
    )
    return text(
      `${count(found.size.tokens)} tokens, ${found.percentLeft} % left (${found.state})`,
      ...lines,
      predictionText(session()),
      ...found.warnings,
    )
  },
}

function predictionText(session: Session): string {
  if (session.explain().autoCompact.mode === false) return 'No compaction comes by itself: auto-compact is off.'
  const prediction = forecastOf(session)
  if (!prediction) return 'Nothing can be said about when the next compaction comes.'
  if (prediction.turns === 0) return 'The next compaction is due now.'
  return `The next compaction comes in about ${counted(prediction.turns, 'turn')}; the median turn adds ${count(prediction.growth)} tokens.`
}

export const cost: SlashCommand = {
  name: 'cost',
  help: 'shows what the session has cost',
  run: async (_, { spending }) => {
    const spent = await spending()
    if (spent.length === 0) return text('Nothing was spent yet.')
    const lines = spent.map((line) => `${line.purpose.padEnd(20)}  ${costText(line)}`)
    const { cost: total } = sumOf(spent)
    return text(...lines, total === undefined ? 'The price of a model is not known.' : `Total: ${exactDollars(total)}`)
  },
}

function costText({ requests, usage, cost: price }: PurposeUsage): string {
  const { input, output, cacheRead, cacheWrite } = usage
  const counts = `in ${count(input)}, out ${count(output)}, cache read ${count(cacheRead)}, cache written ${count(cacheWrite)}`
  return `${counted(requests, 'request')}: ${counts}${price === undefined ? '' : `, ${exactDollars(price)}`}`
}

export const memory: SlashCommand = {
  name: 'memory',
  help: 'shows the instruction files in use and the notes about this session',
  run: (_, { session, home, folder, settings }) => {
    const files = memoryFiles({ home, folder, ...settings.permissions }).map(
      ({ path, text: words }) => `  ${path} (${count(words.length)} characters)`,
    )
    const { path } = session()
    const notes = path === undefined ? undefined : openMemory(path)
    return text(
      files.length === 0 ? 'No instruction files: add an AGENTS.md to the project.' : 'Instruction files:',
      ...files,
      notes?.notes()
        ? `Notes about this session, taken in the background: ${notes.path}`
        : 'No notes about this session yet.',
    )
  },
}
