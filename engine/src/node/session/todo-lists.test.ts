import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../core/message/block.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { serialize, session } from '../../testing/index.ts'

test('a todo list that the client attached is in the page of the next compaction, and of the one after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-todos-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const content = [{ content: 'Repaint the barn', status: 'pending', activeForm: 'Repainting' }]
  const { records } = session()
    .user('Look after the farm.')
    .attachment('todo', { content, itemCount: 1, context: 'post-compact' })
    .assistant('I looked at the fences. '.repeat(400))
  const path = join(folder, 's.jsonl')
  writeFileSync(path, records.map(serialize).join(''))
  const engine = createEngine({ model: offline(), environment: {} })
  const opened = await engine.open(path)
  for (const request of ['And the horses?', 'And the dogs?']) {
    opened.add({ role: 'user', content: request })
    opened.add({ role: 'assistant', content: 'They were fed, all of them. '.repeat(400) })
    expect(await opened.compact()).toMatchObject({ type: 'compacted' })
    const page = opened.messages().map(({ content: said }) => textOf(said))
    expect(page.join('\n')).toContain('- [ ] Repaint the barn')
  }
  await opened.close()
})
