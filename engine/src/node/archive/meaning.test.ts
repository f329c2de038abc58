import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import type { Embedder } from '../../core/ports/model.ts'
import { session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { openArchive } from './archive.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

/** A small working vectorizer: hashed counts of character trigrams. Words with a common part are near. */
function trigrams(name = 'trigrams'): Embedder & { readonly asked: string[] } {
  const asked: string[] = []
  const embed = async (texts: readonly string[]) => {
    asked.push(...texts)
    return texts.map((text) => {
      const vector = new Array<number>(256).fill(0)
      const padded = ` ${text.toLowerCase()} `
      for (let at = 0; at + 3 <= padded.length; at++) {
        let hash = 7
        for (const character of padded.slice(at, at + 3)) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 256
        vector[hash] = (vector[hash] ?? 0) + 1
      }
      return vector
    })
  }
  return { name, embed, asked }
}

const texts = ['the authentication of users', 'a heron at the lake', 'lunch was good', 'zebra crossing']

function place(said: readonly string[] = texts) {
  const folder = folders.next()
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, said.reduce((builder, text) => builder.user(text), session()).text)
  return { path, cache: join(folder, 'cache') }
}

test('a text that shares no word with the query is found by its vector, and one with the word stays found', async () => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const words = 'reauthenticate'
  expect(archive.search({ words }).matches).toEqual([])
  const found = await archive.searchByMeaning({ words }, { embedder: trigrams() })
  expect([found.matches[0]?.id, found.matched, found.missing, found.problem]).toEqual(['u1', 'any', 0, undefined])
  const both = await archive.searchByMeaning({ words: 'heron' }, { embedder: trigrams() })
  expect([both.matches[0]?.id, both.matched]).toEqual(['u2', 'all'])
  archive.close()
})

test('each text is embedded once, also by the next archive; another model embeds it again', async () => {
  const { path, cache } = place()
  const [first, second, other] = [trigrams(), trigrams(), trigrams('other')]
  for (const embedder of [first, second, other]) {
    const archive = openArchive(path, { folder: cache })
    await archive.searchByMeaning({ words: 'bird' }, { embedder })
    archive.close()
  }
  expect(first.asked.toSorted()).toEqual([...texts, 'bird'].toSorted())
  expect(second.asked).toEqual(['bird'])
  expect(other.asked).toHaveLength(texts.length + 1)
})

test('what was appended is embedded, and vectors of what is gone are removed', async () => {
  const { path, cache } = place()
  const archive = openArchive(path, { folder: cache })
  await archive.searchByMeaning({ words: 'bird' }, { embedder: trigrams() })
  writeFileSync(path, session().user('an egret').text)
  archive.refresh()
  const again = trigrams()
  const { matches } = await archive.searchByMeaning({ words: 'egrets' }, { embedder: again })
  expect([again.asked, matches.map(({ snippet }) => snippet)]).toEqual([['an egret', 'egrets'], ['an egret']])
  archive.close()
  const sql = new DatabaseSync(join(cache, readdirSync(cache).find((name) => name.endsWith('.db')) ?? ''))
  expect(sql.prepare('SELECT count(*) AS vectors FROM vectors').get()).toEqual({ vectors: 1 })
  sql.close()
})

test('filters hold for what is near, too', async () => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const query = { words: 'reauthenticate', kinds: ['assistant'] } as const
  expect((await archive.searchByMeaning(query, { embedder: trigrams() })).matches).toEqual([])
  archive.close()
})

test('without time nothing is embedded, and the words are searched', async () => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const found = await archive.searchByMeaning({ words: 'heron' }, { embedder: trigrams(), budgetMs: 0 })
  expect([found.matches.map(({ id }) => id), found.missing]).toEqual([['u2'], texts.length])
  archive.close()
})

test.each<[string, Embedder['embed'], RegExp]>([
  ['throws', () => Promise.reject(new Error('no quota')), /bad failed: no quota/],
  ['returns too few vectors', async () => [[1]], /bad must return one vector for each text/],
  ['returns vectors of different lengths', async (all) => all.map((_, at) => new Array(at + 1).fill(1)), /same length/],
])('an embedder that %s costs only the meaning', async (_, embed, problem) => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const found = await archive.searchByMeaning({ words: 'heron' }, { embedder: { name: 'bad', embed } })
  expect([found.matches.map(({ id }) => id), found.missing]).toEqual([['u2'], texts.length])
  expect(found.problem).toMatch(problem)
  archive.close()
})

test('vectors that are not made of numbers are near to nothing', async () => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const embed: Embedder['embed'] = async (all) => all.map(() => [Number.NaN, 1])
  const found = await archive.searchByMeaning({ words: 'heron' }, { embedder: { name: 'odd', embed } })
  expect(found.matches.map(({ id }) => id)).toEqual(['u2'])
  archive.close()
})

test('a file that changes while the embedder works is read again', async () => {
  const { path } = place()
  const archive = openArchive(path, { folder: false })
  const inner = trigrams()
  let isFirst = true
  const embed: Embedder['embed'] = async (all) => {
    if (isFirst) {
      isFirst = false
      rmSync(path)
      writeFileSync(path, session({ ids: (name) => `new-${name}` }).user('the crane of the harbour').text)
      archive.refresh()
    }
    return inner.embed(all)
  }
  const found = await archive.searchByMeaning({ words: 'cranes' }, { embedder: { name: 'slow', embed } })
  expect(found.matches.map(({ id }) => id)).toEqual(['new-u1'])
  expect(inner.asked).toContain('the crane of the harbour')
  archive.close()
})
