// Blocks of code with colors. The library is loaded with the first block whose language is named: most conversations need it, but none
// when the program starts. Only the terminal's own 16 colors, so that it can be read on light and dark.
import type { Sheet, Style } from '../../render/sheet.ts'
import { type Span, wrapSpans } from '../../render/spans.ts'
import type { Highlighter } from './highlight.js'

let library: Highlighter | undefined
let isLoaded = false
let loading: Promise<void> | undefined

/** Whether this Markdown may have a block of code that gets its colors only once `loadColors` is done. */
export function waitsForColors(markdown: string): boolean {
  return !isLoaded && fence.test(markdown)
}

const fence = /(?:^|[\s>])(?:`{3,}|~{3,}) *\w/

/** Resolves also if there are no colors to be had: then code has one. */
export function loadColors(): Promise<void> {
  loading ??= import('./highlight.js')
    .then((loaded) => {
      library = loaded.default
    })
    .catch(() => undefined)
    .then(() => {
      isLoaded = true
    })
  return loading
}

export type Code = {
  /** Without control characters. */
  readonly text: string
  /** What follows the fence. */
  readonly info: string
  /** Its end is still to come. The line that is being written then has one color, or each letter would color all lines again. */
  readonly isOpen: boolean
}

export function codeLines({ text, info, isOpen }: Code, sheet: Sheet): readonly string[] {
  const end = isOpen ? text.lastIndexOf('\n') : text.length
  const colored = end < 0 ? undefined : coloredLines(text.slice(0, end), info)
  const lines = colored ? [...colored, ...(isOpen ? [plain(text.slice(end + 1))] : [])] : text.split('\n').map(plain)
  const narrow = { ...sheet, width: Math.max(1, sheet.width - 2) }
  return lines.flatMap((spans) =>
    spans.every((span) => span.text === '') ? [''] : wrapSpans(spans, narrow).map((line) => `  ${line}`),
  )
}

type Line = readonly Span[]

const plain = (text: string): Line => [{ text, style: 'cyan' }]

/** Longer ones have one color: the time is in proportion to the length. */
const maxLength = 16_000
const kept = new Map<string, readonly Line[]>()
const maxKept = 8

/** Each line in spans; undefined if there are no colors for it. */
function coloredLines(text: string, info: string): readonly Line[] | undefined {
  const [language = ''] = /^[\w+#.-]+/.exec(info) ?? []
  if (!library?.getLanguage(language) || text.length > maxLength) return undefined
  const key = `${language}\n${text}`
  const known = kept.get(key)
  if (known) return known
  const lines = linesOf(spansOf(library.highlight(text, { language, ignoreIllegals: true }).value))
  // Whatever the library returns, the text stays as it is.
  if (lines.map((line) => line.map((span) => span.text).join('')).join('\n') !== text) return undefined
  const [oldest] = kept.size < maxKept ? [] : kept.keys()
  if (oldest !== undefined) kept.delete(oldest)
  kept.set(key, lines)
  return lines
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/** The library writes HTML: escaped text between `<span class="hljs-keyword">` and `</span>`. */
function spansOf(html: string): readonly Span[] {
  const styles: (Style | undefined)[] = []
  return html.split(/(<[^>]*>)/).flatMap((piece) => {
    const [, classes] = /^<span class="([^"]*)">$/.exec(piece) ?? []
    if (classes !== undefined) styles.push(styleOf(classes, styles.at(-1)))
    else if (piece === '</span>') styles.pop()
    else if (piece !== '') {
      const text = piece.replace(/&(amp|lt|gt|quot|#x27);/g, (all, name: string) => entities[name] ?? all)
      const style = styles.at(-1)
      return style === undefined ? [{ text }] : [{ text, style }]
    }
    return []
  })
}

function linesOf(spans: readonly Span[]): readonly Line[] {
  const lines: Span[][] = [[]]
  for (const span of spans) {
    const [first = '', ...others] = span.text.split('\n')
    lines.at(-1)?.push({ ...span, text: first })
    for (const text of others) lines.push([{ ...span, text }])
  }
  return lines
}

/** Inside a string, `${…}` is code again; what has no style of its own has the one around it. */
function styleOf(classes: string, around: Style | undefined): Style | undefined {
  const [name = ''] = classes.replace(/^(?:hljs|language)-/, '').split(' ')
  return name === 'subst' || classes.startsWith('language-') ? undefined : (styles[name] ?? around)
}

const styles: Readonly<Record<string, Style>> = {
  ...styled('dim', 'comment', 'quote'),
  ...styled('green', 'string', 'regexp', 'char', 'addition', 'symbol'),
  ...styled('magenta', 'keyword', 'meta', 'selector-tag', 'selector-id', 'selector-class', 'bullet', 'doctag', 'name'),
  ...styled('cyan', 'number', 'literal', 'type', 'built_in', 'attr', 'attribute', 'code', 'template-variable'),
  ...styled('red', 'deletion'),
  ...styled('bold', 'title', 'section', 'strong'),
  ...styled('italic', 'emphasis'),
  ...styled('underline', 'link'),
}

function styled(style: Style, ...names: readonly string[]): Readonly<Record<string, Style>> {
  return Object.fromEntries(names.map((name) => [name, style]))
}
