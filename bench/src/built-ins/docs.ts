// Puts the tables of the built-ins benchmark into the documentation, between two marks. A test says when they differ.
import { join } from 'node:path'
import { root } from '../root.ts'
import { type BuiltInsReport, limitTables } from './report.ts'

export const docsPage = join(root, 'docs', 'built-ins.md')

const start = '<!-- built-ins: npm run bench -- built-ins writes this table, and a test holds it. -->'
const end = '<!-- end of built-ins -->'

export function withTables(page: string, report: BuiltInsReport): string {
  const [from, to] = [page.indexOf(start), page.indexOf(end)]
  if (from < 0 || to < from)
    throw new Error(`docs/built-ins.md has lost its marks: put ${start} and ${end} around the table.`)
  return `${page.slice(0, from + start.length)}\n\n${limitTables(report)}\n\n${page.slice(to)}`
}
