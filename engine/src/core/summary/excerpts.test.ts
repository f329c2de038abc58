import { describe, expect, test } from 'vitest'
import { call as saidCall } from '../../testing/talk.ts'
import type { ViewMessage } from '../message/message.ts'
import { lastExcerpts } from './excerpts.ts'

const call = (name: string, input: Readonly<Record<string, string>>, text = 'done'): readonly ViewMessage[] =>
  saidCall({ name, input, text }).map(({ message }) => message)

const numbered = (lines: readonly string[], from = 1) =>
  lines.map((line, index) => `${String(from + index).padStart(6)}→${line}`).join('\n')

const shown = (...messages: readonly (readonly ViewMessage[])[]) =>
  lastExcerpts(messages.flat(), 10_000).map(({ path, how, code }) => ({ path, how, code }))

describe('code as last seen', () => {
  const old = 'export const limit = readLimit(settings)'
  const now = 'export const limit = readLimit(settings, fallback)'

  test('a look at a place that was changed since is old, line numbers in its margin or not', () => {
    const code = numbered(['import { readLimit } from "./limit.ts"', old])
    expect(
      shown(
        call('Read', { file_path: '/p/a.ts' }, code),
        call('Edit', { file_path: '/p/a.ts', old_string: old, new_string: now }),
      ),
    ).toEqual([{ path: '/p/a.ts', how: 'changed', code: now }])
  })

  test('a file written anew makes every earlier look at it old, and none at another', () => {
    const other = numbered(['export const other = "something else"'])
    expect(
      shown(
        call('Read', { file_path: '/p/a.ts' }, numbered([old])),
        call('Read', { file_path: '/p/b.ts' }, other),
        call('Write', { file_path: '/p/a.ts', content: now }),
      ),
    ).toEqual([
      { path: '/p/a.ts', how: 'written', code: now },
      { path: '/p/b.ts', how: 'read', code: other },
    ])
  })

  test('the same place read again is there once, as it was read last', () => {
    const lines = ['export function first() {}', 'export function second() {}', 'export function third() {}']
    const again = numbered([...lines, 'export function fourth() {}'])
    expect(
      shown(call('Read', { file_path: '/p/a.ts' }, numbered(lines)), call('Read', { file_path: '/p/a.ts' }, again)),
    ).toEqual([{ path: '/p/a.ts', how: 'read', code: again }])
  })

  test('what a client tells the model behind a file is no part of the file', () => {
    const code = numbered(['export const answer = computeAnswer()'])
    const reminder = '\n\n<system-reminder>\nMind the weather.\n</system-reminder>\n'
    expect(shown(call('Read', { file_path: '/p/a.ts' }, `${code}${reminder}`))).toEqual([
      { path: '/p/a.ts', how: 'read', code },
    ])
  })

  test('a long file comes in pieces that together are the file, as far as the characters go', () => {
    const code = Array.from({ length: 100 }, (_, at) => `export const value${at} = makeValue(${at})`).join('\n')
    const messages = call('Write', { file_path: '/p/a.ts', content: code })
    const pieces = lastExcerpts(messages, 100_000)
    expect(pieces.map((piece) => piece.code).join('\n')).toBe(code)
    expect(pieces.map(({ piece, pieces: all }) => `${piece} of ${all}`)).toEqual([
      '1 of 4',
      '2 of 4',
      '3 of 4',
      '4 of 4',
    ])
    expect(lastExcerpts(messages, 1000)).toEqual(pieces.slice(0, 1))
  })
})
