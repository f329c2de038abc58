// Whatever a gateway stores, with a key, is encrypted on disk.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, offline } from 'everlong'
import { afterAll, expect, test } from 'vitest'
import { openStores } from './stores.ts'

const root = mkdtempSync(join(tmpdir(), 'everlong-stores-of-gateway-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function textIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return names
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')
}

test.each([true, false])('both stores of a tenant are encrypted if there is a key: %o', async (isEncrypted) => {
  const data = mkdtempSync(join(root, 'data-'))
  const encryption = isEncrypted ? { keys: [{ id: 'one', secret: randomBytes(32).toString('base64') }] } : undefined
  const stores = openStores({ data, store: undefined, encryption } as never, () => undefined)
  for (const [name, storeOf] of Object.entries({ passed: stores.storeOf, managed: stores.managedStoreOf })) {
    const session = await createEngine({ model: offline(), environment: {}, store: storeOf('tenant') }).start({
      id: 's',
    })
    session.add({ role: 'user', content: `The ${name} heron.` })
    await session.close()
    const again = await createEngine({ model: offline(), environment: {}, store: storeOf('tenant') }).open('s')
    expect(again.messages().map(({ content }) => content)).toEqual([`The ${name} heron.`])
    await again.close()
  }
  await stores.close()
  const text = textIn(data)
  expect([text.includes('The passed heron.'), text.includes('The managed heron.')]).toEqual([
    !isEncrypted,
    !isEncrypted,
  ])
})
