// The page on the command line, and its expected text with the screens from the tests of the command line.
import { readFileSync } from 'node:fs'

export const page = new URL('../docs/command-line.md', import.meta.url)

/** Blocks below a mark `<!-- screen NAME[, lines A to B] -->` are taken from cli/src/screens. */
export function documentation(): { readonly text: string; readonly wanted: string } {
  const text = readFileSync(page, 'utf8')
  const mark = /(<!-- screen ([\w-]+)(?:, lines (\d+) to (\d+))? -->\n```text\n)[\s\S]*?(```)/g
  const wanted = text.replace(mark, (_, open: string, name: string, ...[first, last, close]: readonly string[]) => {
    const lines = readFileSync(new URL(`../cli/src/screens/${name}.txt`, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n')
    const chosen = first === undefined ? lines : lines.slice(Number(first) - 1, Number(last))
    return `${open}${chosen.join('\n')}\n${close}`
  })
  return { text, wanted }
}
