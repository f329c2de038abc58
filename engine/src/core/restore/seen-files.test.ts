import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { createSeenFiles, type SeenFiles, seenFileStore } from './seen-files.ts'

let count = 0

/** A call with its result, and the client's own record of it. */
function call(
  seen: SeenFiles,
  { name, input, text = 'done', raw }: { name: string; input: JsonObject; text?: string; raw?: JsonObject },
): void {
  const id = `t${count++}`
  seen.add({ role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] })
  const result: ViewMessage = {
    role: 'user',
    origin: 'tool-result',
    content: [{ type: 'tool_result', tool_use_id: id, content: text }],
  }
  seen.add(result, raw ? { toolUseResult: raw } : undefined)
}

const textOfFile = async (seen: SeenFiles, path: string) => seenFileStore(seen).read(path)

test('a read shows a file, with or without the client’s own account, and without line numbers', async () => {
  const seen = createSeenFiles()
  call(seen, { name: 'Read', input: { file_path: '/a.ts' }, text: '     1→one\n     2→two' })
  call(seen, {
    name: 'Read',
    input: { file_path: '/b.ts' },
    raw: { type: 'text', file: { filePath: '/b.ts', content: 'x\ny', startLine: 1, numLines: 2, totalLines: 2 } },
  })
  call(seen, { name: 'read_file', input: { path: 'c.ts' }, text: 'plain\ntext' })
  expect(await textOfFile(seen, '/a.ts')).toEqual({ type: 'text', text: 'one\ntwo' })
  expect(await textOfFile(seen, '/b.ts')).toEqual({ type: 'text', text: 'x\ny' })
  expect(await textOfFile(seen, 'c.ts')).toEqual({ type: 'text', text: 'plain\ntext' })
  expect(await textOfFile(seen, '/d.ts')).toEqual({ type: 'refused', why: 'the transcript never shows what is in it' })
})

test('parts are laid over one another, and lines nobody saw are named', async () => {
  const seen = createSeenFiles()
  const part = (startLine: number, content: string) =>
    call(seen, {
      name: 'Read',
      input: { file_path: '/a' },
      raw: { type: 'text', file: { filePath: '/a', content, startLine, numLines: 2, totalLines: 7 } },
    })
  part(2, 'two\nthree')
  expect(await textOfFile(seen, '/a')).toEqual({
    type: 'text',
    text: '[lines 1 to 1 were never shown]\ntwo\nthree\n[lines 4 to 7 were never shown]',
  })
  part(4, 'four\nfive')
  expect(await textOfFile(seen, '/a')).toEqual({
    type: 'text',
    text: '[lines 1 to 1 were never shown]\ntwo\nthree\nfour\nfive\n[lines 6 to 7 were never shown]',
  })
})

test('edits are applied to what was seen, whole originals to everything', async () => {
  const seen = createSeenFiles()
  call(seen, { name: 'Write', input: { file_path: '/a', content: 'one $& two\none' } })
  call(seen, { name: 'Edit', input: { file_path: '/a', old_string: 'one', new_string: 'ONE $&' } })
  expect(await textOfFile(seen, '/a')).toEqual({ type: 'text', text: 'ONE $& $& two\none' })
  call(seen, { name: 'Edit', input: { file_path: '/a', old_string: 'o', new_string: '0$&', replace_all: true } })
  expect(await textOfFile(seen, '/a')).toEqual({ type: 'text', text: 'ONE $& $& tw0$&\n0$&ne' })
  call(seen, {
    name: 'Edit',
    input: { file_path: '/b', old_string: 'x', new_string: 'y' },
    raw: { filePath: '/b', originalFile: 'a\nx\nb' },
  })
  expect(await textOfFile(seen, '/b')).toEqual({ type: 'text', text: 'a\ny\nb' })
})

test.each(['', '\n'])('what a result hid is not shown by the record of an edit (the file ends in %j)', async (end) => {
  const seen = createSeenFiles()
  call(seen, { name: 'Read', input: { file_path: '/a' }, text: '1\tuser=ann\n2\tkey=[redacted]\n3\tport=1' })
  call(seen, {
    name: 'Edit',
    input: { file_path: '/a', old_string: 'port=1', new_string: 'port=2' },
    raw: { filePath: '/a', originalFile: `user=ann\nkey=topsecret\nport=1${end}` },
  })
  expect(await textOfFile(seen, '/a')).toEqual({ type: 'text', text: `user=ann\nkey=[redacted]\nport=2${end}` })
})

