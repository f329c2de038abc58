import { describe, expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { createGuard, createStop } from './guarded.ts'
import { guardedFiles, guardedHooks, guardedModel } from './guarded-ports.ts'
import { noOutcome } from './hooks.ts'
import type { ModelAnswer, ModelClient, SendOptions } from './model.ts'
import type { FileRead } from './restore.ts'

const answer: ModelAnswer = {
  type: 'answer',
  id: 'msg_1',
  model: 'm',
  content: [{ type: 'text', text: 'Done.' }],
  stopReason: 'end_turn',
  usage: noTokens,
}

test('a stream that speaks may take its time; once it is silent it is given up', async () => {
  let waiting: (() => void)[] = []
  const problems: unknown[] = []
  const guard = createGuard({
    emit: (event) => problems.push(event),
    wait: (_, signal) =>
      new Promise((resolve) => {
        waiting.push(resolve)
        signal?.addEventListener('abort', resolve, { once: true })
      }),
  })
  /** The time of every wait that is under way runs out. */
  const pass = async () => {
    const all = waiting
    waiting = []
    for (const end of all) end()
    for (let at = 0; at < 20; at++) await Promise.resolve()
  }
  let speak: SendOptions['onEvent']
  let finish: (value: ModelAnswer) => void = () => undefined
  const client: ModelClient = {
    provider: 'slow',
    model: 'm',
    capabilities: () => ({
      cacheEdits: false,
      contextManagement: false,
      compaction: 'none',
      promptCache: false,
      offline: false,
    }),
    send: (_, options) => {
      speak = options?.onEvent
      return new Promise((resolve) => {
        finish = resolve
      })
    },
  }
  const model = guardedModel(client, guard)
  const request = { source: 'turn', model: 'm', messages: [] } as const

  const patient = model.send(request)
  for (const _ of [1, 2, 3]) {
    speak?.({ type: 'text', text: 'word ' })
    await pass()
  }
  finish(answer)
  expect([await patient, problems]).toEqual([answer, []])

  const silent = model.send(request)
  speak?.({ type: 'text', text: 'word ' })
  await pass()
  await pass()
  const why = 'did not answer within 600 s'
  expect(await silent).toEqual({
    type: 'failed',
    reason: 'invalid',
    message: `The model client failed: ${why}`,
    tries: 1,
  })
  expect(problems).toEqual([{ type: 'host-code-failed', code: 'model', problem: why }])
})

describe('files of a host', () => {
  const never = () => new Promise<void>(() => undefined)
  const text: FileRead = { type: 'text', text: 'one' }
  const ways: Readonly<Record<string, () => unknown>> = {
    'gives a text': () => text,
    'gives something else': () => 5,
    throws: () => {
      throw new Error('boom')
    },
    rejects: () => Promise.reject(new Error('boom')),
  }

  test.each(Object.entries(ways))('a read that %s does not stop the next ones', async (_, first) => {
    const asked: string[] = []
    const read = async (path: string) => {
      asked.push(path)
      return (path === 'a' ? first() : text) as FileRead
    }
    const files = guardedFiles({ read }, createGuard({ emit: () => undefined, wait: never }), undefined)
    await files.read('a')
    expect([await files.read('b'), await files.read('c')]).toEqual([text, text])
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  test('while a read hangs, no other one begins; after it came back, they do', async () => {
    let comeBack: (value: FileRead) => void = () => undefined
    const asked: string[] = []
    const read = (path: string) => {
      asked.push(path)
      return path === 'a' ? new Promise<FileRead>((resolve) => (comeBack = resolve)) : Promise.resolve(text)
    }
    const wait = async () => undefined
    const files = guardedFiles({ read }, createGuard({ emit: () => undefined, wait }), undefined)
    expect(await files.read('a')).toEqual({ type: 'refused', why: 'it could not be read' })
    expect(await files.read('b')).toEqual({ type: 'refused', why: 'an earlier read has not come back' })
    comeBack(text)
    for (let at = 0; at < 20; at++) await Promise.resolve()
    // The time of a wait that ends at once is over before any read: what counts is that it was begun.
    await files.read('c')
    expect(asked).toEqual(['a', 'c'])
  })
})

describe('hooks of a host', () => {
  const call = { event: 'PreCompact', trigger: 'manual', customInstructions: '' } as never
  const never = () => new Promise<void>(() => undefined)

  test('that are stopped have nothing to say and no problem', async () => {
    const stop = createStop()
    const running = guardedHooks({ run: () => new Promise(() => undefined) }, never).run(call, { signal: stop.signal })
    stop.stop()
    expect(await running).toEqual(noOutcome)
  })

  test('that break say why', async () => {
    const run = () => Promise.reject(new Error('boom'))
    expect(await guardedHooks({ run }, never).run(call)).toEqual({
      ...noOutcome,
      problems: ['the hooks of PreCompact: boom'],
    })
  })
})
