// The agent's moves in the steps of a task: their order, and the tool calls of each. Pure plans; agent.ts decides whether a tool
// is offered and what it is called.

import type { Repository } from '../repository/repository.ts'
import type { InputName, Tool } from '../repository/tool-names.ts'
import { integerBelow, pick, type Random } from '../script/random.ts'

export type Move =
  | 'plan'
  | 'test'
  | 'look'
  | 'study'
  | 'mend'
  | 'verify'
  | 'explore'
  | 'review'
  | 'browse'
  | 'draft'
  | 'build'

/** The main activity of an agent. */
export type Habit = 'mixed' | 'reading' | 'editing' | 'long-outputs'

/** A tool call in our own terms; `named` has the inputs whose names differ between clients. */
export type Call = {
  readonly tool: Tool
  readonly named: Readonly<Partial<Record<InputName, unknown>>>
  readonly others?: Readonly<Record<string, unknown>>
}

/** The place to change. */
export type Place = {
  readonly path: string
  readonly symbol: string
  readonly testPath: string
  /** Undefined if it must be read first. */
  readonly wrong: string | undefined
  readonly right: string
}

export type Scene = {
  readonly repository: Repository
  readonly random: Random
  readonly place: Place | undefined
  readonly task: number
  readonly step: number
}

/** Each move once per cycle. All cycles have the same length, because rounds are counted by it. */
const cycles: Readonly<Record<Habit, readonly Move[]>> = {
  mixed: ['plan', 'test', 'look', 'study', 'mend', 'verify', 'explore', 'review'],
  reading: ['plan', 'test', 'look', 'study', 'browse', 'mend', 'verify', 'review'],
  editing: ['plan', 'test', 'study', 'mend', 'verify', 'draft', 'look', 'review'],
  'long-outputs': ['plan', 'test', 'look', 'study', 'mend', 'verify', 'build', 'review'],
}
const cycleLength = cycles.mixed.length
/** Moves by priority, for a task that is shorter than a cycle. */
const byWeight: readonly Move[] = [
  ...(['test', 'mend', 'verify', 'study', 'browse', 'draft', 'build'] as const),
  ...(['plan', 'look', 'review', 'explore'] as const),
]

/** The move of a step among `steps` steps with tools: whole cycles, then one reduced to the most important moves. */
export function moveAt(step: number, steps: number, habit: Habit = 'mixed'): Move {
  const cycle = cycles[habit]
  const begun = step - (step % cycle.length)
  const room = Math.min(cycle.length, steps - begun)
  const kept = byWeight.filter((move) => cycle.includes(move)).slice(0, Math.max(1, room))
  return cycle.filter((move) => kept.includes(move))[step - begun] ?? 'explore'
}

export function callsOf(move: Move, scene: Scene): readonly Call[] {
  switch (move) {
    case 'plan':
      return [todos(scene, 'in_progress')]
    case 'review':
      return [todos(scene, 'completed')]
    case 'test':
      return [bash('npm test')]
    case 'verify':
      return [bash(scene.place ? `npm test -- ${scene.place.testPath}` : 'npm test')]
    case 'look':
      return lookCalls(scene)
    case 'study':
      return [read(scene, scene.place?.path ?? someFile(scene))]
    case 'mend':
      return [scene.place ? mending(scene, scene.place) : newFile(scene)]
    case 'explore':
      return exploreCalls(scene)
    case 'browse':
      return Array.from({ length: 3 + integerBelow(scene.random, 3) }, () => read(scene, someFile(scene)))
    case 'draft':
      return [newFile(scene, 120), newFile({ ...scene, step: scene.step + 0.5 }, 80)]
    case 'build':
      return [bash('npm run build')]
  }
}

function lookCalls(scene: Scene): readonly Call[] {
  const symbol = scene.place?.symbol ?? 'default\\w+Limit'
  const search: Call = {
    tool: 'Grep',
    named: { pattern: symbol },
    others: {
      path: `${scene.repository.root}/src`,
      output_mode: pick(scene.random, ['content', 'files_with_matches']),
    },
  }
  return [search, read(scene, scene.place?.testPath ?? someFile(scene))]
}

/** Several at once, a look at something large, or a small question, for results of every size. */
function exploreCalls(scene: Scene): readonly Call[] {
  const chance = scene.random()
  if (chance < 0.4) return Array.from({ length: 2 + integerBelow(scene.random, 2) }, () => read(scene, someFile(scene)))
  if (chance < 0.55) return [bash('npm run build')]
  if (chance < 0.7) return [read(scene, 'src/generated/tables.ts')]
  if (chance < 0.85) return [{ ...read(scene, 'logs/build.log'), others: { offset: 100, limit: 200 } }]
  return [bash('git status'), bash('ls src')]
}

function someFile(scene: Scene): string {
  const paths = [...scene.repository.files.keys()]
  return paths[integerBelow(scene.random, paths.length)] ?? 'README.md'
}

function read(scene: Scene, path: string): Call {
  return { tool: 'Read', named: { path: `${scene.repository.root}/${path}` } }
}

function bash(command: string): Call {
  return { tool: 'Bash', named: { command } }
}

function mending(scene: Scene, place: Place): Call {
  return { tool: 'Edit', named: { path: `${scene.repository.root}/${place.path}`, old: place.wrong, new: place.right } }
}

function newFile(scene: Scene, lineCount = 8 + integerBelow(scene.random, 30)): Call {
  const name = `note-${scene.task}-${scene.step}`
  const lines = Array.from({ length: lineCount }, (_, index) => `export const step${index} = ${index}`)
  const content = `// Written for task ${scene.task}.\n${lines.join('\n')}\n`
  return { tool: 'Write', named: { path: `${scene.repository.root}/src/notes/${name}.ts`, content } }
}

function todos(scene: Scene, status: 'in_progress' | 'completed'): Call {
  const round = Math.floor(scene.step / cycleLength) + 1
  const next = status === 'completed' ? 'in_progress' : 'pending'
  const list = [
    { content: `Task ${scene.task}: find what fails (round ${round})`, status },
    { content: `Task ${scene.task}: mend it (round ${round})`, status: status === 'completed' ? status : 'pending' },
    { content: `Task ${scene.task}: look for more of the kind (round ${round})`, status: next },
  ]
  return { tool: 'TodoWrite', named: { todos: list.map((todo) => ({ ...todo, activeForm: todo.content })) } }
}

/** Substitutes for a call whose tool is not offered, best first. */
export function sparesFor(call: Call, scene: Scene): readonly Call[] {
  const path = call.named.path
  const shown = call.tool === 'Read' && typeof path === 'string' ? [bash(`cat ${path}`)] : []
  return [
    ...shown,
    read(scene, scene.place?.path ?? 'README.md'),
    bash('git status'),
    ...lookCalls(scene).slice(0, 1),
    todos(scene, 'in_progress'),
    newFile(scene),
    {
      tool: 'Edit',
      named: { path: `${scene.repository.root}/README.md`, old: '## Modules', new: '## Modules, in order' },
    },
  ]
}
