// What a benchmark is: `run` measures and returns figures, `page` shows them. The figures are checked in as JSON and the page
// as Markdown, so a page can be written again without measuring (`npm run bench -- NAME --page`).
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

export type Benchmark<Figures> = {
  /** Measures. The result must survive JSON. */
  readonly run: () => Figures | Promise<Figures>
  readonly page: (figures: Figures) => Page
}

export type Page = {
  readonly title: string
  /** Markdown and tables, in order, with blank lines between them. Undefined ones are left out. */
  readonly parts: readonly (string | Table | undefined)[]
}

export type Table = { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

type Cell = string | number | undefined

/** A row for each item. Columns are functions of the item, by their heading; an undefined cell is empty. */
export function table<Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, (item: Item, at: number) => Cell>>,
): Table {
  const cells = Object.values(columns)
  return {
    columns: Object.keys(columns),
    rows: items.map((item, at) => cells.map((cell) => String(cell(item, at) ?? ''))),
  }
}

export function markdownOf({ title, parts }: Page): string {
  const shown = parts.filter((part) => part !== undefined && part !== '')
  const blocks = shown.map((part) => (typeof part === 'string' ? part.trim() : markdownTable(part as Table)))
  return `${[`# ${title}`, ...blocks].join('\n\n')}\n`
}

/** A column of numbers is aligned to the right. */
export function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rules = columns.map((_, at) => {
    const filled = rows.map((row) => row[at] ?? '').filter((cell) => cell !== '')
    return filled.length > 0 && filled.every(isNumber) ? '---:' : '---'
  })
  return [line(columns), line(rules), ...rows.map(line)].join('\n')
}

const isNumber = (cell: string) => /^[−+-]?[\d.,]+( → [\d.,]+)?( ?(%|×|ms|MB))?$/.test(cell)

const pathOf = (name: string, ending: 'json' | 'md') => join(root, 'bench', 'results', `${name}.${ending}`)

export function readFigures<Figures>(name: string): Figures {
  const path = pathOf(name, 'json')
  if (!existsSync(path)) throw new Error(`There is no bench/results/${name}.json: run npm run bench -- ${name}.`)
  return JSON.parse(readFileSync(path, 'utf8')) as Figures
}

export async function runBenchmark<Figures>(name: string, { run, page }: Benchmark<Figures>): Promise<void> {
  writeFileSync(pathOf(name, 'json'), `${JSON.stringify(await run(), null, 2)}\n`)
  writePage(name, { page })
}

/** From the stored figures, so that what is shown is what is stored. */
export function writePage<Figures>(name: string, { page }: Pick<Benchmark<Figures>, 'page'>): void {
  const markdown = markdownOf(page(readFigures<Figures>(name)))
  writeFileSync(pathOf(name, 'md'), markdown)
  console.log(markdown)
}
