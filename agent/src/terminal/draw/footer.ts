// The last line: how full the context is, the expected compaction, the mode and the model. The wording gets shorter with less
// room.
import type { AgentState, PermissionMode } from '../../app.ts'
import { gauge, stateStyles } from '../../render/gauge.ts'
import { count, short } from '../../render/numbers.ts'
import { oneLine } from '../../render/safe.ts'
import type { Sheet } from '../../render/sheet.ts'
import { columnsOf, cut } from '../../render/width.ts'
import type { GaugeReading } from '../host/protocol.ts'

const modeNames: Readonly<Record<PermissionMode, string>> = {
  ask: 'ask mode',
  'accept-edits': 'accepts edits',
  plan: 'plan mode',
  allow: 'allows everything',
}

export function footerLines(
  reading: GaugeReading | undefined,
  agent: AgentState | undefined,
  sheet: Sheet,
): readonly string[] {
  const { width, paint } = sheet
  if (!agent) return [paint('dim', 'Starting…')]
  const about = [modeNames[agent.mode], oneLine(agent.model).replace(/^anthropic:/, '')]
  const tasks = agent.tasks.filter(({ isRunning }) => isRunning).length
  const right = [...(tasks > 0 ? [`${tasks} in the background`] : []), ...about].join(' · ')
  if (!reading) return [paint('dim', cut(right, width))]
  const isWide = width >= 72
  const room = isWide ? width - Math.min(columnsOf(right), Math.floor(width / 2)) - 2 : width
  const left = gaugeText(reading, room, sheet)
  if (!isWide) return [left.text, paint('dim', cut(right, width))]
  const space = ' '.repeat(Math.max(2, width - left.columns - columnsOf(cut(right, width - left.columns - 2))))
  return [`${left.text}${space}${paint('dim', cut(right, width - left.columns - 2))}`]
}

const barColumns = 8

function gaugeText(
  reading: GaugeReading,
  room: number,
  sheet: Sheet,
): { readonly text: string; readonly columns: number } {
  const words =
    gaugeWordings(reading, sheet.width).find((text) => columnsOf(text) + barColumns + 1 <= room) ??
    `${reading.percentLeft} %`
  const bar = gauge({ ...reading, used: reading.tokens }, barColumns, sheet)
  return {
    text: `${bar} ${sheet.paint(stateStyles[reading.state], words)}`,
    columns: barColumns + 1 + columnsOf(words),
  }
}

/** From the longest to the shortest. An estimate is marked as one as long as a number fits. */
export function gaugeWordings(reading: GaugeReading, width = Number.POSITIVE_INFINITY): readonly string[] {
  const { percentLeft, tokens, limit, isEstimated, state, turnsLeft, isAutoCompactOn } = reading
  const estimated = isEstimated ? ' (estimated)' : ''
  const left = state === 'blocking' ? 'full' : `${percentLeft} % left`
  const next = isAutoCompactOn ? nextCompaction(reading, turnsLeft) : 'auto-compact off'
  const exact = `${left} · ${count(tokens)} of ${count(limit)} tokens${estimated}${next === '' ? '' : ` · ${next}`}`
  return [
    // Depends only on the width, so that numbers do not change their form while a person looks at them.
    ...(width >= exactFrom ? [exact] : []),
    `${left} · ${short(tokens)} of ${short(limit)}${estimated}${next === '' ? '' : ` · ${next}`}`,
    `${left} · ${short(tokens)} of ${short(limit)}${estimated}`,
    `${left} · ${short(tokens)} of ${short(limit)}${isEstimated ? ' est.' : ''}`,
    `${left} · ${short(tokens)}${isEstimated ? ' est.' : ''}`,
    left,
  ]
}

const exactFrom = 110

function nextCompaction({ state }: GaugeReading, turns: number | undefined): string {
  if (state === 'over-threshold' || state === 'blocking') return 'compacts next'
  if (turns === undefined) return ''
  return turns === 0 ? 'compacts next' : `compacts in ~${turns} ${turns === 1 ? 'turn' : 'turns'}`
}
