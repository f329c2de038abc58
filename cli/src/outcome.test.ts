// What a command says of a file that it cannot read or write. Errors that are bugs stay errors.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { expecting, gathered, type Outcome, opening, reading, writing } from './outcome.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-outcome-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'a.jsonl')
const gone = join(folder, 'gone.jsonl')
writeFileSync(file, 'text\n')
mkdirSync(join(folder, 'b'))

const read = (path: string) => () => gathered(readFileSync(path, 'utf8'))

type Way = (path: string, attempt: () => Outcome<string>) => Outcome<string> | Promise<Outcome<string>>

describe.each<[string, Way]>([
  ['reading', reading],
  ['opening', (path, attempt) => opening(path, async () => attempt())],
  ['expecting', expecting],
])('%s', (name, attempt) => {
  test('returns what was read', async () => {
    expect(await attempt(file, read(file))).toEqual(gathered('text\n'))
  })

  test('says that the file is not there', async () => {
    expect(await attempt(gone, read(gone))).toMatchObject({
      type: 'failed',
      message: expect.stringContaining(`${gone} does not exist.`),
    })
  })

  test('names another file that is missing, not this one', async () => {
    const { message = '' } = (await attempt(file, read(gone))) as { readonly message?: string }
    expect(message).toContain(gone)
    expect(message).not.toContain(file)
  })

  test('throws what is no trouble with files', async () => {
    const bug = async () =>
      attempt(file, () => {
        throw new TypeError('a bug')
      })
    await expect(bug()).rejects.toThrow('a bug')
  })

  test('refuses a folder', async () => {
    const { message = '' } = (await attempt(join(folder, 'b'), read(join(folder, 'b')))) as {
      readonly message?: string
    }
    expect(message).toMatch(name === 'expecting' ? /b: / : /b is a folder, and this command takes one transcript/)
  })
})

test('a file that cannot be written is named', () => {
  const path = join(folder, 'nowhere', 'x.jsonl')
  const outcome = writing(path, () => {
    writeFileSync(path, '')
    return gathered('')
  })
  expect(outcome).toMatchObject({ type: 'failed', message: expect.stringContaining(join(folder, 'nowhere')) })
})
