import { describe, expect, test } from 'vitest'
import type { FileRead } from '../ports/restore.ts'
import { createGuard } from '../ports/safely.ts'
import { safeFiles } from './host.ts'

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
    const files = safeFiles({ read }, createGuard({ emit: () => undefined, wait: never }), undefined)
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
    const files = safeFiles({ read }, createGuard({ emit: () => undefined, wait }), undefined)
    expect(await files.read('a')).toEqual({ type: 'refused', why: 'it could not be read' })
    expect(await files.read('b')).toEqual({ type: 'refused', why: 'an earlier read has not come back' })
    comeBack(text)
    for (let at = 0; at < 20; at++) await Promise.resolve()
    // A wait that ends at once is over before any read. The test counts reads that were started.
    await files.read('c')
    expect(asked).toEqual(['a', 'c'])
  })
})
