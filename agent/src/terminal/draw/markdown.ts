// Markdown as lines for a terminal. A model's text is untrusted, so control characters are removed first.
import { lexer, type Token, type Tokens } from 'marked'
import { safeText } from '../../render/safe.ts'
import type { Sheet, Style } from '../../render/sheet.ts'
import { type Span, wrapSpans, wrapText } from '../../render/spans.ts'
import { codeLines } from './code.ts'
import { tableLines } from './table.ts'

export function markdownLines(text: string, sheet: Sheet): readonly string[] {
  return blockLines(lexer(safeText(text)), sheet)
}

/** The blocks that more text cannot change, and the one that is still being written. */
export function splitFinished(text: string): { readonly finished: string; readonly rest: string } {
  const tokens = lexer(text)
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  if (last <= 0) return splitLong(text)
  const length = tokens.slice(0, last).reduce((sum, { raw }) => sum + raw.length, 0)
  // The lexer rewrites some white space, so a length could be wrong; in that case nothing counts as finished.
  const finished = text.slice(0, length)
  const isExact = tokens.map(({ raw }) => raw).join('') === text
  return isExact ? { finished, rest: text.slice(length) } : { finished: '', rest: text }
}

/** Characters. Code is colored again with each of its lines. */
const maxBlockLength = { code: 4_000, other: 8_000 }

/** A very long code block or list is split between lines, so that the time to draw it stays bounded. */
function splitLong(text: string): { readonly finished: string; readonly rest: string } {
  const [, fence, info = ''] = openFence.exec(text) ?? []
  const longest = fence === undefined ? maxBlockLength.other : maxBlockLength.code
  const end = text.length > longest ? text.lastIndexOf('\n') + 1 : 0
  const isOnlyFence = fence !== undefined && text.indexOf('\n') + 1 === end
  if (end === 0 || isOnlyFence) return { finished: '', rest: text }
  if (fence === undefined) return { finished: text.slice(0, end), rest: text.slice(end) }
  const again = info.endsWith(continued) ? info : `${info} ${continued}`.trimStart()
  return { finished: `${text.slice(0, end)}${fence}\n`, rest: `${fence}${again}\n${text.slice(end)}` }
}

const openFence = /^ {0,3}(`{3,}|~{3,}) *([^\n`]*)/
const continued = '…'

/** The second part of a code block that was split follows the first one without a gap. */
export function continuesCode(text: string): boolean {
  return openFence.exec(text)?.[2]?.endsWith(continued) ?? false
}

function blockLines(tokens: readonly Token[], sheet: Sheet): readonly string[] {
  const blocks = tokens.flatMap((token) => {
    const lines = linesOf(token as Tokens.Generic, sheet)
    return lines.length === 0 ? [] : [lines]
  })
  return blocks.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]))
}

function linesOf(token: Tokens.Generic, sheet: Sheet): readonly string[] {
  const { width, paint } = sheet
  switch (token.type) {
    case 'heading':
      return wrapSpans(inline(token.tokens, ['bold', ...(token.depth === 1 ? (['underline'] as const) : [])]), sheet)
    case 'paragraph':
    case 'text':
      return wrapSpans(inline(token.tokens ?? [token as Token]), sheet)
    case 'code':
      return codeBlock(token as Tokens.Code, sheet)
    case 'list':
      return listLines(token as Tokens.List, sheet)
    case 'table':
      return tableLines(cellsOf(token as Tokens.Table), sheet)
    case 'blockquote':
      return blockLines(token.tokens ?? [], { ...sheet, width: width - 2 }).map(
        (line) => `${paint('dim', '│')} ${line}`,
      )
    case 'hr':
      return [paint('dim', '─'.repeat(Math.min(width, 40)))]
    case 'space':
    case 'def':
      return []
    default:
      return wrapText(token.raw.trimEnd(), width)
  }
}

function codeBlock({ text, lang = '', raw, codeBlockStyle }: Tokens.Code, sheet: Sheet): readonly string[] {
  const isOpen = codeBlockStyle !== 'indented' && !/\n *(?:(?:`{3,}|~{3,})\s*)?$/.test(raw)
  const title = lang === '' || lang.endsWith(continued) ? [] : [`  ${sheet.paint('dim', lang)}`]
  return [...title, ...codeLines({ text, info: lang, isOpen }, sheet)]
}

function listLines(list: Tokens.List, sheet: Sheet): readonly string[] {
  const first = typeof list.start === 'number' ? list.start : 1
  return list.items.flatMap((item, at) => {
    const box = item.task ? (item.checked ? '[x] ' : '[ ] ') : ''
    const mark = `${list.ordered ? `${first + at}. ` : '- '}${box}`
    const room = { ...sheet, width: Math.max(10, sheet.width - mark.length) }
    const inside = item.tokens.filter(({ type }) => type !== 'checkbox')
    const lines = inside.flatMap((token, index) => {
      const own = linesOf(token as Tokens.Generic, room)
      return list.loose && index > 0 && own.length > 0 ? ['', ...own] : own
    })
    const text = lines.map((line, index) =>
      line === '' ? '' : `${index === 0 ? mark : ' '.repeat(mark.length)}${line}`,
    )
    return list.loose && at > 0 ? ['', ...text] : text.length === 0 ? [mark] : text
  })
}

function cellsOf({ header, rows }: Tokens.Table): readonly (readonly string[])[] {
  return [header, ...rows].map((row) => row.map(({ tokens }) => plainOf(tokens)))
}

function plainOf(tokens: readonly Token[]): string {
  return inline(tokens)
    .map(({ text }) => text)
    .join('')
    .replace(/\s+/g, ' ')
}

type Styles = readonly Exclude<Style, readonly unknown[]>[]

function inline(tokens: readonly Token[] = [], styles: Styles = []): readonly Span[] {
  return tokens.flatMap((token) => inlineSpans(token as Tokens.Generic, styles))
}

function inlineSpans(token: Tokens.Generic, styles: Styles): readonly Span[] {
  switch (token.type) {
    case 'strong':
      return inline(token.tokens, [...styles, 'bold'])
    case 'em':
      return inline(token.tokens, [...styles, 'italic'])
    case 'del':
      return inline(token.tokens, [...styles, 'strikethrough'])
    case 'codespan':
      return [span(token.text, [...styles, 'cyan'])]
    case 'br':
      return [span('\n', styles)]
    case 'link': {
      const text = inline(token.tokens, [...styles, 'underline'])
      const isPlain = text.map((piece) => piece.text).join('') === token.href
      return isPlain ? text : [...text, span(` (${token.href})`, [...styles, 'dim'])]
    }
    case 'image':
      return [span(`[image: ${token.text || token.href}]`, styles)]
    case 'text':
      return token.tokens ? inline(token.tokens, styles) : [span(unescaped(token.text), styles)]
    case 'escape':
      return [span(token.text, styles)]
    default:
      return [span(token.raw, styles)]
  }
}

function span(text: string, styles: Styles): Span {
  return styles.length === 0 ? { text } : { text, style: [...styles] }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (all, name: string) => entities[name] ?? all)
}
