// `everlong context --explain`: every number about the window with its source, and when the next compaction will come.

import { count, counted, dateTime, fullnessOf, oneLine, padEnd, padStart, wrap } from '@everlong/agent/render'
import { isTranscript } from 'everlong/internal'
import {
  type ExplainedReduction,
  type Explanation,
  endingNow,
  explainReductions,
  type Figure,
  type Prediction,
  predictCompaction,
  situationOf,
  turnsIn,
  whereCompactionsWouldFall,
  worthInWords,
} from 'everlong/internal/compaction'
import type { Transcript } from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import { type Outcome, opening, orNoTranscript } from '../../outcome.ts'
import { gaugeLine, sourceInWords } from '../../render/context.ts'
import { fileHeading, heading, headingWith, paragraph, remarks, type Screen } from '../../render/screen.ts'
import { countingOf, explainFile, openFile, scanWithProgress, type WindowChoice, windowHint } from '../../session.ts'

export type ExplainReport = Explanation & {
  readonly path: string
  /** The clock reading, in milliseconds. */
  readonly now: number
  /** How many turns the session has had. */
  readonly turns: number
  /** Undefined with fewer than two turns or a context that does not grow. */
  readonly prediction: Prediction | undefined
  /** Set if the session does not fit the assumed window. */
  readonly hint: string | undefined
  /** Number of actual compactions, and of those that these settings would have caused. */
  readonly compactions: { readonly happened: number; readonly wouldHaveFallen: number }
  /** What each reduction without a model would do before the next request, and its balance. */
  readonly reductions: readonly ReductionInWords[]
}

export type ReductionInWords = {
  readonly mechanism: string
  readonly type: 'planned' | 'declined'
  readonly reason: string
  readonly freed: number
  readonly worth: ExplainedReduction['worth'] | undefined
  readonly sum: string | undefined
}

export function gather(
  path: string,
  { io, now = io.now(), ...measured }: WindowChoice & { readonly now?: number; readonly io: Io },
): Promise<Outcome<ExplainReport>> {
  return opening(path, async () => {
    const { session, transcript } = await openFile(path, { ...measured, env: io.env })
    const explanation = explainFile({ session }, measured)
    const { view, entry, note } = transcript
    const scan = scanWithProgress(path, io)
    const threshold = explanation.autoCompactThreshold.value
    // The turns as the session counts them. Those of another client's session are only in its file.
    const known = note === undefined ? undefined : turnsIn(view, (uuid) => entry(uuid)?.record)
    const turns = endingNow(known ?? scan.turns, explanation.size.tokens)
    const report: ExplainReport = {
      path,
      now,
      ...explanation,
      turns: turns.length,
      hint: windowHint(explanation, transcript, measured),
      prediction: predictCompaction(turns, threshold),
      compactions: {
        happened: scan.boundaries.length,
        wouldHaveFallen: whereCompactionsWouldFall(
          scan.turns.map(({ tokens }) => tokens),
          { threshold },
        ).length,
      },
      reductions: reductionsOf(transcript, explanation, now),
    }
    return orNoTranscript(report, { path, bytes: scan.bytes, isTranscript: isTranscript(scan) })
  })
}

/** As for a client of the public API. */
function reductionsOf(transcript: Transcript, explanation: Explanation, now: number): readonly ReductionInWords[] {
  const { view } = transcript
  const counting = countingOf(transcript, explanation)
  const situation = situationOf(view, { ...counting, explanation, now, client: { contextManagement: true } })
  return explainReductions(view, situation).map(({ mechanism, outcome, worth }) => ({
    mechanism,
    type: outcome.type === 'declined' ? 'declined' : 'planned',
    reason: outcome.why,
    freed: outcome.type === 'declined' ? 0 : outcome.freed,
    worth,
    sum: worth && worthInWords(worth),
  }))
}

