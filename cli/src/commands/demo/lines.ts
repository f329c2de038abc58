// The lines of the demonstration: the person's words, the agent's and engine's actions, and the gauge. Text in, lines out. Makes
// text from tools and models harmless.

import {
  columnsOf,
  compactionPhases,
  count,
  cut,
  cutStart,
  type FinishedCall,
  fullnessOf,
  gauge,
  oneLine,
  outcomeOf,
  padEnd,
  stateStyles,
  subjectOf,
  wrap,
} from '@everlong/agent/render'
import type { EngineEvent } from 'everlong'
import type { Explanation } from 'everlong/internal/compaction'
import type { Screen } from '../../render/screen.ts'
import { textWithoutMarks } from '../agent/marks.ts'
import type { Act } from './acts.ts'

const indent = '    '

export function personLines(text: string, screen: Screen): readonly string[] {
  const [first = '', ...rest] = wrap(oneLine(text), screen.width - 6)
  const lines = [`you › ${first}`, ...rest.map((line) => `      ${line}`)]
  return ['', ...lines.map((line) => screen.paint(['bold', 'cyan'], line))]
}

/** For a text that is being typed, whose end matters most. */
export function typingLine(text: string, screen: Screen): string {
  return screen.paint(['bold', 'cyan'], `you › ${cutStart(text, screen.width - 6)}`)
}

export function agentLines(text: string, screen: Screen): readonly string[] {
  const words = oneLine(textWithoutMarks(text))
  return words === '' ? [] : wrap(words, screen.width - 4).map((line) => `${indent}${line}`)
}

const nameColumns = 10

export function callLine(call: FinishedCall, root: string, screen: Screen): string {
  const outcome = cut(oneLine(outcomeOf(call)), 40)
  const head = `${indent}${padEnd(call.name, nameColumns)}`
  const room = Math.max(8, screen.width - columnsOf(head) - columnsOf(outcome) - 3)
  const line = `${head}${cut(oneLine(subjectOf(call, root)), room)} · ${outcome}`
  return screen.paint('dim', cut(line, screen.width))
}

/** One sentence, and the gauge after it. */
export function actLines({ name, words, explanation }: Act, screen: Screen): readonly string[] {
  const style = name === 'trouble' ? 'red' : 'magenta'
  const [first = '', ...rest] = wrap(oneLine(`${name}: ${words}`), screen.width - 4)
  return [
    '',
    `  ${screen.paint(style, '●')} ${screen.paint('bold', first)}`,
    ...rest.map((line) => `${indent}${screen.paint('bold', line)}`),
    gaugeLine(explanation, screen),
    '',
  ]
}

/** Replaces the gauge during a compaction. */
export function progressLine({ phase, outputTokens }: Progressed, screen: Screen): string {
  const written = outputTokens === undefined ? '' : `, ${count(outputTokens)} tokens so far`
  return screen.paint('magenta', cut(`${indent}compacting: ${compactionPhases[phase]}${written}`, screen.width))
}

type Progressed = Extract<EngineEvent, { readonly type: 'compaction-progressed' }>

export function gaugeLine(explanation: Explanation, screen: Screen): string {
  const fullness = fullnessOf(explanation)
  const room = screen.width - columnsOf(indent) - 2
  const text =
    wordings(explanation).find((words) => columnsOf(words) + minBarColumns <= room) ?? `${fullness.percentLeft} %`
  const columns = Math.max(1, Math.min(maxBarColumns, room - columnsOf(text)))
  const picture = gauge({ ...fullness, used: fullness.tokens }, columns, screen)
  return `${indent}${picture}  ${screen.paint(stateStyles[fullness.state], text)}`
}

const minBarColumns = 8
const maxBarColumns = 32

/** From the longest to the shortest. */
function wordings(explanation: Explanation): readonly string[] {
  const { percentLeft, tokens, limit, isEstimated } = fullnessOf(explanation)
  const left = `${percentLeft} % left`
  const estimated = isEstimated ? ', estimated' : ''
  return [
    `${left}, ${count(tokens)} of ${count(limit)} tokens${estimated}`,
    `${left}, ${count(tokens)} tokens${estimated}`,
    `${left}${estimated}`,
    left,
  ]
}
