import { expect, test } from 'vitest'
import { inputFor } from './any-tool.ts'

const input = (properties: object, required = Object.keys(properties)) =>
  inputFor({ name: 'ask', input_schema: { type: 'object', properties, required } })

test('the input of an unknown tool fits its schema: what is required, of the right type and within limits', () => {
  expect(
    input({
      word: { type: 'string' },
      long: { type: 'string', minLength: 10 },
      short: { type: 'string', maxLength: 2 },
      kind: { enum: ['b', 'a'] },
      fixed: { const: 7 },
      usual: { type: 'number', default: 5 },
      count: { type: 'integer', minimum: 3 },
      maybe: { type: ['string', 'null'] },
      either: { anyOf: [{ type: 'boolean' }, { type: 'string' }] },
      list: { type: 'array', items: { type: 'integer' }, minItems: 2 },
      inner: { type: 'object', properties: { a: { type: 'null' }, b: {} }, required: ['a'] },
    }),
  ).toEqual({
    word: 'example',
    long: 'examplexxx',
    short: 'ex',
    kind: 'b',
    fixed: 7,
    usual: 5,
    count: 3,
    maybe: 'example',
    either: true,
    list: [1, 1],
    inner: { a: null },
  })
  expect(input({ a: { type: 'string' }, b: { type: 'string' } }, ['b'])).toEqual({ b: 'example' })
})

test('a tool without a schema, or with one that contains itself, is called all the same', () => {
  expect(inputFor({ name: 'ask' })).toEqual({})
  const node: { [key: string]: unknown } = { type: 'object', required: ['next'] }
  node.properties = { next: node }
  expect(JSON.stringify(inputFor({ name: 'ask', input_schema: node }))).toMatch(/^\{"next":/)
})