export function render(report: ExplainReport, screen: Screen): readonly string[] {
  const { size } = report
  return [
    fileHeading(report.path, screen),
    `  model ${report.model === undefined ? 'unknown' : oneLine(report.model)}`,
    '',
    heading('Context', screen),
    `  ${count(size.tokens)} tokens, ${sourceInWords(size)}`,
    gaugeLine(fullnessOf(report), screen),
    '',
    heading('Windows', screen),
    ...figures(
      [
        ['context window', report.contextWindow],
        ['output limit', report.maxOutputTokens],
        ['reserve', report.reserve],
        ['effective window', report.effectiveWindow],
      ],
      screen,
    ),
    '',
    heading('Thresholds', screen),
    ...figures(
      [
        ['auto-compact', report.autoCompactThreshold],
        ['gauge limit', report.limit],
        ['warning', report.warning],
        ['error', report.error],
        ['blocking', report.blocking],
      ],
      screen,
    ),
    ...paragraph(switchesInWords(report), screen),
    ...remarks([...(report.hint === undefined ? [] : [report.hint]), ...report.warnings], screen),
    '',
    ...headingWith('Reductions', 'before the next request, without a model', screen),
    ...report.reductions.flatMap((reduction) => reductionLines(reduction, screen)),
    '',
    heading('Next compaction', screen),
    ...predictionLines(report, screen).flatMap((line) => paragraph(line, screen)),
  ]
}

function switchesInWords({ autoCompact, manualCompact }: Explanation): string {
  const mode = autoCompact.mode === 'ask' ? 'set to ask first' : autoCompact.mode ? 'on' : 'off'
  const byHand = manualCompact.allowed ? 'allowed' : 'off'
  return `auto-compact is ${mode} (${oneLine(autoCompact.source)}); compacting by hand is ${byHand} (${oneLine(manualCompact.source)})`
}

/** Name, value and source, and below it the reason if another value was not possible. */
function figures(rows: readonly (readonly [string, Figure])[], screen: Screen): readonly string[] {
  const names = 16
  const numbers = Math.max(...rows.map(([, { value }]) => count(value).length))
  const room = screen.width - names - numbers - 6
  return rows.flatMap(([name, { value, source, clamped }]) => {
    const notes = [
      ...wrap(oneLine(source), room).map((text) => screen.paint('dim', text)),
      ...(clamped
        ? wrap(`clamped from ${count(clamped.from)}: ${oneLine(clamped.why)}`, room).map((text) =>
            screen.paint('yellow', text),
          )
        : []),
    ]
    return notes.map((note, index) =>
      index === 0
        ? `  ${padEnd(name, names)}  ${padStart(count(value), numbers)}  ${note}`
        : `${' '.repeat(names + numbers + 6)}${note}`,
    )
  })
}

function reductionLines({ mechanism, type, reason, freed, sum }: ReductionInWords, screen: Screen): readonly string[] {
  const names = 20
  const what = type === 'declined' ? 'nothing' : freed > 0 ? `frees ${count(freed)}` : 'frees nothing yet'
  const isWeighed = sum !== undefined && (type === 'declined' || freed > 0)
  const lines = [`${what}: ${oneLine(reason)}`, ...(isWeighed ? [type === 'declined' ? `if it ran: ${sum}` : sum] : [])]
  return lines
    .flatMap((line) => wrap(line, screen.width - names - 3))
    .map(
      (line, index) =>
        `  ${padEnd(index === 0 ? mechanism : '', names)} ${index === 0 ? line : screen.paint('dim', line)}`,
    )
}

function predictionLines(report: ExplainReport, { timeZone }: Screen): readonly string[] {
  const { compactions, prediction } = report
  const past = pastInWords(compactions)
  if (report.autoCompact.mode === false) return ['None comes by itself: auto-compact is off.', past]
  if (!prediction) return [`Nothing can be said: ${whyNoPrediction(report)}.`, past]
  const growth = `the median turn adds ${count(prediction.growth)} tokens`
  if (prediction.turns === 0) return [`Due now (${growth}).`, past]
  // For a session that stopped long ago, the previous pace predicts a time in the past.
  const { time } = prediction
  const when = time === undefined || time < report.now ? '' : `, about ${dateTime(time, timeZone)} at the pace so far`
  return [`In about ${counted(prediction.turns, 'turn')}${when} (${growth}).`, past]
}

function whyNoPrediction({ turns, compactions }: ExplainReport): string {
  if (turns < 2) return 'fewer than two turns'
  return compactions.happened === 0
    ? 'the context does not grow'
    : 'the context does not grow evenly, and earlier predictions would have been wrong'
}

function pastInWords({ happened, wouldHaveFallen }: ExplainReport['compactions']): string {
  const was = happened === 0 ? 'never compacted' : `compacted ${times(happened)}`
  const would = wouldHaveFallen === 0 ? 'would not have done it' : `would have done it ${times(wouldHaveFallen)}`
  return `So far the session was ${was}; these settings ${would}, by an estimate.`
}

function times(number: number): string {
  return number === 1 ? 'once' : number === 2 ? 'twice' : `${count(number)} times`
}
