import { expect, test } from 'vitest'
import { sandboxNote } from './sandbox-note.ts'

test('a note is given where the sandbox may be the reason', () => {
  const note = (text: string, isFailed = true, refused: readonly string[] = []) =>
    /^\n\[(The sandbox refused|The sandbox could not|It ran in)?/.exec(sandboxNote({ text, isFailed, refused }))?.[1]
  expect([
    note('cat: .env: Permission denied'),
    note('touch: Read-only file system'),
    note('Error: getaddrinfo EAI_AGAIN example.com'),
    note("bwrap: Can't mkdir /x: Read-only file system"),
    note('fine', false, ['example.com:443']),
    note('assertion failed'),
    note('Permission denied', false),
  ]).toEqual([
    'It ran in',
    'It ran in',
    'It ran in',
    'The sandbox could not',
    'The sandbox refused',
    undefined,
    undefined,
  ])
})
