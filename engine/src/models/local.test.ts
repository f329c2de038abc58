// The clients without a server: the contract, and the answers of each.
import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../core/ports/model.ts'
import { runModelContract } from './contract.ts'
import { offline, offlineNotice, recorded } from './offline.ts'

const request: ModelRequest = {
  source: 'compact',
  model: '',
  messages: [
    { role: 'user', content: 'Never touch the schema.' },
    { role: 'assistant', content: 'Understood.' },
    { role: 'user', content: [{ type: 'text', text: 'Now the tests.' }, { type: 'image' }] },
    { role: 'user', content: 'Summarize.' },
  ],
}

const textOfAnswer = async (client: ReturnType<typeof offline>, asked: ModelRequest) => {
  const answer = await client.send(asked)
  return answer.type === 'answer' ? answer.content : [answer.reason, answer.message]
}

describe('the offline client', () => {
  test('keeps the contract', async () => {
    const failing = [{ request, reason: 'refused' as const }]
    const report = await runModelContract({ client: offline(), request: { ...request, source: 'turn' }, failing })
    expect(report.broken).toEqual([])
  })

  test('answers a turn with the word that nobody is there', async () => {
    expect(await textOfAnswer(offline(), { ...request, source: 'turn' })).toEqual([
      { type: 'text', text: offlineNotice },
    ])
  })

  test.each(['compact', 'collapse', 'session-memory'] as const)('leaves %s to code', async (source) => {
    const refusal = ['refused', 'no model is set up; summaries and notes are written by code']
    expect(await textOfAnswer(offline(), { ...request, source })).toEqual(refusal)
  })

  test('is free and says that it is no conversation partner', async () => {
    expect(offline().capabilities('')).toEqual({
      cacheEdits: false,
      contextManagement: false,
      compaction: 'none',
      promptCache: false,
      offline: true,
    })
  })
})

describe('the recorded client', () => {
  test('keeps the contract', async () => {
    const client = recorded({ summaries: () => 'What was done.' })
    const failing = [{ request: { ...request, source: 'turn' as const }, reason: 'refused' as const }]
    expect((await runModelContract({ client, request, failing })).broken).toEqual([])
  })

  test('hands out its summaries in order, and says when there is none left', async () => {
    const client = recorded({ summaries: ['First.', '<analysis>a</analysis><summary>Second.</summary>'] })
    expect([
      await textOfAnswer(client, request),
      await textOfAnswer(client, request),
      await textOfAnswer(client, request),
    ]).toEqual([
      [{ type: 'text', text: '<summary>\nFirst.\n</summary>' }],
      [{ type: 'text', text: '<analysis>a</analysis><summary>Second.</summary>' }],
      ['refused', 'no recorded summary is left'],
    ])
  })

  test('an abort does not use up a summary', async () => {
    const client = recorded({ summaries: ['First.'] })
    await client.send(request, { signal: AbortSignal.abort() })
    expect(await textOfAnswer(client, request)).toEqual([{ type: 'text', text: '<summary>\nFirst.\n</summary>' }])
  })
})
