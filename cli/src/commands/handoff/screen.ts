// The document itself, or the place of the new session and how to continue it.
import { count, dollars, visible } from '@everlong/agent/render'
import { facts, heading, type Screen } from '../../render/screen.ts'
import { shellWord } from '../../render/shell.ts'
import { formats } from './formats.ts'
import type { HandoffReport } from './report.ts'

export function render(report: HandoffReport, screen: Screen): readonly string[] {
  const { out, command, folder, text, tokens, cost, to } = report
  if (out === undefined) return text.split('\n').map((line) => line.split('\t').map(visible).join('\t'))
  const rows = facts(
    [
      ['handed over', `${count(tokens)} tokens`],
      ...(cost === undefined ? [] : [['cost', dollars(cost)] as const]),
      ...(folder === undefined ? [] : [['folder', visible(folder)] as const]),
    ],
    screen,
  )
  const next =
    command === undefined || to === 'markdown'
      ? []
      : [`  Continue in ${formats[to].agent}: ${command.map((word) => shellWord(visible(word))).join(' ')}`]
  return [heading(`Wrote ${visible(out)}`, screen), ...rows, ...next]
}
