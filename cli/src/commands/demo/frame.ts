// The beginning and end of the demonstration: an introduction, then the result, the place of the transcript and commands to
// inspect it.
import { counted, dollars, duration, exactDollars, visible } from '@everlong/agent/render'
import { commandList, facts, heading, paragraph, type Screen } from '../../render/screen.ts'
import { shellWord } from '../../render/shell.ts'
import { wanted } from './acts.ts'
import { type Stage, window } from './stage.ts'
import type { ActName } from './words.ts'

export function openingLines({ repository, server }: Stage, screen: Screen): readonly string[] {
  const { name, files, bugs } = repository
  return [
    heading('Everlong, live', screen),
    '',
    ...paragraph(
      `An agent mends ${name}, a made-up repository of ${counted(files.size, 'file')} with ${counted(bugs.length, 'bug')}. ` +
        `The model is a simulator on this machine (${server.url}): no key, no network. ` +
        `Its window is small on purpose, ${window.toLocaleString('en-US')} tokens, so that you see in a minute what otherwise takes a day.`,
      screen,
    ),
  ]
}

export type Ending = {
  readonly requests: number
  readonly cost: number
  /** The part of the cost for notes and summaries. */
  readonly ownCost: number
  readonly durationMs: number
  readonly isStopped: boolean
  /** The user's rule, if the context still contains it word for word. */
  readonly rule: string | undefined
  readonly seen: ReadonlySet<ActName>
  readonly transcript: string
  /** How the user started this program, for commands to copy. */
  readonly program: string
}

export function endingLines(ending: Ending, screen: Screen): readonly string[] {
  const { requests, cost, ownCost, durationMs, isStopped, rule } = ending
  const missing = wanted.filter((name) => !ending.seen.has(name))
  return [
    '',
    heading(isStopped ? 'Stopped' : `Done in ${duration(durationMs)}`, screen),
    '',
    ...facts(
      [
        ['seen', wanted.filter((name) => ending.seen.has(name)).join(', ') || 'nothing yet'],
        ...(missing.length > 0 ? [['not seen', missing.join(', ')] as const] : []),
        ['your rule', rule === undefined ? 'not in the context' : `“${rule}” is still in the context, word for word`],
        [
          'cost',
          `${counted(requests, 'request')}, at the API ${dollars(cost)}; context management ${exactDollars(ownCost)} of it`,
        ],
      ],
      screen,
    ),
    '',
    // Not cut, because it is meant to be copied.
    `  The transcript is kept: ${visible(ending.transcript)}`,
    '  Look into it:',
    '',
    ...commandLines(ending, screen),
  ]
}

function commandLines({ program, transcript }: Ending, screen: Screen): readonly string[] {
  const file = shellWord(transcript)
  const commands: readonly (readonly [string, string])[] = [
    [`${program} inspect ${file}`, 'one screen about the session'],
    [`${program} inspect --epochs ${file}`, 'what each compaction removed'],
    [`${program} context ${file}`, 'what fills the window now'],
    [`${program} recall ${file} generated`, 'find what has left the context'],
    [`${program} memory ${file}`, 'the notes it kept'],
    [`${program} inspect --tree ${file}`, 'every message, one line each'],
  ]
  return commandList(commands, screen)
}
