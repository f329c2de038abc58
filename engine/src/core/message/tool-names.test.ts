import { expect, test } from 'vitest'
import { pathIn, toolJob } from './tool-names.ts'

test('a spelling is one, with capitals or marks or without', () => {
  expect(['read_file', 'ReadFile', 'readFile', 'READ-FILE'].map(toolJob)).toEqual(['read', 'read', 'read', 'read'])
  expect(['apply_patch', 'str_replace_based_edit_tool', 'TodoWrite', 'AskUserQuestion'].map(toolJob)).toEqual([
    'patch',
    'editor',
    'todo',
    'ask',
  ])
})

test('a tool that nobody has heard of has no job, not even one with a name that every object has', () => {
  expect(['unheard_of', 'constructor', 'toString', '', '123'].map(toolJob)).toEqual(Array(5).fill(undefined))
})

test('the path of an input is found under the names it goes by; an empty one is none', () => {
  expect(pathIn({ file_path: '', target_file: 'a.ts' })).toBe('a.ts')
  expect(pathIn({ command: 'ls' })).toBeUndefined()
})
