// Attempts to run a command that a rule denies, in the mode that asks nothing.
import { expect, test } from 'vitest'
import { makeWorkspace, sorted } from '../../testing/decide-command.ts'
import { setFolder } from '../../testing/folder.ts'
import { pushing, removing } from './denied-command.ts'

const temporary = setFolder()

test.each([
  { rule: 'Bash(rm:*)', attempts: removing },
  { rule: 'Bash(git push:*)', attempts: pushing },
])('$rule denies the command wherever it is in a script, and what may run it asks', ({ rule, attempts }) => {
  const root = makeWorkspace(temporary())
  const { denied, asked, otherCommands, harmless } = attempts
  const commands = [...denied, ...asked, ...otherCommands, ...harmless]
  const decided = { deny: denied, ask: asked, allow: [...otherCommands, ...harmless] }
  expect(sorted(commands, root, { deny: [rule] })).toEqual(decided)
})
