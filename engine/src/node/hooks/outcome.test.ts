import { expect, test } from 'vitest'
import { noOutcome } from '../../core/ports/hooks.ts'
import { mergeOutcomes, outcomeOf } from './run-command.ts'
import { commandsFor } from './settings.ts'

const printed = (stdout: string) => ({
  name: 'hook',
  run: { exit: 0, stdout, stderr: '', end: 'exited' as const },
  timeoutMs: 1_000,
})

test('of several vetoes and summaries the first counts, wherever it is', () => {
  const parts = [{ instructions: ['a'] }, { veto: 'one', summary: 'first' }, { veto: 'two', summary: 'second' }]
  expect(mergeOutcomes(parts)).toEqual({ ...noOutcome, instructions: ['a'], veto: 'one', summary: 'first' })
  expect(mergeOutcomes([{ summary: 'first' }, { veto: 'late' }])).toMatchObject({ veto: 'late', summary: 'first' })
})

test('only before a compaction can a hook give instructions or the summary', () => {
  const said = { hookSpecificOutput: { newCustomInstructions: 'a', additionalContext: 'b', summary: 'd' } }
  const answer = printed(JSON.stringify(said))
  expect(outcomeOf('PreCompact', answer)).toEqual({ instructions: ['a'], context: ['b'], summary: 'd' })
  expect(outcomeOf('PostCompact', answer)).toEqual({ context: ['b'] })
})

test('only before a tool runs can a hook change its input; the first counts', () => {
  const answer = printed(JSON.stringify({ hookSpecificOutput: { updatedInput: { path: 'b' } } }))
  expect(outcomeOf('PreToolUse', answer)).toEqual({ input: { path: 'b' } })
  expect(outcomeOf('PostToolUse', answer)).toEqual({})
  const wrong = printed(JSON.stringify({ hookSpecificOutput: { updatedInput: 'b' } }))
  expect(outcomeOf('PreToolUse', wrong)).toEqual({
    problems: ['hook: its output is not understood: hookSpecificOutput.updatedInput'],
  })
  expect(mergeOutcomes([{}, { input: { a: 1 } }, { input: { a: 2 } }])).toEqual({ ...noOutcome, input: { a: 1 } })
})

test('a hook that blocks may say and add something as well', () => {
  const said = { additionalContext: 'The tests are red.', userDisplayMessage: 'Fix them first.' }
  const answer = printed(JSON.stringify({ decision: 'block', reason: 'Not now.', hookSpecificOutput: said }))
  const part = { context: ['The tests are red.'], messages: ['Fix them first.'] }
  expect(outcomeOf('PreCompact', answer)).toEqual({ ...part, veto: 'Not now.' })
  expect(outcomeOf('PostCompact', answer)).toEqual({
    ...part,
    problems: ['hook: wanted to block, which PostCompact cannot: Not now.'],
  })
})

test('a matcher takes whole words, which may have spaces around them', () => {
  const hook = { type: 'command', command: 'x' } as const
  const settings = { PreCompact: [{ matcher: 'auto | manual', hooks: [hook] }] }
  expect(commandsFor(settings, 'PreCompact', 'manual')).toEqual([hook])
  for (const word of ['man', 'automatic', 'semi-manual']) expect(commandsFor(settings, 'PreCompact', word)).toEqual([])
})
