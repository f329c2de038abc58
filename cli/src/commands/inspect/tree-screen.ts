// The screen of `everlong inspect --tree`.
import {
  clockTime,
  columnsOf,
  count,
  counted,
  cut,
  dateTime,
  oneLine,
  padEnd,
  padStart,
  type Style,
  short,
} from '@everlong/agent/render'
import { fileHeading, paragraph, type Screen } from '../../render/screen.ts'
import type { TreeLine, TreeReport } from './tree.ts'

type Look = { readonly glyph: string; readonly style: Style | undefined }

const looks: Readonly<Record<Exclude<TreeLine['kind'], 'epoch'>, Look>> = {
  human: { glyph: '❯', style: ['green', 'bold'] },
  assistant: { glyph: '●', style: undefined },
  thinking: { glyph: '…', style: 'dim' },
  'tool-request': { glyph: '→', style: 'blue' },
  'tool-result': { glyph: '←', style: 'dim' },
  summary: { glyph: '≡', style: 'magenta' },
  attachment: { glyph: '+', style: 'dim' },
  injected: { glyph: '·', style: 'dim' },
  'sub-agent': { glyph: '◇', style: 'yellow' },
}

// The spaces inside a pair do not break.
const glyphsInWords = [
  ...['❯ human', '● assistant', '… thinking', '→ request', '← result', '≡ summary', '+ attachment'],
  ...['· injected text', '◇ sub-agent (folded)', '│ beside the trunk'],
]
  .map((pair) => pair.replaceAll(' ', '\u00a0'))
  .join('  ')

const maxDepth = 8

export function render(report: TreeReport, screen: Screen): readonly string[] {
  const { lines, total, path } = report
  const hidden = total - lines.length
  return [
    fileHeading(path, screen),
    ...paragraph(glyphsInWords, screen, 'dim'),
    ...(hidden > 0
      ? [
          screen.paint(
            'yellow',
            `  … ${counted(hidden, 'earlier line')} not shown: --limit 0 shows all ${count(total)}`,
          ),
        ]
      : []),
    '',
    ...(hidden === 0 && lines[0]?.kind !== 'epoch' ? [rule('epoch 0', screen)] : []),
    ...lines.map((line) => (line.epoch ? epochLine(line, screen) : entryLine(line, screen))),
  ]
}

function epochLine({ epoch, time }: TreeLine, screen: Screen): string {
  const by = epoch?.openedBy
  const sizes =
    by?.tokensBefore === undefined
      ? []
      : [`${short(by.tokensBefore)} → ${by.tokensAfter === undefined ? '?' : short(by.tokensAfter)}`]
  const kept = by && by.kept > 0 ? [`${keptInWords(by)} kept`] : []
  const words = [
    `epoch ${epoch?.number}`,
    oneLine(by?.trigger ?? ''),
    ...sizes,
    ...kept,
    dateTime(time, screen.timeZone),
  ]
  return rule(words.join(' · '), screen)
}

/** Old clients recorded the number of messages. */
function keptInWords({ kept, totalMessages }: { readonly kept: number; readonly totalMessages?: number }): string {
  return totalMessages === undefined
    ? counted(kept, 'message')
    : `${count(kept)} of ${counted(totalMessages, 'message')}`
}

function rule(text: string, screen: Screen): string {
  const left = cut(`══ ${text}`, screen.width - 2)
  return screen.paint('cyan', `${left} ${'═'.repeat(Math.max(0, screen.width - columnsOf(left) - 1))}`)
}

function entryLine(line: TreeLine, screen: Screen): string {
  const look = line.kind === 'epoch' ? looks.injected : looks[line.kind]
  const time = padEnd(line.time === undefined ? '' : clockTime(line.time, screen.timeZone), 8)
  const tokens = padStart(line.tokens === undefined ? '' : short(line.tokens), 6)
  const branch = '│ '.repeat(Math.min(maxDepth, line.depth))
  const room = screen.width - 8 - 6 - 4 - branch.length - 2
  const text = cut(wordsOf(line), room)
  const style = line.isError ? 'red' : look.style
  const painted = style === undefined ? `${look.glyph} ${text}` : screen.paint(style, `${look.glyph} ${text}`)
  return `${screen.paint('dim', `${time}  ${tokens}`)}  ${screen.paint('dim', branch)}${painted}`.trimEnd()
}

function wordsOf(line: TreeLine): string {
  if (line.kind === 'sub-agent') return `sub-agent, ${counted(line.entries ?? 0, 'entry', 'entries')}: ${line.text}`
  if (line.kind === 'thinking') return line.text === '' ? 'thinking' : line.text
  if (line.isError) return `error: ${line.text}`
  const text = line.text === '' ? '(empty)' : line.text
  return line.isPostCompact ? `(after a compaction) ${text}` : text
}
