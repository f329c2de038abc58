// `everlong context`: a picture of what the context is made of, and where on the way to its end things happen.
import { type Breakdown, breakdown, type Explanation, type Figure } from 'everlong'
import { type Outcome, orNoTranscript, reading } from '../outcome.ts'
import { type Fullness, fullnessOf, gaugeLine, sourceInWords } from '../render/context.ts'
import { compositionBar, legend } from '../render/kinds.ts'
import { count, counted } from '../render/numbers.ts'
import { oneLine, visible } from '../render/safe.ts'
import { heading, type Screen } from '../render/screen.ts'
import { cut, padEnd, padStart } from '../render/width.ts'
import { explainSession, type Measured, openLiveSession } from '../session.ts'

export type ContextReport = Breakdown &
  Fullness & {
    readonly path: string
    readonly model: string | undefined
    /** Where something happens, in tokens, each with its source. */
    readonly marks: Pick<
      Explanation,
      'warning' | 'autoCompactThreshold' | 'blocking' | 'effectiveWindow' | 'contextWindow'
    >
    readonly warnings: readonly string[]
  }

export function gather(path: string, measured: Measured): Outcome<ContextReport> {
  return reading(path, () => {
    const { messages, live } = openLiveSession(path)
    const explanation = explainSession(messages, measured)
    const { warning, autoCompactThreshold, blocking, effectiveWindow, contextWindow } = explanation
    const report: ContextReport = {
      path,
      model: explanation.model,
      ...fullnessOf(explanation),
      ...breakdown({ messages, model: explanation.model }),
      marks: { warning, autoCompactThreshold, blocking, effectiveWindow, contextWindow },
      warnings: explanation.warnings,
    }
    return orNoTranscript(report, { path, bytes: live.bytesRead, isTranscript: live.entries.length > 0 })
  })
}

export function render(report: ContextReport, screen: Screen): readonly string[] {
  const { size } = report
  const model = report.model === undefined ? 'unknown model' : oneLine(report.model)
  return [
    heading(visible(report.path), screen),
    `  ${count(size.tokens)} tokens, ${sourceInWords(size)} (${model})`,
    gaugeLine(report, screen),
    '',
    ...scale(report, screen),
    '',
    heading('By kind', screen) + screen.paint('dim', '  estimated from the messages; the sum is the context'),
    ...legend({ ...report, tokens: size.tokens }, screen),
    ...duplicateLines(report.duplicateReads, screen),
    ...report.warnings.map((warning) => screen.paint('yellow', `  ${oneLine(warning)}`)),
  ]
}

type MarkLine = { readonly letter: string; readonly name: string; readonly figure: Figure }

/** The window from end to end, the context in it, and the marks below. */
function scale(report: ContextReport, screen: Screen): readonly string[] {
  const { marks, size } = report
  const columns = screen.width - 4
  const whole = Math.max(marks.contextWindow.value, size.tokens)
  const lines: readonly MarkLine[] = [
    { letter: 'w', name: 'warning', figure: marks.warning },
    {
      letter: 'c',
      name: report.isAutoCompactOn ? 'auto-compact' : 'auto-compact (off)',
      figure: marks.autoCompactThreshold,
    },
    { letter: 'b', name: 'blocking', figure: marks.blocking },
    { letter: 'e', name: 'effective window', figure: marks.effectiveWindow },
    { letter: '|', name: 'window', figure: marks.contextWindow },
  ]
  const names = Math.max(...lines.map(({ name }) => name.length))
  const numbers = count(marks.contextWindow.value).length
  return [
    `  ${compositionBar({ ...report, tokens: size.tokens }, { whole, columns }, screen)}`,
    `  ${ruler(lines, { whole, columns })}`,
    ...lines.map(({ letter, name, figure }) => {
      const left = `  ${letter} ${padEnd(name, names)}  ${padStart(count(figure.value), numbers)}`
      return `${left}  ${screen.paint('dim', cut(oneLine(figure.source), screen.width - left.length - 2))}`
    }),
  ]
}

/** The letters of the marks at their places; where two fall together the later one moves on. */
function ruler(lines: readonly MarkLine[], along: { readonly whole: number; readonly columns: number }): string {
  const cells: string[] = Array(along.columns).fill(' ')
  for (const { letter, figure } of lines) {
    const wanted = Math.min(along.columns - 1, Math.floor((figure.value / along.whole) * along.columns))
    const free = cells.findIndex((cell, at) => at >= wanted && cell === ' ')
    cells[free < 0 ? wanted : free] = letter
  }
  return cells.join('').trimEnd()
}

const mostFiles = 5

function duplicateLines({ tokens, files }: Breakdown['duplicateReads'], screen: Screen): readonly string[] {
  if (files.length === 0) return ['', `${heading('Duplicate reads', screen)}  none`]
  const reads = files.reduce((sum, file) => sum + file.reads, 0)
  const summary = `${counted(reads, 'earlier read')} of ${counted(files.length, 'file')} that came again later: ${count(tokens)} tokens`
  const numbers = Math.max(...files.map((file) => count(file.tokens).length))
  return [
    '',
    `${heading('Duplicate reads', screen)}  ${summary}`,
    ...files.slice(0, mostFiles).map((file) => {
      const left = `  ${padStart(count(file.tokens), numbers)}  ${padStart(`${file.reads}×`, 3)}  `
      return left + cut(oneLine(file.path), screen.width - left.length)
    }),
    ...(files.length > mostFiles ? [`  … and ${counted(files.length - mostFiles, 'more file')}`] : []),
  ]
}
