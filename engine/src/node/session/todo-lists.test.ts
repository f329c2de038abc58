import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../core/message/message.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { session } from '../../testing/index.ts'

const wordy = (text: string) => `${text} `.repeat(400)

async function opened(built: ReturnType<typeof session>) {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-todos-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 's.jsonl')
  writeFileSync(path, built.text)
  const found = await createEngine({ model: offline(), environment: {} }).open(path)
  onTestFinished(() => found.close())
  const pageText = () =>
    found
      .messages()
      .map(({ content }) => textOf(content))
      .join('\n')
  return { found, pageText }
}

test('a todo list that the client attached is in the page of the next compaction, and of the one after it', async () => {
  const content = [{ content: 'Repaint the barn', status: 'pending', activeForm: 'Repainting' }]
  const built = session()
    .user('Look after the farm.')
    .attachment('todo', { content, itemCount: 1, context: 'post-compact' })
    .assistant(wordy('I looked at the fences.'))
  const { found, pageText } = await opened(built)
  for (const request of ['And the horses?', 'And the dogs?']) {
    found.add({ role: 'user', content: request })
    found.add({ role: 'assistant', content: wordy('They were fed, all of them.') })
    expect(await found.compact()).toMatchObject({ type: 'compacted' })
    expect(pageText()).toContain('- [ ] Repaint the barn')
  }
})

test('a list that changed in the summarized part stays changed, though an older one is in the messages kept before it', async () => {
  const list = (text: string) => ({ todos: [{ content: text, status: 'pending' }] })
  const built = session()
    .user('Look after the farm.')
    .toolUse('t1', 'TodoWrite', list('Repaint the barn'))
    .toolResult('t1', 'ok')
    .assistant(wordy('I looked at the fences.'))
    .user('And the horses?')
    .toolUse('t2', 'TodoWrite', list('Shoe the horses'))
    .toolResult('t2', 'ok')
    .assistant(wordy(wordy('They were fed.')).slice(0, 60_000))
  const { found, pageText } = await opened(built)
  expect(await found.compact({ from: 'u2' })).toMatchObject({ type: 'compacted' })
  found.add({ role: 'user', content: 'And the dogs?' })
  found.add({ role: 'assistant', content: wordy('They were fed, all of them.') })
  expect(await found.compact()).toMatchObject({ type: 'compacted' })
  expect(pageText()).toContain('- [ ] Shoe the horses')
  expect(pageText()).not.toContain('- [ ] Repaint the barn')
})
