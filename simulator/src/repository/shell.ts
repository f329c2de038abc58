// A shell for generated repositories: a small set of commands over in-memory files, `&&` between them, everything else
// "command not found". It never starts a process.
import { integerBelow, type Random, seededRandom } from '../script/random.ts'
import type { Bug, Repository } from './repository.ts'
import { stringInput } from './tool-names.ts'
import { done, failed, pathIn, type ToolResult, type Workspace } from './workspace.ts'

type Run = { readonly output: string; readonly code: number }

export function shell(workspace: Workspace, input: unknown): ToolResult {
  const command = stringInput(input, 'command')
  if (command === undefined) return failed('InputValidationError: Bash needs a command.')
  const outputs: string[] = []
  for (const part of command.split('&&')) {
    const run = runOne(workspace, part.trim().split(/\s+/))
    if (run.output !== '') outputs.push(run.output)
    if (run.code !== 0) return failed([`Exit code ${run.code}`, ...outputs].join('\n'))
  }
  return done(outputs.join('\n'))
}

function runOne(workspace: Workspace, words: readonly string[]): Run {
  const [name = '', ...rest] = words
  const line = words.join(' ')
  const plain = rest.filter((word) => !word.startsWith('-')).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))
  if (/^(npm (run )?test|npx vitest)\b/.test(line)) return testRun(workspace, plain)
  if (/^npm run build\b/.test(line)) return { output: workspace.files.get('logs/build.log')?.trimEnd() ?? '', code: 0 }
  if (name === 'git') return git(workspace, plain)
  if (name === 'ls') return list(workspace, plain[0] ?? '')
  if (name === 'cat') return cat(workspace, plain)
  if (name === 'wc') return lineCounts(workspace, plain)
  if (name === 'pwd') return { output: workspace.repository.root, code: 0 }
  if (name === 'echo') return { output: rest.join(' ').replaceAll(/^['"]|['"]$/g, ''), code: 0 }
  if (name === 'cd' || name === 'true') return { output: '', code: 0 }
  return { output: `bash: ${name}: command not found`, code: 127 }
}

function cat(workspace: Workspace, paths: readonly string[]): Run {
  const texts: string[] = []
  for (const path of paths) {
    const content = workspace.files.get(pathIn(workspace.repository, path))
    if (content === undefined) return { output: `cat: ${path}: No such file or directory`, code: 1 }
    texts.push(content.trimEnd())
  }
  return { output: texts.join('\n'), code: 0 }
}

function lineCounts(workspace: Workspace, paths: readonly string[]): Run {
  const counts = paths.map((path) => {
    const content = workspace.files.get(pathIn(workspace.repository, path))
    return content === undefined ? `wc: ${path}: No such file` : `${content.split('\n').length - 1} ${path}`
  })
  return { output: counts.join('\n'), code: counts.some((count) => count.startsWith('wc:')) ? 1 : 0 }
}

function list(workspace: Workspace, folder: string): Run {
  const under = pathIn(workspace.repository, folder)
  const prefix = under === '' ? '' : `${under}/`
  const names = new Set<string>()
  for (const path of workspace.files.keys()) {
    if (path.startsWith(prefix)) names.add(path.slice(prefix.length).split('/')[0] ?? '')
  }
  if (names.size === 0) return { output: `ls: cannot access '${folder}': No such file or directory`, code: 2 }
  return { output: [...names].toSorted().join('\n'), code: 0 }
}

function git(workspace: Workspace, words: readonly string[]): Run {
  const { repository, files } = workspace
  const changed = [...files].filter(([path, content]) => repository.files.get(path) !== content).map(([path]) => path)
  const known = changed.filter((path) => repository.files.has(path))
  const untracked = changed.filter((path) => !repository.files.has(path))
  if (words[0] === 'log') return { output: `${repository.head} Release 2.4.0`, code: 0 }
  if (words[0] === 'diff') return { output: known.map((path) => ` ${path} | changed`).join('\n'), code: 0 }
  if (words[0] !== 'status') return { output: `git: '${words[0] ?? ''}' is not available here`, code: 1 }
  const lines = [`On branch ${repository.branch}`]
  if (changed.length === 0) lines.push('nothing to commit, working tree clean')
  if (known.length > 0) lines.push('Changes not staged for commit:', ...known.map((path) => `\tmodified:   ${path}`))
  if (untracked.length > 0) lines.push('Untracked files:', ...untracked.map((path) => `\t${path}`))
  return { output: lines.join('\n'), code: 0 }
}

/** What a test runner would print: every test by name, then each failure with what was expected. */
function testRun(workspace: Workspace, words: readonly string[]): Run {
  const { repository, files } = workspace
  const filters = words.filter((word) => !['test', 'run', 'vitest'].includes(word))
  const wanted = (path: string) => filters.length === 0 || filters.some((filter) => path.includes(filter))
  const suites = [...files.keys()].filter((path) => path.endsWith('.test.ts') && wanted(path))
  const open = repository.bugs.filter((bug) => wanted(bug.testPath) && !isMended(bug, files))
  const random = seededRandom('tests', repository.seed)
  const lines: string[] = []
  let count = 0
  for (const path of suites) {
    const names = [...(files.get(path) ?? '').matchAll(/^test\('(.*)', async/gm)].map((match) => match[1] ?? '')
    const red = open.filter((bug) => bug.testPath === path).map((bug) => bug.testName)
    count += names.length
    lines.push(...suiteLines({ path, names, red, random }))
  }
  for (const bug of open) lines.push('', ...failureLines(bug, { repository, files }))
  const verdict = open.length > 0 ? `${open.length} failed | ${count - open.length} passed` : `${count} passed`
  lines.push(
    '',
    ` Test Files  ${suites.length}`,
    `      Tests  ${verdict} (${count})`,
    `   Duration  ${took(workspace)}`,
  )
  return { output: lines.join('\n'), code: open.length > 0 ? 1 : 0 }
}

/** Different for each run in the thousandths. */
function took(workspace: Workspace): string {
  const run = ++workspace.testRuns
  const seconds = 2 + integerBelow(seededRandom('took', workspace.repository.seed, run), 58)
  return `${seconds}.${String(run % 1_000).padStart(3, '0')}s`
}

function isMended(bug: Bug, files: ReadonlyMap<string, string>): boolean {
  const content = files.get(bug.path) ?? ''
  return content.includes(bug.right) && !content.includes(bug.wrong)
}

function suiteLines(suite: {
  readonly path: string
  readonly names: readonly string[]
  readonly red: readonly string[]
  readonly random: Random
}): readonly string[] {
  const took = () => `${1 + integerBelow(suite.random, 60)}ms`
  const mark = (isRed: boolean) => (isRed ? '✗' : '✓')
  return [
    ` ${mark(suite.red.length > 0)} ${suite.path} (${suite.names.length} tests) ${took()}`,
    ...suite.names.map((name) => `   ${mark(suite.red.includes(name))} ${name} ${took()}`),
  ]
}

function failureLines(
  bug: Bug,
  at: { readonly repository: Repository; readonly files: ReadonlyMap<string, string> },
): readonly string[] {
  const lines = (at.files.get(bug.path) ?? '').split('\n')
  const line = lines.findIndex((text) => text.includes(bug.wrong)) + 1
  const where = line > 0 ? `${at.repository.root}/${bug.path}:${line}:3` : `${at.repository.root}/${bug.path}`
  return [
    ` FAIL  ${bug.testPath} > ${bug.testName}`,
    'AssertionError: expected values to be equal',
    `  - Expected: ${bug.expected}`,
    `  + Received: ${line > 0 ? bug.received : `${bug.symbol} is not what the test calls`}`,
    `    at ${bug.symbol} (${where})`,
    `    at ${at.repository.root}/${bug.testPath}:12:20`,
  ]
}
