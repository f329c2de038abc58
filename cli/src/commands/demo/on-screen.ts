// The demo in the agent's own terminal: plays by itself, explains each mechanism in a sentence, then hands over to the person.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { visible } from '@everlong/agent/render'
import { type Player, runTerminal, wantsPlain } from '@everlong/agent/terminal'
import type { Io } from '../../io.ts'
import { gathered, type Outcome } from '../../outcome.ts'
import type { DemoOptions } from './demo.ts'
import { placeIn } from './place.ts'
import type { DemoData } from './screen-worker.ts'
import { type ActName, describe, purposes, rule } from './words.ts'

/** Without a terminal, or with --fast, the demo is plain lines. */
export function fitsScreen({ fast = false }: DemoOptions, io: Io): boolean {
  return !fast && !wantsPlain(io)
}

/** Returns the exit code. */
export async function demoOnScreen({ folder }: DemoOptions, io: Io): Promise<Outcome<number>> {
  const { stdin, stdout, env, cwd } = io
  const place = placeIn(folder === undefined ? undefined : resolve(cwd, folder))
  if (place.type === 'failed') return place
  const root = dirname(place.report)
  const data: DemoData = { folder: join(root, 'project'), home: join(root, 'home') }
  const exitCode = await runTerminal({
    worker: new URL('./screen-worker.ts', import.meta.url),
    data,
    folder: data.folder,
    stdin,
    stdout,
    env,
    play: (player) => play(player, data.folder),
  })
  stdout.write(`The session is kept in ${visible(data.home)}.\n`)
  return gathered(exitCode)
}

async function play(player: Player, folder: string): Promise<void> {
  const announcer = createAnnouncer(player)
  player.announce(
    'This is the agent at work on a made-up repository. The model is simulated, so it needs no key and no network. Its window is small, so that you see in a minute what otherwise takes a day.',
  )
  await player.pause(3_000)
  for (const line of linesFor(folder)) {
    if (player.isStopped()) break
    await player.type(line.text)
    if (line.pasted !== undefined) player.paste(`\n\n${line.pasted}`)
    await player.pause(600)
    await player.send()
    if (line.act) announcer.tell(line.act)
    await announcer.settled()
  }
  announcer.end()
  const how =
    'The prompt is yours. Try /context, /recall or /compact, and press Ctrl+O to expand what is folded. Ctrl+C twice quits.'
  player.announce(player.isStopped() ? how : `That was the demo. ${how}`)
}

type Line = { readonly text: string; readonly pasted?: string; readonly act?: Exclude<ActName, 'trouble'> }

const pastedLines = 440

function linesFor(folder: string): readonly Line[] {
  const log = readFileSync(join(folder, 'logs/build.log'), 'utf8').split('\n').slice(0, pastedLines).join('\n')
  const [bug] = JSON.parse(readFileSync(join(folder, '.everlong-demo/bugs.json'), 'utf8')) as { symbol: string }[]
  return [
    { text: `Make the tests pass, one failure at a time. ${rule}` },
    { text: 'Good. Take the next failure.' },
    { text: 'Go on with the next one.' },
    { text: "This is last night's build log. One more failure, then we stop.", pasted: log },
    { text: `What did the very first test run say about "${bug?.symbol}"?`, act: 'recall' },
    { text: '/compact Keep the names of the failing tests.' },
    { text: '/undo', act: 'undo' },
  ]
}

const readingMs = 2_500

/** Explains each mechanism when it first acts. */
function createAnnouncer(player: Player) {
  const said = new Set<string>()
  let waiting = 0
  const tell = (name: Exclude<ActName, 'trouble'>) => {
    if (said.has(name)) return
    said.add(name)
    waiting += readingMs
    player.announce(purposes[name])
  }
  const stop = player.on((event) => {
    const described = event.type === 'engine' ? describe(event.event) : undefined
    if (described && described.name !== 'trouble') tell(described.name)
    if (event.type === 'receipt' && event.receipt.restored.length > 0) tell('restoration')
  })
  return {
    tell,
    /** Time to read the announcement. */
    settled: async () => {
      const milliseconds = waiting
      waiting = 0
      await player.pause(milliseconds)
    },
    end: stop,
  }
}
