import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { keepRules } from './keep-rules.ts'
import { loadSettings, settingsFiles } from './load.ts'

const temporary = setFolder()

test('rules are added to what the file says, once, and it stays readable for its owner only', () => {
  const file = join(temporary(), 'deep', 'settings.json')
  keepRules(file, ['Bash(npm test:*)'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, JSON.stringify({ model: 'demo', permissions: { mode: 'plan', allow: ['Read'], deny: ['Task'] } }))
  chmodSync(file, 0o640)
  keepRules(file, ['Bash(make:*)', 'Read'])
  keepRules(file, ['Bash(make:*)'])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    model: 'demo',
    permissions: { mode: 'plan', allow: ['Read', 'Bash(make:*)'], deny: ['Task'] },
  })
  expect(statSync(file).mode & 0o777).toBe(0o640)
})

test('a file that cannot be read is left as it is', () => {
  const file = join(temporary(), 'settings.json')
  for (const text of ['{ broken', '[]']) {
    writeFileSync(file, text)
    expect(() => keepRules(file, ['Read'])).toThrow()
    expect(readFileSync(file, 'utf8')).toBe(text)
  }
})

test('the file that a link leads to is changed, and the link stays', () => {
  const folder = temporary()
  writeFileSync(join(folder, 'real.json'), '{}')
  symlinkSync('real.json', join(folder, 'settings.json'))
  keepRules(join(folder, 'settings.json'), ['Read'])
  expect(JSON.parse(readFileSync(join(folder, 'real.json'), 'utf8'))).toEqual({ permissions: { allow: ['Read'] } })
})

test('rules kept for a project hold there and in no other, without a question of trust', () => {
  const home = join(temporary(), 'home')
  const [mine, other] = ['mine', 'other'].map((name) => join(temporary(), name)) as [string, string]
  for (const folder of [mine, other]) mkdirSync(folder)
  keepRules(settingsFiles({ home, folder: mine }).own, ['Bash(make:*)'])
  keepRules(settingsFiles({ home, folder: mine }).user, ['Bash(npm test:*)'])
  const allowedIn = (folder: string) => loadSettings({ home, folder })
  expect(allowedIn(mine)).toMatchObject({
    settings: { permissions: { allow: ['Bash(npm test:*)', 'Bash(make:*)'] } },
    withheld: [],
  })
  expect(allowedIn(other).settings.permissions.allow).toEqual(['Bash(npm test:*)'])
})
