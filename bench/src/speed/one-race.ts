// A process of its own for one contest at one size: all that is in its memory is what these contestants work on. Tells
// whoever started it whose turn it is, and in the end the milliseconds of each.
import { takeTurns } from './contest.ts'
import { contestOf } from './contests.ts'
import type { Race } from './race.ts'

const { contest, size, starting } = JSON.parse(process.argv[2] ?? '') as Race
const { contestants } = await contestOf(contest)
const racing = contestants.filter(({ name }) => starting.includes(name))
const onTurn = (turn: string | undefined) => void process.send?.({ turn })
// Not counted: by then everybody's code is as fast as it gets in a long-running program.
await takeTurns(racing, { size: Math.min(size, 1_000), onTurn })
process.send?.({ times: [...(await takeTurns(racing, { size, onTurn }))] })
