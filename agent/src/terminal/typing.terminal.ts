// The real program in a pseudo-terminal: what a person types, and what the screen shows.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keys } from './testing/keys.ts'
import { type Program, programs } from './testing/program.ts'

const start = programs()

async function ready(program: Program): Promise<Program> {
  await program.shows('% left')
  return program
}

test('an answer streams in as Markdown, and the gauge says how full the context is', async () => {
  const program = await ready(start())
  program.type('say # Title\\n\\nSome **bold** words.\\n\\n- one\\n- two')
  await program.shows('- two')
  program.type(keys.enter)
  await program.shows(/^Title$/m)
  await program.shows(/^- two$/m)
  await program.hides('Esc to interrupt')
  expect(program.screen()).toContain('Title\n\nSome bold words.\n\n- one\n- two')
  await program.shows(/\d+ % left · [\d,.k]+ of \d/)
})

test('deleted text comes back after another message, edits are undone, and ? lists the keys', async () => {
  const program = await ready(start())
  program.type(`a long draft${keys.ctrlU}`)
  await program.shows('Ask something')
  program.type(`say Quick.${keys.enter}`)
  await program.shows(/^Quick\.$/m)
  program.type(keys.ctrlY)
  await program.shows('› a long draft')
  program.type(keys.ctrlC)
  await program.shows('Ask something')
  program.type(keys.ctrlUnderscore)
  await program.shows('› a long draft')
  program.type(keys.ctrlU)
  await program.shows('Ask something')
  program.type('?')
  await program.shows('Ctrl+Y    inserts what was deleted')
  program.type(keys.escape)
  await program.hides('inserts what was deleted')
  program.type('?')
  await program.shows('inserts what was deleted')
  program.type('?')
  await program.shows(/› \?$/m)
})

test('keys edit the text: words, lines, several lines, history', async () => {
  const program = await ready(start())
  program.type(`say one two${keys.ctrlW}`)
  await program.shows(/› say one\s*$/m)
  program.type(`${keys.ctrlA}X${keys.ctrlE}Y`)
  await program.shows('› Xsay one Y')
  program.type(`${keys.escape}`)
  await program.shows('Press Esc again to clear')
  program.type(`${keys.escape}`)
  await program.shows('Ask something')
  program.type(`say first\\${keys.enter}`)
  await program.shows('› say first')
  program.type(`second${keys.altEnter}third`)
  await program.shows(/› say first\n {2}second\n {2}third/)
  program.type(keys.enter)
  await program.shows(/^first\nsecond\nthird|^first second third/m)
  program.type('say other')
  program.type(keys.enter)
  await program.shows(/^other$/m)
  program.type(keys.up)
  await program.shows(/─\n› say other\n─/)
  program.type(keys.up)
  await program.shows(/─\n› say first\n {2}second\n {2}third\n─/)
})

test('an @ completes a file, and Ctrl+R finds what was typed before', async () => {
  const program = await ready(start({ prepare: (folder) => writeFileSync(join(folder, 'parser.ts'), '') }))
  program.type('say @par')
  await program.shows('› @parser.ts')
  program.type('\t')
  await program.shows('› say @parser.ts')
  program.type(keys.enter)
  await program.shows(/^@parser\.ts$/m)
  program.type(keys.ctrlR)
  await program.shows('Filter:')
  program.type('par')
  await program.shows('› say @parser.ts')
  program.type(keys.enter)
  await program.shows(/─\n› say @parser\.ts\s*\n─/)
})

