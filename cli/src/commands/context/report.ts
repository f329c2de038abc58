// `everlong context`: shows what the context consists of, and the sizes at which something happens.

import {
  count,
  counted,
  cut,
  cutStart,
  type Fullness,
  fullnessOf,
  oneLine,
  padEnd,
  padStart,
} from '@everlong/agent/render'
import { type Breakdown, breakdown, type Explanation, type Figure } from 'everlong/internal/compaction'
import { type Outcome, opening, orNoTranscript } from '../../outcome.ts'
import { gaugeLine, sourceInWords } from '../../render/context.ts'
import { compositionBar, legend } from '../../render/kinds.ts'
import { fileHeading, heading, headingWith, paragraph, remarks, type Screen } from '../../render/screen.ts'
import { explainFile, type Measured, openFile, windowHint } from '../../session.ts'
import { type Mark, ruler } from './ruler.ts'

export type ContextReport = Breakdown &
  Fullness & {
    readonly path: string
    readonly model: string | undefined
    /** Sizes at which something happens, in tokens, each with its source. */
    readonly marks: Pick<
      Explanation,
      'warning' | 'autoCompactThreshold' | 'blocking' | 'effectiveWindow' | 'contextWindow'
    >
    /** Set if the session does not fit the assumed window. */
    readonly hint: string | undefined
    readonly warnings: readonly string[]
  }

export function gather(path: string, measured: Measured): Promise<Outcome<ContextReport>> {
  return opening(path, async () => {
    const { session, transcript } = await openFile(path, measured)
    // One per entry: the user's text and its attachments are separate messages.
    const messages = transcript.view.sources.flatMap(({ pieces }) => pieces)
    const explanation = explainFile({ session }, measured)
    const { warning, autoCompactThreshold, blocking, effectiveWindow, contextWindow } = explanation
    const report: ContextReport = {
      path,
      model: explanation.model,
      ...fullnessOf(explanation),
      ...breakdown({ messages, model: explanation.model, size: explanation.size }),
      marks: { warning, autoCompactThreshold, blocking, effectiveWindow, contextWindow },
      hint: windowHint(explanation, transcript, measured),
      warnings: explanation.warnings,
    }
    return orNoTranscript(report, { path, bytes: transcript.bytes, isTranscript: messages.length > 0 })
  })
}

export function render(report: ContextReport, screen: Screen): readonly string[] {
  const { size } = report
  const model = report.model === undefined ? 'unknown model' : oneLine(report.model)
  return [
    fileHeading(report.path, screen),
    ...paragraph(`${count(size.tokens)} tokens, ${sourceInWords(size)} (${model})`, screen),
    gaugeLine(report, screen),
    '',
    ...scale(report, screen),
    '',
    ...headingWith('By kind', 'estimated from the messages; the sum is the context', screen),
    ...legend({ ...report, tokens: size.tokens }, screen),
    ...duplicateLines(report.duplicateReads, screen),
    ...remarks([...(report.hint === undefined ? [] : [report.hint]), ...report.warnings], screen),
  ]
}

type MarkLine = Mark & { readonly name: string; readonly source: string }

/** The whole window as a bar, the context in it, and the marks below. */
function scale(report: ContextReport, screen: Screen): readonly string[] {
  const { marks, size } = report
  const columns = screen.width - 4
  const whole = Math.max(marks.contextWindow.value, size.tokens)
  const line = (letter: string, name: string, { value, source }: Figure): MarkLine => ({ letter, name, value, source })
  const lines = [
    line('w', 'warning', marks.warning),
    line('c', report.isAutoCompactOn ? 'auto-compact' : 'auto-compact (off)', marks.autoCompactThreshold),
    line('b', 'blocking', marks.blocking),
    line('e', 'effective window', marks.effectiveWindow),
    line('|', 'window', marks.contextWindow),
  ]
  const names = Math.max(...lines.map(({ name }) => name.length))
  const numbers = count(marks.contextWindow.value).length
  return [
    `  ${compositionBar({ ...report, tokens: size.tokens }, { whole, columns }, screen)}`,
    `  ${ruler(lines, { whole, columns })}`,
    ...lines.map(({ letter, name, value, source }) => {
      const left = `  ${letter} ${padEnd(name, names)}  ${padStart(count(value), numbers)}`
      return `${left}  ${screen.paint('dim', cut(oneLine(source), screen.width - left.length - 2))}`
    }),
  ]
}

const maxFiles = 5

function duplicateLines({ tokens, files }: Breakdown['duplicateReads'], screen: Screen): readonly string[] {
  if (files.length === 0) return ['', `${heading('Duplicate reads', screen)}  none`]
  const reads = files.reduce((sum, file) => sum + file.reads, 0)
  const summary = `${counted(reads, 'earlier read')} of ${counted(files.length, 'file')} that came again later: ${count(tokens)} tokens`
  const numbers = Math.max(...files.map((file) => count(file.tokens).length))
  return [
    '',
    heading('Duplicate reads', screen),
    ...paragraph(summary, screen),
    ...files.slice(0, maxFiles).map((file) => {
      const left = `  ${padStart(count(file.tokens), numbers)}  ${padStart(`${file.reads}×`, 3)}  `
      return left + cutStart(oneLine(file.path), screen.width - left.length)
    }),
    ...(files.length > maxFiles ? [`  … and ${counted(files.length - maxFiles, 'more file')}`] : []),
  ]
}
