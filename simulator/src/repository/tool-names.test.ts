import { expect, test } from 'vitest'
import { inputNameIn, listInput, offeredTools, stringInput, toolNamed } from './tool-names.ts'

const definition = (name: string, ...inputs: readonly string[]) => {
  const properties = Object.fromEntries(inputs.map((input) => [input, { type: 'string' }]))
  return { name, input_schema: { type: 'object', properties } }
}

test('case, hyphens and underscores of a name do not count', () => {
  const names = ['Read', 'read_file', 'READ-FILE', 'toString', 'Deploy']
  expect(names.map(toolNamed)).toEqual([toolNamed('read'), toolNamed('read'), toolNamed('read'), undefined, undefined])
  expect(toolNamed('read')).toBeDefined()
})

test('of two tools with one meaning the first is used', () => {
  const [first, second] = [definition('Read'), definition('read_file')]
  expect([...offeredTools([definition('Deploy'), first, second]).values()]).toEqual([first])
  expect([...offeredTools([second, first]).values()]).toEqual([second])
})

test('an input is spelled as the schema has it, and read under any of its names', () => {
  expect(inputNameIn(definition('Bash', 'timeout', 'cmd'), 'command')).toBe('cmd')
  expect(inputNameIn(definition('Bash'), 'command')).toBe('command')
  expect(inputNameIn({ name: 'Bash', input_schema: {} }, 'command')).toBe('command')
  expect(
    [{ cmd: 'ls' }, { command: 'pwd', cmd: 'ls' }, { command: 1 }, 'ls'].map((input) => stringInput(input, 'command')),
  ).toEqual(['ls', 'pwd', undefined, undefined])
  expect([{ items: ['a'] }, { todos: 'no', items: ['a'] }, 'x', {}].map((input) => listInput(input, 'todos'))).toEqual([
    ['a'],
    ['a'],
    [],
    [],
  ])
})
