import { expect, test } from 'vitest'
import type { SessionRow } from '../../data/api.ts'
import { csvOf } from './csv.ts'

const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
const row: SessionRow = {
  ...{ id: 'abc', path: '/home/me/secret.jsonl', bytes: 10, modified: 0, trouble: null },
  facts: {
    ...{ agent: 'claude-code', title: 'Secret', project: '/home/me', from: 0, to: null },
    ...{ messages: 5, turns: 6, compactions: 7, lost: null, cachedShare: 0.5, withoutPrice: [], cost: 0.25, tokens },
    models: [{ model: '=cmd|"x",1', answers: 1, tokens, cost: null }],
  },
}

test('numbers, agent and models; no title, path or project; an unknown value is empty', () => {
  expect(csvOf([row])).toBe(
    [
      'session,agent,models,from,to,bytes,messages,turns,compactions,lost,input,output,cache_read,cache_write,dollars',
      `abc,claude-code,"'=cmd|""x"",1",1970-01-01T00:00:00.000Z,,10,5,6,7,,1,2,3,4,0.25`,
      '',
    ].join('\n'),
  )
})

test('a session that was not read has no line', () => {
  expect(csvOf([{ ...row, facts: null }]).split('\n')).toHaveLength(2)
})