test('a patch makes new files and changes known ones', async () => {
  const seen = createSeenFiles()
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+first',
    '+second',
    '*** Update File: old.txt',
    '@@ here',
    ' keep',
    '-gone',
    '+come',
    '*** End Patch',
  ].join('\n')
  call(seen, { name: 'Write', input: { file_path: 'old.txt', content: 'keep\ngone\nend' } })
  call(seen, { name: 'apply_patch', input: { patch } })
  expect(await textOfFile(seen, 'new.txt')).toEqual({ type: 'text', text: 'first\nsecond' })
  expect(await textOfFile(seen, 'old.txt')).toEqual({ type: 'text', text: 'keep\ncome\nend' })
})

describe('a file that may have changed since it was shown is named, not shown', () => {
  const stale = { type: 'refused', why: 'may have changed since it was last shown' }
  const shown = () => {
    const seen = createSeenFiles()
    call(seen, { name: 'Read', input: { file_path: '/w/tasks.md' }, text: '1\t- [ ] drop the table' })
    return seen
  }

  test('by an insertion at a place that the call does not name', async () => {
    const inserted = shown()
    const input = { command: 'insert', path: '/w/tasks.md', insert_line: 1, new_str: '- [ ] and the view' }
    call(inserted, { name: 'str_replace_based_edit_tool', input })
    expect(await textOfFile(inserted, '/w/tasks.md')).toEqual(stale)
  })

  test('by a shell command, a formatter or a checkout; reading it again makes it sure', async () => {
    for (const command of ["sed -i 's/x/y/' tasks.md", 'npm run format', 'git checkout main']) {
      const seen = shown()
      call(seen, { name: 'Bash', input: { command } })
      expect(await textOfFile(seen, '/w/tasks.md')).toEqual(stale)
      call(seen, { name: 'Read', input: { file_path: '/w/tasks.md' }, text: '1\t- [x] drop the table' })
      expect(await textOfFile(seen, '/w/tasks.md')).toEqual({ type: 'text', text: '- [x] drop the table' })
    }
  })

  test('also by a command that failed, but not by one that was turned down or only looks', async () => {
    const fails = (content: string, record?: JsonObject, command = 'git checkout main') => {
      const seen = shown()
      const input = { command }
      seen.add({
        role: 'assistant',
        origin: 'assistant',
        content: [{ type: 'tool_use', id: 'f', name: 'Bash', input }],
      })
      const result = { type: 'tool_result', tool_use_id: 'f', is_error: true, content }
      seen.add({ role: 'user', origin: 'tool-result', content: [result] }, record)
      return textOfFile(seen, '/w/tasks.md')
    }
    const sure = { type: 'text', text: '- [ ] drop the table' }
    expect(await fails('Exit code 1')).toEqual(stale)
    expect(await fails('rm: tasks.md: Permission denied', undefined, 'rm tasks.md')).toEqual(stale)
    const half = "sed -i 's/x/y/' tasks.md && ./deploy.sh"
    expect(await fails('bash: ./deploy.sh: Permission denied', undefined, half)).toEqual(stale)
    const pushed = 'git checkout main && git push'
    expect(await fails('ERROR: Permission to me/app.git denied to you.', undefined, pushed)).toEqual(stale)
    expect(await fails("The user doesn't want to proceed with this tool use.")).toEqual(sure)
    expect(await fails('Permission to use Bash has been denied.')).toEqual(sure)
    expect(await fails('Permission was denied by the user: Run it.')).toEqual(sure)
    expect(await fails('No.', { toolDenialKind: 'user-rejected' })).toEqual(sure)
    const seen = shown()
    call(seen, { name: 'Bash', input: { command: 'cat tasks.md && npm test' } })
    expect(await textOfFile(seen, '/w/tasks.md')).toEqual(sure)
  })

  test('by a person, and by another agent that may write', async () => {
    const edited = shown()
    const attachment = { type: 'edited_text_file', filename: '/w/tasks.md', snippet: '1\tnew' }
    const message: ViewMessage = { role: 'user', origin: 'attachment', attachment: 'edited_text_file', content: 'x' }
    edited.add(message, { attachment })
    expect(await textOfFile(edited, '/w/tasks.md')).toEqual(stale)
    const agent = shown()
    call(agent, { name: 'Task', input: { subagent_type: 'Explore', prompt: 'look' } })
    expect(await textOfFile(agent, '/w/tasks.md')).toMatchObject({ type: 'text' })
    call(agent, { name: 'Task', input: { subagent_type: 'general-purpose', prompt: 'do' } })
    expect(await textOfFile(agent, '/w/tasks.md')).toEqual(stale)
  })

  test('an edit of a file that may have changed leaves it unsure', async () => {
    const seen = shown()
    call(seen, { name: 'Bash', input: { command: 'npm run format' } })
    call(seen, { name: 'Edit', input: { file_path: '/w/tasks.md', old_string: '[ ]', new_string: '[x]' } })
    expect(await textOfFile(seen, '/w/tasks.md')).toEqual(stale)
  })
})