test('a permission prompt shows the diff, and takes yes, always, and no with a reason', async () => {
  const program = await ready(start({ prepare: (folder) => writeFileSync(join(folder, 'a.txt'), 'old\n') }))
  program.type(`call Write a.txt new; say Done\r`)
  await program.shows('Allow once')
  expect(program.screen()).toContain('Write a.txt\n  1   - old\n    1 + new\n')
  program.type('n')
  await program.shows('Why not?')
  program.type('keep the old one')
  await program.shows('› keep the old one')
  program.type(keys.enter)
  await program.shows('✗ Write a.txt · Denied: keep the old one')
  expect(readFileSync(join(program.folder, 'a.txt'), 'utf8')).toBe('old\n')
  await program.hides('Esc to interrupt')
  program.type(`call Write a.txt new; say Done\r`)
  await program.shows('Always allow Write(*)')
  program.type(keys.down)
  await program.shows('› 2. Always allow')
  program.type(keys.enter)
  await program.shows('● Write a.txt · written +1 −1')
  expect(readFileSync(join(program.folder, 'a.txt'), 'utf8')).toBe('new\n')
})

test('questions are answered one after another, by choice and in own words', async () => {
  const program = await ready(start())
  program.type('call Ask; say Thanks\r')
  await program.shows('Which color? (1 of 2)')
  program.type('3')
  await program.shows('Your answer')
  program.type(`Green${keys.enter}`)
  await program.shows('Which sizes? (2 of 2)')
  program.type('1')
  await program.shows('[x] Small')
  program.type(keys.enter)
  await program.shows('● Ask')
  program.type(keys.ctrlO)
  await program.shows('Answers: [["Green"],["Small"]]')
})

test('what is typed during a turn is queued, can be edited, and is sent', async () => {
  const program = await ready(start({ prepare: (folder) => writeFileSync(join(folder, 'hold'), '') }))
  program.type('call Slow hold; say First done\r')
  await program.shows('○ Slow hold')
  program.type('say Second\r')
  await program.shows('Queued (1)')
  program.type(keys.up)
  await program.shows(/─\n› say Second\n─/)
  await program.hides('Queued')
  program.type(' thing\r')
  await program.shows('› say Second thing')
  await program.shows('Queued (1)')
  rmSync(join(program.folder, 'hold'))
  await program.shows(/^Second thing$/m)
})

test('Esc interrupts a tool call and gives back what was queued', async () => {
  const program = await ready(start({ prepare: (folder) => writeFileSync(join(folder, 'hold'), '') }))
  program.type('call Slow hold; say Never\r')
  await program.shows('○ Slow hold')
  program.type('say Later\r')
  await program.shows('Queued (1)')
  program.type(keys.escape)
  await program.shows('Interrupted.')
  await program.shows(/─\n› say Later\n─/)
  program.type(keys.enter)
  await program.shows(/^Later$/m)
  expect(program.everything()).not.toMatch(/^Never$/m)
})

test('a long paste is folded and sent whole; the path of an image is attached', async () => {
  const program = await ready(
    start({ prepare: (folder) => writeFileSync(join(folder, 'dot.png'), Buffer.from(dot, 'base64')) }),
  )
  program.type(keys.paste(Array.from({ length: 320 }, (_, at) => `line ${at}`).join('\n')))
  await program.shows('› [Pasted #1: 320 lines]')
  program.type(keys.enter)
  await program.shows('You said: line 0', 'everything')
  await program.shows('line 319', 'everything')
  await program.hides('Esc to interrupt')
  program.type(keys.paste(join(program.folder, 'dot.png')))
  await program.shows('› [Image #1: dot.png]')
})

test('Ctrl+V attaches the image in the clipboard, and says so where there is none', async () => {
  const bin = mkdtempSync(join(tmpdir(), 'everlong-bin-'))
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }))
  for (const name of ['wl-paste', 'xclip'])
    writeFileSync(join(bin, name), `#!/bin/sh\nbase64 -d ${bin}/image\n`, { mode: 0o755 })
  writeFileSync(join(bin, 'image'), Buffer.from('some text').toString('base64'))
  const program = await ready(start({ env: { PATH: `${bin}:${process.env.PATH}` } }))
  program.type('\u0016')
  await program.shows('There is no image in the clipboard.')
  writeFileSync(join(bin, 'image'), dot)
  program.type('Look: \u0016')
  await program.shows('› Look: [Image #1: clipboard]')
  program.type(keys.enter)
  await program.shows('You said: Look: [Image #1: clipboard]', 'everything')
})

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('slash commands are completed and run; Ctrl+C twice quits with exit code 0', async () => {
  const program = await ready(start())
  program.type('/he')
  await program.shows(/› \/help/)
  program.type('\t')
  await program.shows(/─\n› \/help\s*\n─/)
  program.type(keys.enter)
  await program.shows('/compact [', 'everything')
  program.type('/nonsense\r')
  await program.shows('There is no command /nonsense')
  program.type(keys.ctrlC)
  await program.shows('Press Ctrl+C again to quit')
  program.type(keys.ctrlC)
  expect(await program.ended).toBe(0)
})

