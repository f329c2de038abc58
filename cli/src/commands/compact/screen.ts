// The new context as text, for people and for pipes. For --dry-run and --out, a short description of it.

import { count, dollars, visible } from '@everlong/agent/render'
import type { Block } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'
import type { CompactionPlan } from 'everlong/internal/compaction'
import { facts, heading, type Screen } from '../../render/screen.ts'
import { shellWord } from '../../render/shell.ts'
import type { CompactReport } from './report.ts'

export function render(report: CompactReport, screen: Screen): readonly string[] {
  if (report.failed) return []
  if (report.plan) return planLines(report.plan, screen)
  if (report.out !== undefined) {
    return [heading(`Wrote ${visible(report.out)}`, screen), ...account(report, screen), untouched(report, screen)]
  }
  if (report.appendedFor !== undefined) {
    return [
      heading(`Compacted ${visible(report.file)}`, screen),
      ...account(report, screen),
      ...howToUndo(report, screen),
    ]
  }
  const lines = contextLines(report)
  if (!screen.isTerminal) return lines.map((line) => line.split('\t').map(visible).join('\t'))
  const shown = lines.map((line) => visible(line.replaceAll('\t', '  ')))
  return [heading('New context', screen), ...account(report, screen), '', ...shown]
}

function untouched({ file }: CompactReport, screen: Screen): string {
  return screen.paint('dim', `  ${visible(file)} was not changed.`)
}

function howToUndo({ file, appendedFor }: CompactReport, screen: Screen): readonly string[] {
  const how = appendedFor === 'pi' ? '/tree in pi' : `everlong undo ${shellWord(visible(file))}`
  return [screen.paint('dim', `  Resume it to continue. To take it back: ${how}`)]
}

function account(report: CompactReport, screen: Screen): readonly string[] {
  const { size, fidelity, restored, notRestored, cost } = report
  const human = fidelity?.humanMessages
  return facts(
    [
      ['context', `${count(size.before)} → ${count(size.after)} tokens`],
      ['created by', [report.mechanism ?? '', report.model ?? ''].filter((part) => part !== '').join(', ')],
      ['messages', `${count(report.summarized)} summarized, ${count(report.kept)} kept`],
      ...(human
        ? [['human messages', `${human.verbatim} of ${human.total} verbatim, ${human.shortened} shortened`] as const]
        : []),
      ['restored', `${count(restored.length)}${notRestored.length > 0 ? `, not restored: ${notRestored.length}` : ''}`],
      ...(cost === undefined ? [] : [['cost', dollars(cost)] as const]),
    ],
    screen,
  )
}

function planLines(plan: CompactionPlan, screen: Screen): readonly string[] {
  if (plan.type === 'failed') return [plan.why]
  const { parts, tokens } = plan
  return [
    heading('Plan', screen),
    ...facts(
      [
        ['summarized', `${count(parts.summarized.length)} entries, about ${count(tokens.summarized)} tokens`],
        ['kept', `${count(plan.kept.length)} entries, about ${count(tokens.kept)} tokens`],
        ['now', `${count(tokens.size)} tokens`],
        ['after', `${count(tokens.maxSize)} tokens at most`],
        ['summary', `${count(tokens.summary)} tokens at most`],
        ['restored', `${count(tokens.restored)} tokens at most`],
        ['attempts', plan.mechanisms.join(', ')],
        ['summarizer', visible(plan.model)],
      ],
      screen,
    ),
    screen.paint('dim', '  A dry run: no model was asked, nothing was written.'),
  ]
}

function contextLines({ messages }: CompactReport): readonly string[] {
  return messages.flatMap(({ role, content }) => [`[${role}]`, ...blocksOf(content).flatMap(blockLines), ''])
}

function blockLines(block: Block): readonly string[] {
  if (isText(block)) return linesOf(block.text)
  if (isToolUse(block)) return [`[call ${block.name}] ${JSON.stringify(block.input)}`]
  if (isToolResult(block)) return ['[result]', ...linesOf(textOf(block.content))]
  return [`[${block.type}]`]
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/)
}
