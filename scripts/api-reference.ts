// The public names of a subpath with their comments and types, read off the source. Our formatter's layout makes a parser
// unnecessary: a declaration starts at the margin and ends before the next line that does.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Named = { readonly name: string; readonly file: string; readonly original: string }

/** Markdown for everything that `entry` exports, in its order. */
export function apiReference(subpath: string, entry: string): string {
  const text = readFileSync(entry, 'utf8')
  const parts = [`# ${subpath}`, '<!-- Written by scripts/api-reference.test.ts from the source. -->', headOf(text)]
  for (const section of sectionsOf(text)) {
    if (section.title !== undefined) parts.push(`## ${section.title}`)
    const entries = namesIn(section.text, entry)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(entryFor)
    parts.push(...entries.filter(({ isType }) => !isType).map((item) => item.text))
    parts.push(...entries.filter(({ isType }) => isType).map((item) => item.text))
  }
  return `${parts.join('\n\n')}\n`
}

function headOf(text: string): string {
  const lines = text.split('\n')
  const comment = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('//')),
  )
  return comment.map((line) => line.replace(/^\/\/ ?/, '')).join('\n')
}

/** An entry's comments between its exports are titles. */
function sectionsOf(text: string): readonly { readonly title?: string; readonly text: string }[] {
  const [first = '', ...rest] = text.replace(/^(\/\/.*\n)+/, '').split(/^\/\/ (.*)\n/m)
  const titled = rest.flatMap((title, at) => (at % 2 === 0 ? [{ title, text: rest[at + 1] ?? '' }] : []))
  return [{ text: first }, ...titled]
}

function namesIn(text: string, entry: string): readonly Named[] {
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, list = '', from = '']) =>
      list
        .split(',')
        .map((item) => item.trim().replace(/^type /, ''))
        .filter((item) => item !== '')
        .map((item) => {
          const [original = '', name = original] = item.split(' as ')
          return { name, original, file: join(dirname(entry), from) }
        }),
  )
  const declared = [...text.matchAll(/^export (?:async )?(?:type|function|const|class) (\w+)/gm)]
  return [...listed, ...declared.map(([, name = '']) => ({ name, original: name, file: entry }))]
}

function entryFor({ name, file, original }: Named): { readonly isType: boolean; readonly text: string } {
  const source = readFileSync(file, 'utf8')
  const lines = source.split('\n')
  const starts = new RegExp(`^export (?:async )?(?:type|function\\*?|const|class) ${original}\\b`)
  const at = lines.findIndex((line) => starts.test(line))
  if (at < 0) return entryFor({ ...elsewhere(source, file, original), name })
  const code = declaration(lines, at).replaceAll(new RegExp(`\\b${original}\\b`, 'g'), name)
  const text = [`### ${name}`, commentAbove(lines, at), `\`\`\`ts\n${code}\n\`\`\``]
    .filter((part) => part !== '')
    .join('\n\n')
  return { isType: code.startsWith('type'), text }
}

/** Where a name comes from that a file passes on. */
function elsewhere(source: string, file: string, wanted: string): Named {
  const found = namesIn(source.replaceAll(/^import /gm, 'export '), file).find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`${wanted} is exported from ${file} but not declared there`)
  return found
}

function commentAbove(lines: readonly string[], at: number): string {
  if (!lines[at - 1]?.trimEnd().endsWith('*/')) return ''
  let start = at - 1
  while (!lines[start]?.startsWith('/**')) start--
  return lines
    .slice(start, at)
    .map((line) =>
      line
        .replace(/^\/\*\* ?/, '')
        .replace(/ ?\*\/$/, '')
        .replace(/^ \* ?/, ''),
    )
    .join('\n')
    .trim()
}

/** A type in full; of a function its signature; of a constant or a class its first line. */
function declaration(lines: readonly string[], at: number): string {
  const first = (lines[at] ?? '').replace(/^export (?:async )?/, '')
  const taken = [first]
  if (first.startsWith('const') || first.startsWith('class')) return first.replace(/ (?:= .*|=|\{)$/, '')
  const isFunction = first.startsWith('function')
  for (let next = at + 1; next < lines.length; next++) {
    if (isFunction && taken.at(-1)?.endsWith(' {')) break
    const line = lines[next] ?? ''
    if (!isFunction && /^[^\s})\]>]/.test(line)) break
    taken.push(line)
  }
  return taken
    .join('\n')
    .trimEnd()
    .replace(/ \{$/, '')
    .replace(/\n\n\/\*\*[\s\S]*$/, '')
}
