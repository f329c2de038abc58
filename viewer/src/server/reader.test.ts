import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import type { ItemPage } from '../data/api.ts'
import { temporaryFolder } from '../testing/sessions.ts'
import { createReader } from './reader.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

test('a page of items has at most 500, starts where it is asked to, and ends with the session', async () => {
  const built = session()
  for (let at = 0; at < 300; at++) built.user(`Question ${at}.`).assistant(`Answer ${at}.`)
  folder.write('long/session.jsonl', built.text)
  const read = createReader({ paths: [`${folder.path}/long`], env: { EVERLONG_CACHE_DIR: folder.path } })
  const [row] = (await read({ type: 'rows' })) as readonly { readonly id: string }[]
  const id = row?.id ?? ''
  const page = async (from: number, count: number) => {
    const found = (await read({ type: 'items', session: id, from, count })) as ItemPage
    return [found.from, found.items.length]
  }
  expect([await page(0, 10), await page(0, 500), await page(0, 10_000)]).toEqual([
    [0, 10],
    [0, 500],
    [0, 500],
  ])
  expect([await page(590, 10_000), await page(9_999, 5)]).toEqual([
    [590, 10],
    [600, 0],
  ])
})
