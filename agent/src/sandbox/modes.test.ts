import { expect, test } from 'vitest'
import { type SandboxStatus, sandboxLine } from './modes.ts'

test('the person is told whether there is a sandbox', () => {
  const all: readonly SandboxStatus[] = [
    { type: 'off' },
    { type: 'not-started', mode: 'on' },
    { type: 'on', mode: 'on' },
    { type: 'on', mode: 'ask' },
    { type: 'unavailable', mode: 'on', why: 'no bwrap' },
    { type: 'unavailable', mode: 'required', why: 'no bwrap' },
  ]
  expect(all.map(sandboxLine)).toEqual([
    'Sandbox: off. Rules alone decide about commands.',
    'Sandbox: starts with the first command.',
    'Sandbox: on. Commands run without a question, without your other files and without network.',
    'Sandbox: on. Commands ask, and run without your other files and without network.',
    'Sandbox: not available (no bwrap). Rules alone decide about commands.',
    'Sandbox: not available (no bwrap). No command runs.',
  ])
})
