// The appearance of the kinds of a context: name, color, and a letter for screens without color.
import { count, oneLine, padEnd, padStart, percent, type Style } from '@everlong/agent/render'
import type { KindTokens } from 'everlong/internal/compaction'
import { bar, type Segment, segmentedBar } from './bar.ts'
import type { Screen } from './screen.ts'

type Kind = KindTokens['kind'] | 'unattributed'
type Look = { readonly name: string; readonly style: Style; readonly letter: string }

const looks: Readonly<Record<Kind, Look>> = {
  'human-messages': { name: 'human messages', style: 'green', letter: 'H' },
  'assistant-text': { name: 'assistant text', style: 'cyan', letter: 'A' },
  thinking: { name: 'thinking', style: 'magenta', letter: 'T' },
  'tool-requests': { name: 'tool requests', style: 'blue', letter: 'Q' },
  'tool-results': { name: 'tool results', style: 'yellow', letter: 'R' },
  attachments: { name: 'attachments', style: 'cyanBright', letter: 'F' },
  images: { name: 'images', style: 'redBright', letter: 'I' },
  summaries: { name: 'summaries', style: 'greenBright', letter: 'S' },
  'injected-text': { name: 'injected text', style: 'white', letter: 'N' },
  'system-prompt': { name: 'system prompt', style: 'blueBright', letter: 'P' },
  'tool-definitions': { name: 'tool definitions', style: 'yellowBright', letter: 'D' },
  'memory-files': { name: 'memory files', style: 'magentaBright', letter: 'M' },
  other: { name: 'other', style: 'white', letter: 'O' },
  unattributed: { name: 'unattributed', style: 'gray', letter: '?' },
}

export type Composition = {
  readonly tokens: number
  readonly kinds: readonly KindTokens[]
  readonly unattributed: number
}

/** The context as segments of a line that is `whole` tokens long. */
export function compositionBar(
  composition: Composition,
  along: { readonly whole: number; readonly columns: number },
  screen: Screen,
): string {
  const segments: readonly Segment[] = [
    ...composition.kinds.map(({ kind, tokens }) => ({ ...looks[kind], size: tokens })),
    { ...looks.unattributed, size: composition.unattributed },
  ]
  return segmentedBar(segments, along, screen)
}

/** A row per kind: its symbol, tokens, share, and largest parts. */
export function legend(composition: Composition, screen: Screen): readonly string[] {
  const { kinds, unattributed, tokens } = composition
  const rows = [
    ...kinds.map(({ kind, tokens: own, parts }) => ({ look: looks[kind], tokens: own, note: partsInWords(parts) })),
    ...(unattributed === 0
      ? []
      : [{ look: looks.unattributed, tokens: unattributed, note: ['system prompt, tools, …'] }]),
  ]
  const most = Math.max(1, ...rows.map((row) => row.tokens))
  const names = Math.max(...rows.map(({ look }) => look.name.length))
  const numbers = Math.max(...rows.map((row) => count(row.tokens).length))
  const bars = screen.width >= 100 ? 20 : 12
  return rows.map(({ look, tokens: own, note }) => {
    const left = `  ${swatch(look, screen)} ${padEnd(look.name, names)}  ${padStart(count(own), numbers)}  ${padStart(percent(own, tokens), 5)}`
    const picture = screen.paint(look.style, padEnd(bar(own / most, bars), bars))
    const room = screen.width - (names + numbers + bars + 17)
    return `${left}  ${picture}  ${screen.paint('dim', fitted(note, room))}`.trimEnd()
  })
}

function swatch({ style, letter }: Look, screen: Screen): string {
  return screen.isColored ? screen.paint(style, '█') : letter
}

function partsInWords(parts: KindTokens['parts']): readonly string[] {
  return parts.map(({ name, tokens }) => `${oneLine(name)} ${count(tokens)}`)
}

/** As many of the notes as fit, with an ellipsis for the rest. */
function fitted(notes: readonly string[], room: number): string {
  for (let shown = notes.length; shown > 0; shown--) {
    const text = notes.slice(0, shown).join(', ') + (shown < notes.length ? ', …' : '')
    if (text.length <= room) return text
  }
  return ''
}
