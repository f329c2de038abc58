// Reads commands and their output: the short form of a command, how it ended, and the most informative line of its output.
import { isObject, numberAt, stringAt } from '../message/json.ts'
import { oneLine, withoutColors } from '../text/neutralize.ts'
import { type Command, withoutDocuments } from './shell.ts'
import { gitWords, onlyReads } from './shell-effects.ts'

const maxCommand = 600
const maxOutcome = 200

/** "cd /p && npm test 2>&1 | tail -20" → "npm test", so that the same command is recognized in every run. */
export function commandText(script: string): string {
  const bare = withoutDocuments(script)
    .trim()
    // Removes comments, `cd FOLDER` and `set -e` at the start.
    .replace(/^(?:(?:#.*\n|cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;|\n)|set -\S+\s*(?:&&|;|\n))\s*)+/, '')
    // Removes `2>&1 | tail -20` at the end. `| head -1` stays, because it picks one of several answers.
    .replace(/(?: ?2>&1)?(?: ?\| ?(?:tail(?: -\w{1,20}(?: \d{1,9})?){0,4}|head(?: -(?:n ?)?\d{2,9})?)){1,4}$/, '')
    .replace(/ ?2>&1$/, '')
  return oneLine(bare === '' ? script : bare, maxCommand)
}

/** "git log --oneline" → "git log", "ls -la src" → "ls". */
export function programOf(commands: readonly Command[]): string {
  const [program = '', second = ''] =
    commands.find(({ words }) => !/^(?:(?:cd|echo|set)$|\w+=)/.test(words[0] ?? ''))?.words ?? []
  const hasSubcommand = /^[a-z][\w:-]*$/.test(second) && !withoutSubcommands.test(program)
  return hasSubcommand ? `${program} ${second}` : program
}

const withoutSubcommands = /^(?:ls|cat|rm|mkdir|cp|mv|grep|rg|find|sed|for|if|while)$/

/** `mkdir`, `git add`: only prepares other steps, so it is not worth a line. */
export function isHousekeeping(command: Command): boolean {
  const [program = '', ...rest] = command.words
  if (program === 'git') return gitWords(rest)[0] === 'add' || onlyReads(command)
  return /^(?:chmod|mkdir|touch|sleep)$/.test(program) || onlyReads(command)
}

/** Unfinished: it runs in the background, was cut off, or was still running when last seen. Its outcome is unknown. */
export type CommandEnd = 'well' | 'badly' | 'unfinished'

export type Ending = {
  readonly exit?: number
  readonly ended: CommandEnd
  readonly output: string
  /** The client's id for a command that continues in the background. */
  readonly task?: string
}

/** Text that Codex writes before the exit code. */
const codexHead = String.raw`^(?:(?:Command|Chunk ID|Wall time): .*\n)*Process `
const exited = [
  /^(?:Error: )?Exit code:? (-?\d+)\b/,
  new RegExp(`${codexHead}exited with code (-?\\d+)\\b`),
  /** Only at the end (pi, opencode and others), because the output of the command may contain the same words. */
  /(?:^|\n)\s*(?:Command exited with code|\(?exit code:?) ?(-?\d+)\)?\s*$/i,
] as const
const isRunning = new RegExp(`${codexHead}running with session ID:? ?(\\S{0,40})`)

/** How a command ended, from the raw result if there is one and from the text that the model saw. */
export function endingOf(
  text: string,
  { isError, raw }: { readonly isError: boolean; readonly raw?: unknown },
): Ending {
  const clean = withoutColors(text)
  const isStructured = isObject(raw)
  const start = clean.slice(0, 2_000)
  const said =
    exited[0].exec(start) ?? exited[1].exec(start) ?? (isStructured ? null : exited[2].exec(clean.slice(-200)))
  const task = stringAt(raw, 'backgroundTaskId') ?? isRunning.exec(start)?.[1]
  const isOpen = task !== undefined || (isStructured && raw.interrupted === true)
  const code = said ? Number(said[1]) : (numberAt(raw, 'exitCode') ?? numberAt(raw, 'exit_code'))
  const exit = code ?? (isStructured && !isError && !isOpen ? 0 : undefined)
  return {
    ...(exit === undefined ? {} : { exit }),
    ...(task === undefined ? {} : { task }),
    ended: isError || (exit !== undefined && exit !== 0) ? 'badly' : isOpen ? 'unfinished' : 'well',
    output: clean
      .replace(/^(?:Error: )?Exit code:? -?\d+\n/, '')
      .replace(/^(?:Command: .*\n)?(?:Chunk ID: .*\n)?Wall time: [\s\S]{0,300}?\nOutput:\n/, ''),
  }
}

/** The last line of a test runner, linter or build: "Tests 3 failed | 40 passed", "Found 2 errors", "build succeeded". */
const counts =
  /\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?|skipped|errors?|warnings?|problems?|issues?)\b|^\s*(?:Tests?|Test Files|Test Suites)[: ]\s*.*\d|^test result:|^Ran \d+ tests?|^(?:FAIL|PASS|ok)\b|^Found \d+ |^DONE \d+ tests|\b(?:all tests pass|build succeeded|build failed|BUILD (?:SUCCESSFUL|FAILED)|compiled successfully|no issues found)/im
/** "error: no rule for gate", "cannot find module". */
const troubled =
  /\b(?:error|fail(?:ed|ure)?|fatal|panic|exception|traceback|cannot|could not|can't|unable to|not found|no such|denied|undefined|unexpected|invalid|refused|timed? ?out|conflict|rejected|missing|unused)\b|✗|✘|❌/i
/** "3 failed", "2 errors", but not "0 errors". */
const failure =
  /^\s*(?:FAIL|FAILED)\b|\b[1-9]\d{0,6} (?:tests? )?(?:failed|failing|failures?|errors?|issues?|problems?)\b/i

/** "fatal: not a repository", "! [rejected] main -> main", "npm ERR! …" */
const refused = /^(?:error|fatal): |^ ! \[(?:remote )?rejected\]|^! \[rejected\]|^npm (?:ERR!|error) /m

/** `npm test | tail` exits with the code of `tail`, and some clients report no code, so the output decides. */
export function judgedByOutput(ending: Ending, { verifies }: { readonly verifies: boolean }): Ending {
  if (ending.ended !== 'well') return ending
  // A check may print errors and still pass, so only its last line counts.
  const hasFailed = verifies
    ? failure.test(outcomeLine(reportingLines(ending.output), false))
    : refused.test(ending.output.slice(-8_000))
  return hasFailed ? { ended: 'badly', output: ending.output } : ending
}

/** Lines that report nothing: `at gate.ts:4`, `</output>`, "Use `lint explain` to explain issues." */
const reportsNothing =
  /^\s*at .+:\d+|^Shell cwd was reset to |^\s*<\/?[\w-]+(?:\s[^<>]*)?>\s*$|^\s*(?:(?:use|run|try|see) [`'"]|for (?:more|further) |(?:hint|help|tip|note): )/i

/** The client shows only the start of a long output, so its last line means nothing. */
const isPreview = /^\s*<persisted-output>/

/** The informative lines of an output, without the middle of a very long one. */
export function reportingLines(output: string): readonly string[] {
  const lines = (output.length > 60_000 ? `${output.slice(0, 30_000)}\n${output.slice(-30_000)}` : output)
    .split('\n')
    .filter((line) => /[\p{L}\p{N}]/u.test(line) && !reportsNothing.test(line))
  return isPreview.test(output) ? lines.filter((line) => counts.test(line)) : lines
}

/** The line that a person would quote: "TypeError: x is undefined … 3 failed, 40 passed". */
export function outcomeLine(lines: readonly string[], failed: boolean): string {
  const count = packageCount(lines) ?? lines.findLast((line) => counts.test(line))
  const trouble = failed ? troubleIn(lines) : undefined
  const isData = (line: string) => /^\s*[{[]/.test(line)
  if (trouble !== undefined && count !== undefined && count !== trouble) {
    return oneLine(`${oneLine(trouble, 140)} … ${count.trim()}`, maxOutcome)
  }
  const said = trouble ?? count ?? (!failed && isData(lines.at(-1) ?? '') ? '' : lines.at(-1)) ?? ''
  // JSON on one line is data, not an outcome.
  return oneLine(said, isData(said) ? 60 : maxOutcome)
}

/** The error itself, not "$ npm test", "Traceback …" or a line of minified code. */
function troubleIn(lines: readonly string[]): string | undefined {
  const named = lines.findLast((line) => /^\s*(?:[\w.]+)?(?:Error|Exception)\b.{0,300}$/.test(line))
  const isStack = lines.some((line) => /^Traceback /.test(line))
  if (isStack && named !== undefined) return named
  const troubles = lines.filter(
    (line) => line.length < 400 && troubled.test(line) && !/^\s*(?:\$|\[\w+\] \$|>)|^Traceback /.test(line),
  )
  return troubles.find((line) => !/^\s*warning\b/i.test(line)) ?? troubles[0]
}

/** `go test` prints a line for each package: "12 packages ok, 1 failed: app/gate". */
function packageCount(lines: readonly string[]): string | undefined {
  const good = lines.filter((line) => /^ok\s+\S/.test(line)).length
  const bad = lines.filter((line) => /^FAIL\s+\S/.test(line)).map((line) => line.split(/\s+/)[1] ?? '')
  if (good + bad.length < 2) return undefined
  return `${good} packages ok${bad.length === 0 ? '' : `, ${bad.length} failed: ${bad.slice(0, 4).join(', ')}`}`
}
