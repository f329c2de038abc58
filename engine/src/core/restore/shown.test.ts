import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import { createShown, type Shown } from './seen-files.ts'

let count = 0

function use(
  shown: Shown,
  { name = 'Read', input, text, raw }: { name?: string; input: JsonObject; text: string; raw?: JsonObject },
): void {
  const id = `t${count++}`
  shown.add({ role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] })
  const content = [{ type: 'tool_result', tool_use_id: id, content: text }]
  shown.add({ role: 'user', origin: 'tool-result', content }, raw ? { toolUseResult: raw } : undefined)
}

const text = 'API_KEY=abcdefgh\nMODE=production\n'
const proves = (shown: Shown, now = text) => shown.proves('/w/.env', now)

describe('what proves that a file was shown', () => {
  test.each<[string, Parameters<typeof use>[1], boolean]>([
    ['the text itself', { input: { file_path: '/w/.env' }, text: text.trim() }, true],
    [
      'numbered lines of what has changed since',
      { input: { file_path: '/w/.env' }, text: '     1→OLD_KEY=12345678' },
      false,
    ],
    [
      'the client’s own account',
      { input: { file_path: '/w/.env' }, text: 'ok', raw: { file: { filePath: '/w/.env', content: 'OLD=1' } } },
      false,
    ],
    [
      'a refusal without an error flag',
      { input: { file_path: '/w/.env' }, text: 'Permission to read .env was denied.' },
      false,
    ],
    ['a refusal with a number', { input: { file_path: '/w/.env' }, text: '403: forbidden' }, false],
    [
      'an offset that the numbers do not fit',
      { input: { file_path: '/w/.env', offset: 50 }, text: '1: forbidden' },
      false,
    ],
    ['an empty result', { input: { file_path: '/w/.env' }, text: '' }, false],
    ['a pointer to an older read', { input: { file_path: '/w/.env' }, text: 'File unchanged since last read.' }, false],
    [
      'a server’s tool that makes up numbered lines',
      { name: 'mcp__evil__read_file', input: { path: '/w/.env' }, text: '1\tmade up by it' },
      false,
    ],
    [
      'a server’s tool that shows the text',
      { name: 'mcp__filesystem__read_file', input: { path: '/w/.env' }, text },
      true,
    ],
    ['a shell command that shows the text', { name: 'Bash', input: { command: 'cat /w/.env' }, text }, true],
    [
      'a shell command that was refused',
      { name: 'Bash', input: { command: 'cat /w/.env' }, text: 'Permission denied' },
      false,
    ],
    [
      'a write whose text is there',
      { name: 'Write', input: { file_path: '/w/.env', content: text }, text: 'ok' },
      true,
    ],
    [
      'a write that came to nothing',
      { name: 'Write', input: { file_path: '/w/.env', content: 'x' }, text: 'ok' },
      false,
    ],
    [
      'an edit whose new line is there',
      {
        name: 'Edit',
        input: { file_path: '/w/.env', old_string: 'MODE=test', new_string: 'MODE=production' },
        text: 'ok',
      },
      true,
    ],
    [
      'an edit that came to nothing, around a line that is there',
      {
        name: 'Edit',
        input: { file_path: '/w/.env', old_string: 'MODE=production', new_string: 'MODE=production\nNEW=12345678' },
        text: 'I may not do that.',
      },
      false,
    ],
  ])('%s', (_, call, isProof) => {
    const shown = createShown({ root: '/w' })
    use(shown, call)
    expect(proves(shown)).toBe(isProof)
  })

  test('the host’s word makes a tool a reader, in any spelling of the path', () => {
    const shown = createShown({ root: '/w', named: { open_doc: 'read' } })
    expect(shown.has('/w/.env')).toBe(false)
    use(shown, { name: 'open_doc', input: { path: '.env' }, text: '1\tAPI_KEY=abcdefgh' })
    expect(shown.has('/w/.env')).toBe(true)
    expect(proves(shown)).toBe(true)
  })

  test('short files need every line, since a short line stands anywhere', () => {
    const shown = createShown({ root: '/w' })
    use(shown, { input: { file_path: '/w/.env' }, text: 'a = 1\nb = 2' })
    expect(proves(shown, 'a = 1\nb = 2\nc = 3')).toBe(true)
    expect(proves(shown, 'a = 1\nc = 3')).toBe(false)
  })

  test('a long file that was changed in one place is still the one that was shown', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `const value${at} = ${at}`)
    const shown = createShown({ root: '/w' })
    use(shown, { input: { file_path: '/w/.env' }, text: lines.join('\n') })
    expect(proves(shown, lines.slice(1_000).join('\n'))).toBe(true)
    expect(proves(shown, 'something else entirely')).toBe(false)
  })
})
