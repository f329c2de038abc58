import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import { findSubagents, fsck, readTranscript } from 'everlong/internal/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { soak } from '../testing/soak.ts'
import { type StageOptions, setStage } from '../testing/stage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-agent-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})
const stageWith = (options: StageOptions = {}) =>
  setStage({
    window: 40_000,
    script: () => text('Here you are.'),
    ...options,
    engine: { ...options.engine, settings: { maxOutputTokens: 4_000, ...options.engine?.settings } },
  })

describe('a session on disk', () => {
  test('over a long run the view in memory is the view of the whole file', { timeout: 90_000 }, async () => {
    const path = join(folder, 'soak.jsonl')
    const report = await soak({
      turns: 200,
      path,
      onTask: (_, session) => {
        const { view } = readTranscript(path)
        expect(session.messages()).toEqual(view.messages)
      },
    })
    expect(report).toMatchObject({ lost: [], invalid: [], endings: [] })
    expect(report.compactions).toBeGreaterThan(2)
    expect(fsck(path)).toMatchObject({ findings: [], errors: 0 })
  })

  test('closed and opened again it continues where it was: view, size, undo', async () => {
    const path = join(folder, 'session.jsonl')
    const stage = await stageWith()
    const session = await stage.engine.start({ path, maxTokens: 1_000 })
    fill(session, { rounds: 4, tokens: 2_600 })
    const full = session.messages()
    await session.compact()
    session.add({ role: 'user', content: 'Go on. Never guess.' })
    await session.send()
    const before = { messages: session.messages(), size: session.explain().size }
    await session.close()

    const again = await stage.engine.open(path, { maxTokens: 1_000 })
    expect({ messages: again.messages(), size: again.explain().size }).toEqual(before)
    expect(await again.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
    expect(again.messages().slice(0, full.length)).toEqual(full)
    expect((await again.recall('question')).matches.length).toBeGreaterThan(2)
    await again.close()
  })

  test('two of them cannot write the same session: the second is told who does', async () => {
    const path = join(folder, 'session.jsonl')
    const stage = await stageWith()
    const first = await stage.engine.start({ path, owner: 'the first' })
    first.add({ role: 'user', content: 'Hello.' })
    await expect(stage.engine.open(path)).rejects.toThrow('is being written by the first')
    const copy = await stage.engine.open(path, { ifHeld: 'fork' })
    expect(copy.messages()).toEqual(first.messages())
    copy.add({ role: 'user', content: 'Only in the copy.' })
    expect(copy.path).not.toBe(path)
    expect(first.messages().map(({ content }) => content)).toEqual(['Hello.'])
    await first.close()
    await copy.close()
    const again = await stage.engine.open(path)
    expect(again.messages().map(({ content }) => content)).toEqual(['Hello.'])
    await again.close()
  })

  test('what was typed while a request was out that never ended is there when it is opened again, once', async () => {
    const path = join(folder, 'session.jsonl')
    const stage = await stageWith()
    const session = await stage.engine.start({ path, maxTokens: 1_000 })
    fill(session, { rounds: 2, tokens: 500 })
    session.add({ role: 'user', content: 'Go.' })
    await session.prepare()
    session.add({ role: 'user', content: 'Typed while the request was out.' })
    // The process dies here: what it left on disk is all there is.
    const left = join(folder, 'left.jsonl')
    copyFileSync(path, left)
    await session.close()
    // Said once, however often the session is opened after that.
    const shown: unknown[] = []
    for (let opening = 1; opening <= 3; opening++) {
      const again = await stage.engine.open(left)
      const said = JSON.stringify(again.messages()).split('Typed while the request was out.')
      expect([opening, said.length - 1, again.messages().at(-1)?.role]).toEqual([opening, 1, 'user'])
      shown.push(again.messages())
      await again.close()
    }
    expect(shown).toEqual(shown.map(() => shown[0]))
  })

  test('a sub-agent writes a file of its own in the folder of its session', async () => {
    const path = join(folder, 'session.jsonl')
    const stage = await stageWith()
    const session = await stage.engine.start({ path })
    session.add({ role: 'user', content: 'Hello.' })
    const sub = await session.subagent({ system: 'You count.' })
    sub.add({ role: 'user', content: 'Count.' })
    await sub.send()
    await sub.close()
    expect(findSubagents(path).agents).toMatchObject([{ place: 'folder', kind: 'agent', entries: 2 }])
    await session.close()
  })
})
