import { expect, test } from 'vitest'
import { markdownOf, table } from './benchmark.ts'

test('a page has its parts in order, empty ones left out, and columns of numbers aligned to the right', () => {
  const parts = [
    'Some words.',
    undefined,
    '',
    table(
      ['who', 'share', 'of', 'size', 'note'],
      [
        ['a', '12 %', '3 of 4', '1,200 MB', undefined],
        ['b', '−3.5 %', '10 of 12', '', '4 days'],
      ],
    ),
  ]
  expect(markdownOf({ title: 'Title', parts })).toBe(`# Title

Some words.

| who | share | of | size | note |
| --- | ---: | ---: | ---: | --- |
| a | 12 % | 3 of 4 | 1,200 MB |  |
| b | −3.5 % | 10 of 12 |  | 4 days |
`)
})
