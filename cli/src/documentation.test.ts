// docs/command-line.md against the program itself: every command and every option, and none that does not exist.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrap } from '@everlong/agent/render'
import { expect, test } from 'vitest'
import { everlong, root } from './testing/harness.ts'

const page = readFileSync(join(root, 'docs', 'command-line.md'), 'utf8')

async function help(...words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await everlong([...words, '--help'], { env: { COLUMNS: '120' } })
  expect([words, exitCode, stderr]).toEqual([words, 0, ''])
  return stdout
}

async function commandNames(): Promise<readonly string[]> {
  return namesIn((await help()).split('\nLook at sessions:\n')[1]?.split('\nExamples:\n')[0] ?? '')
}

function namesIn(commands: string): readonly string[] {
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name)
}

function optionsIn(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}(?:-\w, )?(--(?!help)[\w-]+(?: <[^>]+>| \[[^\]]+\])?) {2,}(required)?/gm)].map(
    ([, option = '', required]) => (required ? option : `[${option}]`),
  )
}

/** One command with its arguments and options, as `everlong NAME --help` lists them; with subcommands, those instead. */
async function synopsisOf(...name: readonly string[]): Promise<readonly string[]> {
  const text = await help(...name)
  const [, subcommands] = text.split('\nCommands:\n')
  if (subcommands !== undefined) {
    return (await Promise.all(namesIn(subcommands).map((each) => synopsisOf(...name, each)))).flat()
  }
  const usage = /^Usage: (.*)$/m.exec(text)?.[1]?.replace(' [options]', '') ?? ''
  const options = optionsIn(text).map((option) => option.replaceAll(' ', '\u00a0'))
  return wrap([usage, ...options].join(' '), 74).map((line, at) =>
    (at === 0 ? line : `    ${line}`).replaceAll('\u00a0', ' '),
  )
}

// When it has changed on purpose: npm test -- cli/src/documentation -u, then node scripts/make-documentation.ts.
test('the synopsis of all commands, which the page shows', async () => {
  const lines: string[] = []
  for (const name of await commandNames()) lines.push(...(await synopsisOf(name)))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./screens/synopsis.txt')
  expect(page).toContain('<!-- screen synopsis -->')
})

test('the page lists every command, in the order of --help', async () => {
  const [, table = ''] = page.split('| command | what it does |\n')
  const [rows = ''] = table.split('\n\n')
  expect([...rows.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name)).toEqual(await commandNames())
})

test('the text of the page speaks of no option that no command has', async () => {
  const known = new Set(['--help'])
  for (const name of await commandNames()) {
    for (const option of (await synopsisOf(name)).join('\n').match(/--[\w-]+/g) ?? []) known.add(option)
  }
  const prose = page.replaceAll(/^```[\s\S]*?^```/gm, '')
  const named = new Set([...prose.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option))
  expect(named.size).toBeGreaterThan(20)
  expect([...named].filter((option) => !known.has(option))).toEqual([])
})
