import { isObject, modelFacts, objectAt } from 'everlong/internal'
import { expect, test } from 'vitest'
import { simulate } from '../testing/ask.ts'

const headers = { 'x-api-key': 'key', 'anthropic-version': '2026-10-21' }

test('what a model is said to be able to do agrees with what the catalog knows of its thinking', async () => {
  const response = await simulate().fetch('http://simulator/v1/models?limit=1000', { headers })
  const { data } = (await response.json()) as { readonly data: readonly { readonly id: string }[] }
  expect(data.length).toBeGreaterThan(5)
  const seen = new Set<string>()
  for (const model of data) {
    const thinking = modelFacts(model.id)?.thinking ?? 'none'
    seen.add(thinking)
    const can = objectAt(model, 'capabilities')
    const supported = (...path: readonly string[]) => {
      const found = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), can)
      return isObject(found) && found.supported
    }
    expect([
      model.id,
      supported('thinking'),
      supported('context_management', 'clear_thinking_20251015'),
      supported('context_management', 'compact_20260112'),
      supported('thinking', 'types', 'adaptive'),
      supported('thinking', 'types', 'enabled'),
      supported('thinking', 'types', 'disabled'),
    ]).toEqual([
      model.id,
      thinking !== 'none',
      thinking !== 'none',
      ['any', 'adaptive', 'always'].includes(thinking),
      ['any', 'adaptive', 'always'].includes(thinking),
      ['budget', 'any'].includes(thinking),
      thinking !== 'always',
    ])
  }
  expect(seen.size).toBeGreaterThan(2)
})

test('the pages of a listing have every model once, and only the last one says that there are no more', async () => {
  const page = async (query: string) => {
    const response = await simulate().fetch(`http://simulator/v1/models?${query}`, { headers })
    return (await response.json()) as {
      readonly data: readonly { readonly id: string }[]
      readonly has_more: boolean
      readonly first_id: string | null
      readonly last_id: string | null
    }
  }
  const all = (await page('limit=1000')).data.map(({ id }) => id)
  for (const limit of [1, all.length - 1, all.length, all.length + 1]) {
    const seen: string[] = []
    for (let after = ''; ; ) {
      const { data, has_more: hasMore, first_id, last_id } = await page(`limit=${limit}${after}`)
      seen.push(...data.map(({ id }) => id))
      expect([first_id, last_id, hasMore]).toEqual([data[0]?.id, data.at(-1)?.id, seen.length < all.length])
      if (!hasMore) break
      after = `&after_id=${last_id}`
    }
    expect(seen).toEqual(all)
  }
})
