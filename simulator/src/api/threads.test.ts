// Threads: conversations the server holds.
import { expect, test } from 'vitest'
import { ask, errorOf, simulate } from '../testing/ask.ts'

const headers = { 'anthropic-beta': 'message-threads-2026-08-12' }
const say = (content: string) => ({ role: 'user', content })
const base = { model: 'claude-opus-5', max_tokens: 100 }
const code = (error_code: string) => ({ details: { error_code } })

test('a thread continues with the new messages alone, its system prompt and tools its own', async () => {
  const simulator = simulate({ windows: { 'claude-opus-5': 500 } })
  const first = await ask(
    simulator,
    { ...base, system: 'Be brief.', thread: { type: 'create' }, messages: [say('One')] },
    { headers },
  )
  const thread = { type: 'continue', previous_message_id: first.body.id }
  const goOn = (more: object) => ask(simulator, { ...base, thread, messages: [say('Two')], ...more }, { headers })

  expect(errorOf(await goOn({ system: 'Be long.' }))).toMatchObject(code('thread_fingerprint_mismatch'))
  expect(errorOf(await goOn({ messages: [say('word '.repeat(600))] }))).toMatchObject({
    message: expect.stringContaining('too long'),
  })
  expect((await goOn({})).status).toBe(200)
  expect(simulator.log.entries.at(-1)?.shape).toBe('sys | u a u')
  expect(errorOf(await goOn({}))).toMatchObject(code('thread_already_continued'))
})

test('a thread that is not there, not supported or not announced is refused', async () => {
  const simulator = simulate()
  const gone = { ...base, thread: { type: 'continue', previous_message_id: 'msg_none' }, messages: [say('One')] }
  const lost = await ask(simulator, gone, { headers })
  expect([lost.status, errorOf(lost)]).toEqual([404, expect.objectContaining(code('thread_not_found'))])
  const managed = { ...base, thread: { type: 'create' }, messages: [say('One')], context_management: { edits: [] } }
  expect(errorOf(await ask(simulator, managed, { headers }))).toMatchObject(code('thread_unsupported_request'))
  expect(errorOf(await ask(simulator, gone))).toMatchObject({ message: 'thread: Extra inputs are not permitted' })
})
