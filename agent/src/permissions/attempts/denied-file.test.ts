// Attempts to read a file that the rule `Read(.env)` denies, by commands, in the mode that asks nothing.
import { expect, test } from 'vitest'
import { makeWorkspace, sorted } from '../../testing/decide-command.ts'
import { setFolder } from '../../testing/folder.ts'
import { asked, denied, notSeen } from './denied-file.ts'

const temporary = setFolder()
const rules = { deny: ['Read(.env)'] }

test('what names the file is denied, and what may mean it asks', () => {
  const root = makeWorkspace(temporary())
  expect(sorted([...denied, ...asked], root, rules)).toEqual({ deny: denied, ask: asked, allow: [] })
})

test.each(Object.entries(notSeen))('not seen, because %s', (_, commands) => {
  const root = makeWorkspace(temporary())
  expect(sorted(commands, root, rules)).toEqual({ deny: [], ask: [], allow: commands })
})
