import { describe, expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import { noOutcome } from './hooks.ts'
import type { ModelAnswer, ModelClient, SendOptions } from './model.ts'
import { createGuard, createStop, safeHooks, safeModel } from './safely.ts'

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
  /** Lets the time of every current wait run out. */
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
  const model = safeModel(client, guard)
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

describe('hooks of a host', () => {
  const call = { event: 'PreCompact', trigger: 'manual', customInstructions: '' } as never
  const never = () => new Promise<void>(() => undefined)

  test('that are stopped have nothing to say and no problem', async () => {
    const stop = createStop()
    const running = safeHooks({ run: () => new Promise(() => undefined) }, never).run(call, { signal: stop.signal })
    stop.stop()
    expect(await running).toEqual(noOutcome)
  })

  test('that break say why', async () => {
    const run = () => Promise.reject(new Error('boom'))
    expect(await safeHooks({ run }, never).run(call)).toEqual({
      ...noOutcome,
      problems: ['the hooks of PreCompact: boom'],
    })
  })
})
