// Picks tool calls at random, in the shares of real sessions.

import type { Random } from '../random.ts'
import {
  bashCall,
  editCall,
  failedBashCall,
  failedEditCall,
  globCall,
  grepCall,
  grepFilesCall,
  imageCall,
  readCall,
  type Todo,
  type ToolCall,
  todoCall,
  webFetchCall,
  writeCall,
} from './calls.ts'
import { type Project, typicalSize } from './project.ts'
import { name, type TextPool, title } from './text.ts'
import { adjectives, nouns, verbs } from './words.ts'

export type Workshop = {
  readonly random: Random
  readonly pool: TextPool
  readonly project: Project
  readonly images: boolean
  readonly largest: number
}

type Maker = (shop: Workshop) => ToolCall

/** Relative frequency of each tool. */
const makers: readonly (readonly [number, Maker])[] = [
  [24, ({ project }) => readCall(project.some())],
  [28, bash],
  [20, edit],
  [5, write],
  [9, grep],
  [4, ({ random, project }) => globCall(`**/${random.pick(nouns)}*.ts`, project.paths(random.int(1, 30)))],
  [5, todoWrite],
  [1, webFetch],
  [4, failure],
]

const weight = makers.reduce((sum, [share]) => sum + share, 0)

export function makeCall(shop: Workshop): ToolCall {
  const { random, pool, project } = shop
  if (shop.images && random.chance(0.04)) {
    return imageCall(`${project.cwd}/docs/${random.pick(nouns)}.png`, pool.png(random.int(4, 90) * 1024))
  }
  let rest = random.int(0, weight - 1)
  for (const [share, maker] of makers) {
    if (rest < share) return maker(shop)
    rest -= share
  }
  return bash(shop)
}

function bash({ random, pool, largest }: Workshop): ToolCall {
  const subject = random.pick(nouns)
  const command = random.pick([
    `npm test -- ${subject}`,
    'git diff --stat',
    'npx tsc --noEmit',
    `grep -rn "${subject}" src | head -40`,
    `ls -la src/${subject}`,
    `git log --oneline -${random.int(3, 20)}`,
    `node scripts/${random.pick(verbs)}-${subject}.ts --limit ${random.int(1, 100)}`,
  ])
  return bashCall(command, title(random), outputOf(random, pool, largest))
}

/** Most output is short; one in two hundred is a huge log. */
function outputOf(random: Random, pool: TextPool, largest: number): string {
  if (random.chance(0.12)) return ''
  if (random.chance(0.005)) return pool.cut('log', Math.min(largest, random.int(90_000, 200_000)))
  return pool.cut('log', Math.round(typicalSize(random, largest) * 0.5))
}

function edit({ random, project }: Workshop): ToolCall {
  const file = project.some()
  const lines = file.content.split('\n')
  const at = random.int(0, Math.max(0, lines.length - 4))
  const oldString = lines.slice(at, at + random.int(1, 3)).join('\n')
  const newString = `${oldString}\n// ${name(random)}: ${random.pick(adjectives)} ${random.int(1, 9999)}`
  project.put(
    file.path,
    file.content.replace(oldString, () => newString),
  )
  return editCall(file, { oldString, newString })
}

function write({ project }: Workshop): ToolCall {
  const path = project.newPath()
  const content = project.write(path)
  project.put(path, content)
  return writeCall({ path, content })
}

function grep({ random, pool, project }: Workshop): ToolCall {
  const pattern = name(random)
  if (random.chance(0.5)) return grepFilesCall(pattern, project.paths(random.int(1, 12)))
  return grepCall(pattern, pool.cut('log', random.int(200, 2_000)))
}

function todoWrite({ random }: Workshop): ToolCall {
  const items = Array.from({ length: random.int(2, 6) }, () => title(random))
  const state = (finished: number): readonly Todo[] =>
    items.map((content, index) => ({
      content,
      status: index < finished ? 'completed' : index === finished ? 'in_progress' : 'pending',
      activeForm: `${content}, in hand`,
    }))
  const finished = random.int(0, items.length - 1)
  return todoCall(state(Math.max(0, finished - 1)), state(finished))
}

function webFetch({ random, pool }: Workshop): ToolCall {
  const url = `https://docs.example.org/${random.pick(nouns)}/${random.pick(verbs)}`
  return webFetchCall(url, title(random), pool.cut('markdown', random.int(400, 4_000)))
}

function failure({ random, pool, project }: Workshop): ToolCall {
  if (random.chance(0.5)) {
    return failedBashCall(`npm test -- ${random.pick(nouns)}`, title(random), pool.cut('log', random.int(200, 1_500)))
  }
  return failedEditCall(project.some().path, { oldString: name(random), newString: name(random) })
}
