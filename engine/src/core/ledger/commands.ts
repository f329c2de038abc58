// Reading commands: what they are for, how they ended, and the most informative line of their output.
import { isObject, numberAt, stringAt } from '../message/json.ts'
import type { CommandEnd, Purpose } from './facts.ts'
import { oneLine, withoutColours } from './text.ts'

const longestCommand = 600
const longestOutcome = 200

/** The command without what changes from run to run and says nothing: the way to the folder, how output is cut. */
export function commandText(command: string): string {
  const bare = withoutDocuments(command)
    .trim()
    .replace(/^(?:(?:#.*\n|cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;|\n)|set -\S+\s*(?:&&|;|\n))\s*)+/, '')
    .replace(/(?: ?2>&1)?(?: ?\| ?(?:tail|head)(?: -\w{1,20}(?: \d{1,9})?){0,4}){1,4}$/, '')
    .replace(/ ?2>&1$/, '')
  return oneLine(bare === '' ? command : bare, longestCommand)
}

/** Here-documents are file contents, not commands. */
export function withoutDocuments(script: string): string {
  return script.includes('<<')
    ? script.replace(/<<-?\s*(['"]?)(\w+)\1[\s\S]*?(?:^\s*\2\s*$|(?![\s\S]))/gm, '<<$2 …')
    : script
}

/** Where a script goes before it does anything. */
export function folderOf(script: string): string | undefined {
  const [, quoted, single, plain] = /^\s*(?:#.*\n\s*)*cd\s+(?:"([^"]*)"|'([^']*)'|([^\s;&|]+))/.exec(script) ?? []
  return quoted ?? single ?? plain
}

/** Of a command's text, the first words that do something, which tell runs of one program from those of another. */
export function programOf(text: string): string {
  const words = text
    .replace(/^(?:\w+=\S*\s+|sudo\s+|time\s+|env\s+|timeout \S+\s+|echo (?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;)?\s*)+/, '')
    .split(' ')
  const [program = '', second = ''] = words
  return /^[a-z][\w:-]*$/.test(second) && !/^(?:ls|cat|cd|rm|mkdir|cp|mv|grep|rg|find|sed|for|if|while)$/.test(program)
    ? `${program} ${second}`
    : program
}

const runner = String.raw`(?:npm|pnpm|yarn|bun|deno|mise|just|task|make|rake|nx|turbo|npx|uv|poetry|hatch|composer|gradle|\./gradlew|mvn|sbt|dotnet|cargo|go|mix|swift|flutter|dart|zig|bazel|lein|stack|cabal)`
const purposes: readonly (readonly [Purpose, RegExp])[] = [
  [
    'test',
    new RegExp(
      String.raw`\b${runner}\b(?:\s+(?:run|exec|-\S+|x))*\s+[\w:.-]*tests?\b|\b(?:vitest|jest|mocha|ava|pytest|py\.test|tox|nox|rspec|phpunit|ctest|playwright test|cypress run|bats|unittest|nextest)\b`,
    ),
  ],
  [
    'lint',
    new RegExp(
      String.raw`\b${runner}\b(?:\s+(?:run|exec|-\S+|x))*\s+[\w:.-]*(?:lint|fmt|format|clippy|vet)\b|\b(?:eslint|biome|golangci-lint|ruff|flake8|pylint|rubocop|prettier|stylelint|shellcheck|hadolint|actionlint|gofmt|black|ktlint|swiftlint|pre-commit)\b`,
    ),
  ],
  [
    'types',
    new RegExp(
      String.raw`\b${runner}\b(?:\s+(?:run|exec|-\S+|x))*\s+[\w:.-]*(?:type-?check|types|check|analyze)\b|\b(?:tsc|tsgo|vue-tsc|mypy|pyright|pyre|flow check)\b`,
    ),
  ],
  [
    'build',
    new RegExp(
      String.raw`\b${runner}\b(?:\s+(?:run|exec|-\S+|x))*\s+[\w:.-]*(?:build|compile|package|assemble|bundle)\b|\b(?:docker(?: buildx)? build|cmake|ninja|webpack|vite build|tsup|tsdown|esbuild|rollup|xcodebuild|mvn package)\b|^make(?:\s|$)`,
    ),
  ],
  ['git', /^(?:git|gh|glab|hub|jj)\b|(?:&&|;)\s*git\b/],
]

/** What a command is for, by its text. */
export function purposeOf(text: string): Purpose {
  // A search for the word "test" or a message about a build is neither.
  const bare = text.replace(/"[^"]*"|'[^']*'/g, '""')
  const parts = bare
    .split(/\s*(?:&&|\|\||;|\|)\s*/)
    .filter((part) => !/^(?:grep|rg|cat|ls|find|sed|awk|echo|head|tail|which|mkdir|rm|cp|mv)\b/.test(part))
  const judged = parts.join(' ; ')
  return purposes.find(([, pattern]) => pattern.test(judged))?.[0] ?? 'other'
}

const readOnly =
  /^(?:git (?:-C \S+ )?(?:status|diff|log|show|branch --show-current|rev-parse|remote -v|ls-files|blame)|cd|ls|cat|head|tail|wc|grep|rg|ag|find|pwd|echo|which|type|file|stat|du|df|tree|nl|sort|uniq|cut|jq|date|env$|printenv|sed -n|true)(?![\w-])(?!.*(?:-exec|-delete|--output|>|\$\(|`))/
/** Checks that repair what they find, and builds: those write. */
const writes =
  /--?(?:fix|write|apply|update|updateSnapshot|in-place)\b|\s-[wui]\b|\b(?:fmt|format|black)\b(?!.*--check)|[<>]/

/** The commands of a script, one by one, whatever joins them. */
function partsOf(script: string): readonly string[] {
  return withoutDocuments(script)
    .replace(/\s*2>&1|\s*[12]?>\s*\/dev\/null/g, '')
    .split(/&&|\|\||[;|&\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('#'))
}

/** Whether every part of a script is known to change nothing. */
export function isReadOnly(script: string): boolean {
  return partsOf(script).every((part) => readOnly.test(part))
}

/** Whether a script may have changed files or the repository; tests and checks are taken to change none. */
export function mayChange(script: string): boolean {
  return !partsOf(script).every((part) => readOnly.test(part) || isCheck(part))
}

function isCheck(part: string): boolean {
  const purpose = purposeOf(part)
  return (purpose === 'test' || purpose === 'lint' || purpose === 'types') && !writes.test(part)
}

/** Prepares other steps and says nothing of its own. */
const housekeeping = /^(?:git (?:-C \S+ )?add|chmod|mkdir|touch|sleep|cd|true)\b/

export function isHousekeeping(script: string): boolean {
  return commandText(script)
    .split(/\s*(?:&&|\|\||;|\|)\s*/)
    .every((part) => part === '' || housekeeping.test(part) || readOnly.test(part))
}

/** The message that a script gives to its commit, from a here-document or an argument, without trailers. */
export function commitMessage(script: string): string | undefined {
  const at = script.search(/\bgit\b[^\n]{0,400}?\bcommit\b/)
  if (at < 0) return undefined
  const rest = script.slice(at)
  const [opening, , mark] = /<<-?[ \t]{0,9}(['"]?)(\w{1,40})\1[^\n]{0,200}\n/.exec(rest) ?? []
  const start = opening === undefined ? -1 : rest.indexOf(opening) + opening.length
  const end = start < 0 ? -1 : rest.indexOf(`\n${mark}`, start)
  const said = end < 0 ? /\s-\w{0,8}m\s{1,9}(?:"([^"]*)"|'([^']*)')/.exec(rest) : undefined
  const message = end < 0 ? (said?.[1] ?? said?.[2] ?? '') : rest.slice(start, end)
  const own = message
    .split('\n')
    .filter((line) => !/^\s*[\w-]+-by: /i.test(line))
    .join('\n')
    .trim()
  return own === '' ? undefined : own
}

export type Ending = { readonly exit?: number; readonly ended: CommandEnd; readonly output: string }

/** How a command ended, from the raw result where there is one and from the text the model saw. */
export function endingOf(
  text: string,
  { isError, raw }: { readonly isError: boolean; readonly raw?: unknown },
): Ending {
  const clean = withoutColours(text)
  const isStructured = isObject(raw)
  const said =
    /^(?:Error: )?Exit code:? (-?\d+)\b/.exec(clean) ??
    /^(?:(?:Command|Chunk ID|Wall time): .*\n)*Process exited with code (-?\d+)\b/.exec(clean.slice(0, 2000)) ??
    (isStructured
      ? null
      : /(?:^|\n)\s*(?:Command exited with code|\(?exit code:?) ?(-?\d+)\)?\s*$/i.exec(clean.slice(-200)))
  const isOpen =
    (isStructured && (stringAt(raw, 'backgroundTaskId') !== undefined || raw.interrupted === true)) ||
    /^(?:(?:Command|Chunk ID|Wall time): .*\n)*Process running with session ID/.test(clean.slice(0, 2000))
  const code = said ? Number(said[1]) : (numberAt(raw, 'exitCode') ?? numberAt(raw, 'exit_code'))
  const exit = code ?? (isStructured && !isError && !isOpen ? 0 : undefined)
  return {
    ...(exit === undefined ? {} : { exit }),
    ended: isError || (exit !== undefined && exit !== 0) ? 'badly' : isOpen ? 'unfinished' : 'well',
    output: clean
      .replace(/^(?:Error: )?Exit code:? -?\d+\n/, '')
      .replace(/^(?:Command: .*\n)?(?:Chunk ID: .*\n)?Wall time: [\s\S]{0,300}?\nOutput:\n/, ''),
  }
}

const counts =
  /\b\d+ (?:tests? )?(?:passed|failed|passing|failing|skipped|errors?|warnings?|problems?|issues?)\b|^\s*(?:Tests?|Test Files|Test Suites)[: ]\s*.*\d|^test result:|^Ran \d+ tests?|^(?:FAIL|PASS|ok)\b|^Found \d+ |^DONE \d+ tests|\b(?:all tests pass|build succeeded|build failed|BUILD (?:SUCCESSFUL|FAILED)|compiled successfully|no issues found)/im
const troubled =
  /\b(?:error|fail(?:ed|ure)?|fatal|panic|exception|traceback|cannot|could not|can't|unable to|not found|no such|denied|undefined|unexpected|invalid|refused|timed? ?out|conflict|rejected|missing|unused)\b|✗|✘|❌/i

const failure =
  /^\s*(?:FAIL|FAILED)\b|\b[1-9]\d{0,6} (?:tests? )?(?:failed|failing|failures?|errors?|issues?|problems?)\b/i

/** Behind a pipe the exit code is another program's: what the output says counts. */
export function behindPipe(ending: Ending): Ending {
  if (ending.ended !== 'well' || !failure.test(outcomeLine(ending.output, false))) return ending
  return { ended: 'badly', output: ending.output }
}

/** The line that a person would quote. */
export function outcomeLine(output: string, failed: boolean): string {
  const lines = (output.length > 60_000 ? `${output.slice(0, 30_000)}\n${output.slice(-30_000)}` : output)
    .split('\n')
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !/^\s*at .+:\d+|^Shell cwd was reset to /.test(line))
  const count = packageCount(lines) ?? lines.findLast((line) => counts.test(line))
  const trouble = failed ? troubleIn(lines) : undefined
  const both = trouble !== undefined && count !== undefined && count !== trouble
  if (!failed && trouble === undefined && count === undefined && /^\s*[{[]/.test(lines.at(-1) ?? '')) return ''
  const said = both ? `${oneLine(trouble, 140)} … ${count.trim()}` : (trouble ?? count ?? lines.at(-1) ?? '')
  // A page of data on one line is no outcome.
  return oneLine(said, /^\s*[{[]/.test(said) ? 60 : longestOutcome)
}

/** The error itself: not the echo of the command, not the heading of a stack, not a line of minified code. */
function troubleIn(lines: readonly string[]): string | undefined {
  const named = lines.findLast((line) => /^\s*(?:[\w.]+)?(?:Error|Exception)\b.{0,300}$/.test(line))
  const isStack = lines.some((line) => /^Traceback /.test(line))
  if (isStack && named !== undefined) return named
  return lines.find(
    (line) => line.length < 400 && troubled.test(line) && !/^\s*(?:\$|\[\w+\] \$|>)|^Traceback /.test(line),
  )
}

/** One line for each package says less than their number. */
function packageCount(lines: readonly string[]): string | undefined {
  const good = lines.filter((line) => /^ok\s+\S/.test(line)).length
  const bad = lines.filter((line) => /^FAIL\s+\S/.test(line)).map((line) => line.split(/\s+/)[1] ?? '')
  if (good + bad.length < 2) return undefined
  return `${good} packages ok${bad.length === 0 ? '' : `, ${bad.length} failed: ${bad.slice(0, 4).join(', ')}`}`
}