test('a file that was removed or moved away is gone, until it is written again', async () => {
  const patch = '*** Begin Patch\n*** Delete File: /w/old/tasks.md\n*** End Patch'
  const commands = ['rm -f old/tasks.md', 'git mv old/tasks.md new/', 'mkdir new && mv old new']
  const removals = [
    ...commands.map((command) => ({ name: 'Bash', input: { command } })),
    { name: 'apply_patch', input: { input: patch } },
  ]
  for (const removal of removals) {
    const seen = createSeenFiles()
    call(seen, { name: 'Read', input: { file_path: '/w/old/tasks.md' }, text: '1\t- [ ] drop the table' })
    call(seen, removal)
    expect(await textOfFile(seen, '/w/old/tasks.md')).toEqual({ type: 'missing' })
    call(seen, { name: 'Write', input: { file_path: '/w/old/tasks.md', content: 'fresh' } })
    expect(await textOfFile(seen, '/w/old/tasks.md')).toEqual({ type: 'text', text: 'fresh' })
  }
})

test('rule files and files that were restored are shown as well', async () => {
  const seen = createSeenFiles()
  const attach = (attachment: JsonObject & { type: string }) =>
    seen.add({ role: 'user', origin: 'attachment', attachment: attachment.type, content: 'x' }, { attachment })
  attach({ type: 'nested_memory', path: '/w/AGENTS.md', content: { path: '/w/AGENTS.md', content: 'be strict' } })
  attach({ type: 'files', filename: '/w/a.ts', isRestored: true, content: 'File /w/a.ts\nconst a = 1' })
  attach({ type: 'files', filename: '/w/b.ts', isRestored: true, content: 'File /w/b.ts (lines 1–2 of 9)\nb' })
  expect(await textOfFile(seen, '/w/AGENTS.md')).toEqual({ type: 'text', text: 'be strict' })
  expect(await textOfFile(seen, '/w/a.ts')).toEqual({ type: 'text', text: 'const a = 1' })
  expect(seen.file('/w/b.ts')).toBeUndefined()
})

test('a transcript that claims absurd line numbers shows nothing, and costs nothing', () => {
  const seen = createSeenFiles()
  const claim = (account: JsonObject) =>
    call(seen, {
      name: 'Read',
      input: { file_path: '/a' },
      raw: { file: { filePath: '/a', content: 'x', ...account } },
    })
  claim({ startLine: 1e12 })
  claim({ startLine: 1, totalLines: 1e12 })
  call(seen, { name: 'Read', input: { file_path: '/a', offset: 999999999999 }, text: '999999999999→x' })
  expect(seen.file('/a')).toBeUndefined()
})

test('a pointer to an older read shows nothing new', async () => {
  const seen = createSeenFiles()
  call(seen, { name: 'Read', input: { file_path: '/a' }, text: '1\tone' })
  call(seen, { name: 'Read', input: { file_path: '/a' }, text: 'File unchanged since last read.' })
  expect(await textOfFile(seen, '/a')).toEqual({ type: 'text', text: 'one' })
})

test('a failed call shows nothing', async () => {
  const seen = createSeenFiles()
  const content = [{ type: 'tool_use', id: 'x', name: 'Write', input: { file_path: '/a', content: 'no' } }]
  seen.add({ role: 'assistant', origin: 'assistant', content })
  const failed = [{ type: 'tool_result', tool_use_id: 'x', is_error: true, content: 'denied' }]
  seen.add({ role: 'user', origin: 'tool-result', content: failed })
  expect(seen.file('/a')).toBeUndefined()
})

test('a line number that no file has makes no file of a billion lines', async () => {
  const seen = createSeenFiles()
  call(seen, { name: 'Read', input: { file_path: '/a' }, text: '999999999999→x' })
  call(seen, { name: 'Read', input: { file_path: '/b', offset: 4_000_000_000 }, text: 'x' })
  call(seen, { name: 'Read', input: { file_path: '/c' }, text: '1→x' })
  expect(['/a', '/b', '/c'].map((path) => seen.file(path)?.lines)).toEqual([undefined, undefined, ['x']])
})
