// Calls an agent makes and what comes back: the text for the model and the raw result that the client stores beside
// it (toolUseResult). Shapes per tool as in the schema sheet; contents made up.
import type { JsonObject } from '../core/message/json.ts'
import { type Project, usualSize } from './project.ts'
import type { Random } from './random.ts'
import { name, type TextPool, title } from './text.ts'
import { adjectives, nouns, verbs } from './words.ts'

export type ToolCall = {
  readonly name: string
  readonly input: JsonObject
  /** What the model sees: a string, or blocks for an image. */
  readonly content: string | readonly JsonObject[]
  readonly toolUseResult: unknown
  readonly isError: boolean
}

export type Workshop = {
  readonly random: Random
  readonly pool: TextPool
  readonly project: Project
  readonly images: boolean
  readonly largest: number
}

type Maker = (shop: Workshop) => ToolCall

/** How often each tool is used, out of the sum. */
const makers: readonly [readonly [number, Maker], ...(readonly (readonly [number, Maker])[])] = [
  [30, read],
  [26, bash],
  [16, edit],
  [5, write],
  [9, grep],
  [4, glob],
  [5, todoWrite],
  [2, webFetch],
  [5, failure],
]

const weight = makers.reduce((sum, [share]) => sum + share, 0)

export function makeCall(shop: Workshop): ToolCall {
  if (shop.images && shop.random.chance(0.04)) return readImage(shop)
  let rest = shop.random.int(0, weight - 1)
  for (const [share, maker] of makers) {
    if (rest < share) return maker(shop)
    rest -= share
  }
  return read(shop)
}

function done(tool: string, input: JsonObject, result: Pick<ToolCall, 'content' | 'toolUseResult'>): ToolCall {
  return { name: tool, input, ...result, isError: false }
}

function read({ project }: Workshop): ToolCall {
  const { path: filePath, content } = project.some()
  const numLines = content.split('\n').length
  const file = { filePath, content, numLines, startLine: 1, totalLines: numLines }
  return done('Read', { file_path: filePath }, { content: numbered(content), toolUseResult: { type: 'text', file } })
}

export function numbered(content: string): string {
  return content
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
    .join('\n')
}

function readImage({ random, pool, project }: Workshop): ToolCall {
  const filePath = `${project.cwd}/docs/${random.pick(nouns)}-${random.hex(3)}.png`
  const data = pool.base64(random.int(4, 90) * 1024)
  const source = { type: 'base64', media_type: 'image/png', data }
  const dimensions = { originalWidth: 1280, originalHeight: 800, displayWidth: 1280, displayHeight: 800 }
  const file = { base64: data, type: 'image/png', originalSize: Math.floor(data.length * 0.75), dimensions }
  const result = { content: [{ type: 'image', source }], toolUseResult: { type: 'image', file } }
  return done('Read', { file_path: filePath }, result)
}

function bash({ random, pool, largest }: Workshop): ToolCall {
  const subject = random.pick(nouns)
  const command = random.pick([
    `npm test -- ${subject}`,
    `git diff --stat`,
    `npx tsc --noEmit`,
    `grep -rn "${subject}" src | head -40`,
    `ls -la src/${subject}`,
    `git log --oneline -${random.int(3, 20)}`,
    `node scripts/${random.pick(verbs)}-${subject}.ts --limit ${random.int(1, 100)}`,
  ])
  const stdout = random.chance(0.12) ? '' : pool.cut('log', Math.round(usualSize(random, largest) * 0.8))
  const raw = { stdout, stderr: '', interrupted: false, isImage: false }
  return done('Bash', { command, description: title(random) }, { content: stdout, toolUseResult: raw })
}