test('hostile text reaches the terminal without its escape sequences', async () => {
  const hostile = 'a\u001b]0;owned\u0007b\u001b[2Jc\u202ed'
  const program = await ready(start({ prepare: (folder) => writeFileSync(join(folder, 'evil'), hostile) }))
  program.type('call Read evil; say Read it\r')
  await program.shows(/^Read it$/m)
  program.type(keys.ctrlO)
  await program.shows('Output')
  await program.shows(/^abc�d$/m)
  const unwanted = ['owned', '\u001b[2J', '\u202e']
  expect(unwanted.filter((text) => program.raw().includes(text))).toEqual([])
})

test('it works at 40 columns, without colors, and after a resize', async () => {
  const program = await ready(start({ columns: 40, env: { NO_COLOR: '1' } }))
  program.type('say A sentence that is quite a bit longer than forty columns are.\r')
  await program.shows(/^A sentence that is quite a bit longer\nthan forty columns are\.$/m)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are what must not be there
  expect(program.raw()).not.toMatch(/\u001b\[(3[0-9]|9[0-7]|38|48)[;m]/)
  program.resize(100, 30)
  await program.shows('─'.repeat(100))
  program.type('say wide')
  await program.shows('› say wide')
  program.resize(50, 20)
  await program.shows(/^─{50}$/m)
  expect(
    program
      .screen()
      .split('\n')
      .filter((line) => line.startsWith('› say wide')),
  ).toHaveLength(1)
})

test('no resize leaves an old frame, while nothing happens and while an answer comes', async () => {
  const program = await ready(start({ columns: 110, rows: 40 }))
  const sizes: readonly (readonly [number, number])[] = [
    [80, 24],
    [100, 30],
    [60, 20],
    [40, 15],
    [110, 40],
  ]
  const resizeAll = async () => {
    for (const [columns, rows] of sizes) {
      program.resize(columns, rows)
      await program.shows(new RegExp(`^─{${columns}}$`, 'm'))
    }
  }
  program.type('say one\r')
  await program.shows(/^one$/m)
  await resizeAll()
  program.type('say two\r')
  await resizeAll()
  await program.shows(/^two$/m)
  await program.shows('› Ask something')
  const gauges = program
    .everything()
    .split('\n')
    .filter((line) => line.includes('% left'))
  expect(gauges).toHaveLength(1)
})

test('history is there in the next run', async () => {
  const first = await ready(start())
  first.type('say remembered\r')
  await first.shows(/^remembered$/m)
  first.type('/quit\r')
  expect(await first.ended).toBe(0)
  expect(existsSync(join(first.home, 'history'))).toBe(true)
  const { folder, home } = first
  const second = await ready(start({ data: { folder, home } }))
  second.type(keys.up)
  await second.shows(/› (\/quit|say remembered)/)
})

test('another session is chosen from a list, and what was said in it is shown', async () => {
  const program = await ready(start())
  program.type('say Hello there\r')
  await program.shows(/^Hello there$/m)
  await program.hides('Esc to interrupt')
  program.type('/clear\r')
  await program.shows('A new session.')
  program.type('/resume\r')
  await program.shows('Filter:')
  program.type('hello')
  await program.shows('Filter: hello')
  program.type(keys.enter)
  await program.shows(/Session say-hello-there-[0-9a-f]{4}\n\n› say Hello there\n\nHello there\n/)
})
