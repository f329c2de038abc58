import { expect, test } from 'vitest'
import { outcomeOf } from '../../render/calls.ts'
import { sandboxNote } from './sandbox-note.ts'

const refusals = (hosts: readonly string[], why = 'No.') => hosts.map((host) => ({ host, why }))

test('a note is given where the sandbox may be the reason', () => {
  const note = (text: string, isFailed = true, hosts: readonly string[] = []) =>
    /^\n\[(The sandbox refused|The sandbox could not|It ran in)?/.exec(
      sandboxNote({ text, isFailed, refused: refusals(hosts) }),
    )?.[1]
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

test('a refused connection is reported with its reason, once', () => {
  const refused = refusals(['a.example:80', 'b.example:443'], 'They said: no network please.')
  const note = sandboxNote({ text: 'fine', isFailed: false, refused })
  expect(note).toBe('\n[The sandbox refused connections to a.example:80, b.example:443. They said: no network please.]')
  const output = `fine${note}`
  expect(outcomeOf({ name: 'Bash', input: {}, output, isError: false })).toBe('a.example:80, b.example:443 refused')
})
