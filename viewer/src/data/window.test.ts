import { session } from 'everlong/internal/testing'
import { expect, test } from 'vitest'
import { viewOf } from '../testing/sessions.ts'

const usage = (input: number) => ({ input_tokens: input, output_tokens: 10 })

test('an answer in several lines is one point with its largest report, wherever that is', () => {
  const line = (uuid: string, parentUuid: string, input: number) => ({
    ...{
      type: 'assistant',
      uuid,
      parentUuid,
      isSidechain: false,
      sessionId: 's',
      timestamp: '2026-01-01T00:00:00.000Z',
    },
    message: {
      ...{ id: 'msg_1', role: 'assistant', type: 'message', model: 'claude-opus-4-5' },
      ...{ content: [{ type: 'text', text: uuid }], usage: usage(input) },
    },
  })
  const totals = (...inputs: readonly number[]) => {
    const { records } = session().user('Go.')
    const first = String(records[0]?.uuid)
    const lines = inputs.map((input, at) => line(`line-${at}`, at === 0 ? first : `line-${at - 1}`, input))
    return viewOf([...records, ...lines] as never).window().totals
  }
  expect([totals(500, 900), totals(900, 500), totals(500, 900, 700)]).toEqual([[910], [910], [910]])
})
