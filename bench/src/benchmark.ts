// What a benchmark is: `run` measures and returns figures, `page` shows them. The figures are checked in as JSON, the page as
// Markdown. The page is always made from the stored figures, so it can be written again without measuring.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

type Definition<Figures> = {
  /** Name of the files in bench/results. */
  readonly name: string
  /** Measures; `args` are the words after the name. Returns undefined if there is nothing to store, for example without data. */
  readonly run: (args: readonly string[]) => Figures | undefined | Promise<Figures | undefined>
  readonly page: (figures: Figures) => Page
  /** For the summary of all benchmarks. */
  readonly targets?: (figures: Figures) => readonly Target[]
}

export type Page = {
  readonly title: string
  /** Markdown and tables, in order, with blank lines between them. Empty and undefined ones are left out. */
  readonly parts: readonly (string | Table | undefined)[]
}

export type Table = { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

/** A goal of a benchmark. */
export type Target = {
  readonly what: string
  readonly wanted: string
  readonly measured: string
  readonly met: boolean
}

export type Benchmark = {
  readonly name: string
  /** Measures, stores the figures and writes the page. With `--dry` or `--only`, prints the page and stores nothing. */
  readonly run: (args?: readonly string[]) => Promise<void>
  /** The page of the stored figures; undefined if there are none. */
  readonly markdown: () => string | undefined
  /** Targets of the stored figures. Empty if there are none. */
  readonly targets: () => readonly Target[]
}

export function defineBenchmark<Figures>({ name, run, page, targets }: Definition<Figures>): Benchmark {
  const markdown = (figures: Figures) => markdownOf(page(figures))
  return {
    name,
    run: async (args = []) => {
      const figures = await run(args.filter((word) => word !== '--dry'))
      if (figures === undefined) return
      const text = markdown(figures)
      console.log(text)
      if (args.includes('--dry') || args.includes('--only')) return
      writeFileSync(pathOf(name, 'json'), `${JSON.stringify(figures, null, 2)}\n`)
      writePage(name, text)
    },
    markdown: () => (isMeasured(name) ? markdown(readFigures(name)) : undefined),
    targets: () => (targets && isMeasured(name) ? targets(readFigures(name)) : []),
  }
}

const pathOf = (name: string, ending: 'json' | 'md') => join(root, 'bench', 'results', `${name}.${ending}`)

export const isMeasured = (name: string) => existsSync(pathOf(name, 'json'))

export function readFigures<Figures>(name: string): Figures {
  return JSON.parse(readFileSync(pathOf(name, 'json'), 'utf8')) as Figures
}

export const readPage = (name: string) => readFileSync(pathOf(name, 'md'), 'utf8')
export const writePage = (name: string, text: string) => writeFileSync(pathOf(name, 'md'), text)

type Cell = string | number | undefined

/** An undefined cell is empty. Numbers get three digits or more: 0.12, 12.3, 1,234. */
export function table(columns: readonly (string | number)[], rows: readonly (readonly Cell[])[]): Table {
  const text = (cell: Cell) => (typeof cell === 'number' ? figure(cell) : (cell ?? ''))
  return { columns: columns.map(String), rows: rows.map((cells) => cells.map(text)) }
}

export function figure(value: number): string {
  const size = Math.abs(value)
  if (Number.isInteger(value) || size >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(size >= 10 ? 1 : 2)
}

export function targetTable(targets: readonly Target[]): Table {
  const row = ({ what, wanted, measured, met }: Target) => [what, wanted, measured, met ? 'yes' : '**no**']
  return table(['what', 'wanted', 'measured', 'met'], targets.map(row))
}

export function markdownOf({ title, parts }: Page): string {
  const blocks = parts.map((part) => (typeof part === 'object' ? markdownTable(part) : part?.trim()))
  return `${[`# ${title}`, ...blocks.filter(Boolean)].join('\n\n')}\n`
}

/** A column of numbers is aligned to the right. */
export function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rules = columns.map((_, at) => {
    const filled = rows.map((row) => row[at] ?? '').filter((cell) => cell !== '' && cell !== '–')
    return filled.length > 0 && filled.every(isFigure) ? '---:' : '---'
  })
  return [line(columns), line(rules), ...rows.map(line)].join('\n')
}

/** Also matches "12 of 30", "3.1 / 4.0", "0.9 (120)", "5 → 4". */
const isFigure = (cell: string) =>
  /^[^\p{L}]*\d[^\p{L}]*$/u.test(cell.replace(/\d of \d|\b(ms|MB|MB\/s|requests\/s)$/g, '0'))
