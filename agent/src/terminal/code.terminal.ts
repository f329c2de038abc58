// Code in answers, in the colors of the terminal.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Program, programs } from './testing/program.ts'

const start = programs()

/** The first line with this text, and the color of each of its words, as the terminal numbers them; -1 is its own. */
function colorsOf({ terminal }: Program, wanted: string): readonly (readonly [string, number])[] {
  const { active } = terminal.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at))
  const line = lines.find((each) => each?.translateToString(true).includes(wanted))
  const text = line?.translateToString(true) ?? ''
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const cell = line?.getCell(index)
    return [word, cell?.isFgPalette() ? cell.getFgColor() : -1]
  })
}

const [green, magenta, cyan] = [2, 5, 6]

async function asked(program: Program, prompt: string): Promise<void> {
  await program.shows('% left')
  program.type(`${prompt}\r`)
  await program.shows('That is all.', 'everything')
  await program.hides('Esc to interrupt')
}

test('the first code of a session is printed in colors, once, also before a session that continues', async () => {
  const program = start()
  await asked(program, 'code 3')
  const colors = [
    ['export', magenta],
    ['const', magenta],
    ['name2', -1],
    ['=', -1],
    ['{', -1],
    ['text:', cyan],
    ["'line", green],
    ["2',", green],
    ['count:', cyan],
    ['2', cyan],
    ['}', -1],
    ['//', -1],
    ['comment', -1],
    ['2', -1],
  ]
  expect(colorsOf(program, 'name2')).toEqual(colors)
  expect(program.everything().match(/name2/g)).toHaveLength(1)
  program.type('/quit\r')
  await program.ended
  const { folder, home } = program
  const again = start({ data: { folder, home, isContinued: true } })
  await again.shows('% left')
  await again.shows('That is all.')
  expect(colorsOf(again, 'name2')).toEqual(colors)
  expect(again.everything().match(/name2/g)).toHaveLength(1)
})

test('NO_COLOR: code has none', async () => {
  const program = start({ env: { NO_COLOR: '1' } })
  await asked(program, 'code 3')
  expect(new Set(colorsOf(program, 'name2').map(([, color]) => color))).toEqual(new Set([-1]))
})

test('a long block is written without a pause of the screen, every line once and in colors', async () => {
  const program = start()
  await program.shows('% left')
  program.kill('SIGUSR2')
  await asked(program, 'code 600')
  const names = [...program.everything().matchAll(/name(\d+) /g)].map(([, at]) => Number(at))
  expect(names).toEqual(Array.from({ length: 600 }, (_, at) => at + 1))
  for (const at of [1, 200, 400, 600])
    expect(colorsOf(program, `name${at} `).slice(0, 2)).toEqual([
      ['export', magenta],
      ['const', magenta],
    ])
  program.type('/quit\r')
  await program.ended
  expect(Number(readFileSync(join(program.home, 'busiest-ms'), 'utf8'))).toBeLessThan(50)
})
