import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { benches } from '../testing/with-bench.ts'
import { type PromptPart, partsOf, withArguments } from './command-text.ts'
import { findOwnCommands } from './own-commands.ts'

const temporary = setFolder()
const setBench = benches()

function filesIn(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(temporary(), name)
  for (const [path, words] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), words)
  }
  return folder
}

/** Commands in angle brackets. */
function shown(parts: readonly PromptPart[] | { readonly why: string }): string {
  if ('why' in parts) return parts.why
  return parts.map((part) => (part.type === 'text' ? part.text : `<${part.command}>`)).join('')
}

const review = `---
description: Reviews a change
argument-hint: "[branch]"
allowed-tools: Bash(rm:*)
---
Review $1 against $2. All: $ARGUMENTS.`

test('commands are Markdown files; those in folders have both names, and the first folder wins', () => {
  const own = filesIn('own', {
    'review.md': review,
    'git/commit.md': 'Commit it.\nWith care.',
    'notes.txt': 'no',
    'node_modules/x/README.md': 'no',
  })
  const other = filesIn('other', { 'review.md': 'Another one.', 'more.md': 'More.' })
  const { found, problems } = findOwnCommands([join(own, 'nowhere'), own, other])
  expect(problems).toEqual([])
  expect(found.map(({ expand: _, text: __, ...rest }) => rest)).toEqual([
    { name: 'git:commit', help: 'Commit it.' },
    { name: 'more', help: 'More.' },
    { name: 'review', arguments: '[branch]', help: 'Reviews a change' },
  ])
  expect(found.map(({ expand }) => shown(expand('a "b c"')))).toEqual([
    'Commit it.\nWith care.\n\na "b c"',
    'More.\n\na "b c"',
    'Review a against b c. All: a "b c".',
  ])
})

test('commands that cannot be used are named, and a link out of the folder is not followed', () => {
  const folder = filesIn('own', { 'empty.md': '---\ndescription: x\n---\n', 'odd name.md': 'x', 'good.md': 'x' })
  const elsewhere = filesIn('elsewhere', { 'secret.md': 'secret' })
  symlinkSync(join(elsewhere, 'secret.md'), join(folder, 'link.md'))
  const { found, problems } = findOwnCommands([folder])
  expect(found.map(({ name }) => name)).toEqual(['good'])
  expect(problems.map((each) => each.slice(folder.length + 1)).toSorted()).toEqual([
    'empty.md: it is empty',
    'link.md: a link leads out of the folder',
    'odd name.md: use letters, digits, ".", "-" and "_" in the name',
  ])
})

test.each([
  ['Do it.', '', 'Do it.'],
  ['Do $ARGUMENTS now.', '', 'Do  now.'],
  ['$1-$2-$3', 'a $2', 'a-$2-'],
  ['costs $10 and $ARGUMENTSX', 'x', 'costs $10 and $ARGUMENTSX\n\nx'],
])('arguments: %j with %j is %j', (body, words, prompt) => {
  expect(shown(withArguments(partsOf(body), words))).toBe(prompt)
})

test.each([
  ['Diff: !`git diff` end', 'x', 'Diff: <git diff> end\n\nx'],
  ['!`git log $1`\n$2', '"a b" c', "<git log 'a b'>\nc"],
  ['!`git log $ARGUMENTS`', 'a $(rm) "b c"', "<git log 'a' '$(rm)' 'b c'>"],
  ['!`git log "$ARGUMENTS"`', "it's $(rm) `x`", "<git log 'it'\\''s $(rm) `x`'>"],
  ["!`git log --format='%h' --author=$1 \"a b\" '$2'`", 'a ;rm', "<git log --format='%h' --author='a' \"a b\" ';rm'>"],
  ['!`git log $3`', 'a', "<git log ''>"],
  // What was typed never becomes a command, nor does a mark inside of a word or over two lines.
  ['Do $ARGUMENTS', '!`rm x`', 'Do !`rm x`'],
  ['Do it', '!`rm x`', 'Do it\n\n!`rm x`'],
  ['$1`rm x`', '!', '!`rm x`'],
  ['Wow!`x` and !`a\nb` and `!` and !``', '', 'Wow!`x` and !`a\nb` and `!` and !``'],
])('commands: %j with %j is %j', (body, words, prompt) => {
  expect(shown(withArguments(partsOf(body), words))).toBe(prompt)
})

test.each([
  'git log "x $1"',
  'git log "$(git show "$1")"',
  "git log 'x $1'",
  'echo \\"$1',
  'echo a # $1',
  'cat <<< x <<END $1',
  'echo $(( $1 ))',
  '[[ $1 -eq 1 ]]',
  `echo $${'{x:-$1}'}`,
  '$1 x',
  'ls; $ARGUMENTS',
  'ls && "$1"',
  'ls | $1',
  'echo $( $1 )',
  'if $1; then ls; fi',
])('a command file with %j is not used: an argument could become code', (command) => {
  const folder = filesIn('own', { 'x.md': `Do !\`${command}\`` })
  const { found, problems } = findOwnCommands([folder])
  expect(found).toEqual([])
  expect(problems).toEqual([
    `${join(folder, 'x.md')}: in !\`${command}\`, write $1 or $ARGUMENTS as an argument of its own, not inside of quotes or in place of a program`,
  ])
})

test("an agent of one's own is a kind of sub-agent with its own system prompt and tools", async () => {
  const folder = filesIn('agents', {
    'reviewer.md': '---\nname: reviewer\ndescription: Reviews code.\ntools: Read, Grep\n---\nYou review.',
    'all.md': '---\ndescription: Does all.\n---\nYou do all.',
    'vague.md': '---\nname: vague\n---\nHm.',
    'poor.md': '---\ndescription: x\ntools: Read, Fly\n---\nHm.',
  })
  const asked: unknown[] = []
  const bench = await setBench({
    agentFolders: [folder],
    stage: {
      script: ({ system, tools = [] }) => {
        asked.push([JSON.stringify(system).includes('You review.'), tools.map(({ name }) => name)])
        return text('Fine.')
      },
    },
  })
  expect(await bench.say('Task', { description: 'x', prompt: 'x', subagent_type: 'reviewer' })).toBe('Fine.')
  expect(asked).toEqual([[true, ['Read', 'Grep']]])
  expect(bench.tools.agents.map(({ name, tools }) => [name, tools.length > 5])).toEqual([
    ['all', true],
    ['reviewer', false],
  ])
  expect(bench.tools.problems.map((each) => each.slice(`Agent not used: ${folder}/`.length))).toEqual([
    expect.stringMatching(/^poor\.md: there is no tool Fly for sub-agents\. Known: Read, /),
    'vague.md: the head has no description, so nobody knows when to use it',
  ])
})