function edit({ random, project }: Workshop): ToolCall {
  const { path: filePath, content: originalFile } = project.some()
  const lines = originalFile.split('\n')
  const at = random.int(0, Math.max(0, lines.length - 4))
  const oldLines = lines.slice(at, at + random.int(1, 3))
  const newLines = [...oldLines, `// ${name(random)}: ${random.pick(adjectives)} ${random.int(1, 9999)}`]
  const [oldString, newString] = [oldLines.join('\n'), newLines.join('\n')]
  const changed = [...lines.slice(0, at), ...newLines, ...lines.slice(at + oldLines.length)].slice(0, 4_000)
  project.put(filePath, changed.join('\n'))
  const hunk = {
    oldStart: at + 1,
    oldLines: oldLines.length,
    newStart: at + 1,
    newLines: newLines.length,
    lines: [...oldLines.map((line) => ` ${line}`), `+${newLines.at(-1)}`],
  }
  const raw = {
    filePath,
    oldString,
    newString,
    originalFile,
    structuredPatch: [hunk],
    userModified: false,
    replaceAll: false,
  }
  const content = `The file ${filePath} has been updated.\n${numbered(newString)}`
  const input = { file_path: filePath, old_string: oldString, new_string: newString, replace_all: false }
  return done('Edit', input, { content, toolUseResult: raw })
}

function write({ project }: Workshop): ToolCall {
  const filePath = project.newPath()
  const content = project.write(filePath)
  project.put(filePath, content)
  const raw = { type: 'create', filePath, content, structuredPatch: [], originalFile: null }
  const said = `File created successfully at: ${filePath}`
  return done('Write', { file_path: filePath, content }, { content: said, toolUseResult: raw })
}

function grep({ random, pool, project }: Workshop): ToolCall {
  const pattern = name(random)
  if (random.chance(0.5)) {
    const filenames = project.paths(random.int(1, 12))
    const raw = { mode: 'files_with_matches', filenames, numFiles: filenames.length }
    const content = `Found ${filenames.length} files\n${filenames.join('\n')}`
    return done('Grep', { pattern, output_mode: 'files_with_matches' }, { content, toolUseResult: raw })
  }
  const content = pool.cut('log', random.int(200, 2_400))
  const raw = { mode: 'content', numFiles: 0, filenames: [], content, numLines: content.split('\n').length }
  return done('Grep', { pattern, output_mode: 'content', '-n': true }, { content, toolUseResult: raw })
}

function glob({ random, project }: Workshop): ToolCall {
  const filenames = project.paths(random.int(1, 30))
  const raw = { filenames, durationMs: random.int(2, 80), numFiles: filenames.length, truncated: false }
  const pattern = `**/${random.pick(nouns)}*.ts`
  return done('Glob', { pattern }, { content: filenames.join('\n'), toolUseResult: raw })
}

function todoWrite({ random }: Workshop): ToolCall {
  const items = Array.from({ length: random.int(2, 6) }, () => title(random))
  const state = (finished: number) =>
    items.map((content, index) => ({
      content,
      status: index < finished ? 'completed' : index === finished ? 'in_progress' : 'pending',
      activeForm: `${content}, in hand`,
    }))
  const finished = random.int(0, items.length - 1)
  const raw = { oldTodos: state(Math.max(0, finished - 1)), newTodos: state(finished) }
  const content = 'Todos have been modified successfully. Go on with the task in hand.'
  return done('TodoWrite', { todos: raw.newTodos }, { content, toolUseResult: raw })
}

function webFetch({ random, pool }: Workshop): ToolCall {
  const url = `https://docs.example.org/${random.pick(nouns)}/${random.pick(verbs)}`
  const result = pool.cut('markdown', random.int(400, 4_000))
  const raw = {
    bytes: random.int(4_000, 90_000),
    code: 200,
    codeText: 'OK',
    result,
    durationMs: random.int(300, 5_000),
    url,
  }
  return done('WebFetch', { url, prompt: title(random) }, { content: result, toolUseResult: raw })
}

function failure({ random, pool, project }: Workshop): ToolCall {
  if (random.chance(0.5)) {
    const said = `Exit code 1\n${pool.cut('log', random.int(200, 2_000))}`
    const input = { command: `npm test -- ${random.pick(nouns)}`, description: title(random) }
    return { name: 'Bash', input, content: said, toolUseResult: `Error: ${said}`, isError: true }
  }
  const said = '<tool_use_error>String to replace not found in file.</tool_use_error>'
  const [file_path] = project.paths(1)
  const input = { file_path, old_string: name(random), new_string: name(random), replace_all: false }
  return {
    name: 'Edit',
    input,
    content: said,
    toolUseResult: 'Error: String to replace not found in file.',
    isError: true,
  }
}
