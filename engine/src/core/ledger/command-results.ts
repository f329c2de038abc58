// What a command's result tells: how it ended, which files it read or made, what it says about the repository.
import { commandText, endingOf, failedTests, outcomeLine, programOf, purposeOf } from './commands.ts'
import { noteError, settle } from './errors.ts'
import { commandKey } from './keys.ts'
import { readGit } from './repository.ts'
import { filesInScript } from './script-files.ts'
import { type Call, noteFile, noteNames, type State } from './state.ts'
import { commandOf } from './tools.ts'

type CommandResult = {
  readonly call: Call
  readonly text: string
  readonly isError: boolean
  readonly raw: unknown
}

export function noteCommand(state: State, { call, text, isError, raw }: CommandResult): void {
  const command = commandOf(call.input)
  if (command === '') return
  const ending = endingOf(text, { isError, raw })
  const line = commandText(command)
  const purpose = purposeOf(line)
  const isBad = ending.ended === 'badly'
  const outcome = outcomeLine(ending.output, isBad)
  const key = commandKey({ text: line })
  const runs = (state.commands.get(key)?.runs ?? 0) + 1
  state.commands.delete(key) // Set anew: the latest run stands last.
  state.commands.set(key, {
    text: line,
    purpose,
    runs,
    last: state.messages,
    ...(ending.exit === undefined ? {} : { exit: ending.exit }),
    ended: ending.ended,
    outcome,
    failures: purpose === 'test' ? failedTests(ending.output) : [],
  })
  // The very same command: that another one of the program went well says nothing about this one.
  const topic = `$ ${line}`
  if (isBad && !isEmptyAnswer(line, ending.output)) noteError(state, { what: line, line: outcome, topic })
  if (ending.ended === 'well') settle(state, topic)
  const shown = noteScriptFiles(state, command, isBad)
  noteNames(state, withoutKeys(ending.output), {
    home: shown ? { type: 'file', name: shown } : { type: 'command', name: programOf(line) },
    homeRank: shown ? 4 : 2,
    inError: isBad,
  })
  if (ending.ended === 'well') noteRepository(state, command, ending.output)
}

/** The keys of JSON are the words of a format, not of this session: they stay readable, but are no names. */
function withoutKeys(output: string): string {
  return output.replace(/"[a-z][\w-]*"(?=\s*:)/gi, (key) => key.replaceAll('_', ' '))
}

/** Searches and comparisons that find nothing end with 1: an answer, not an error. */
function isEmptyAnswer(line: string, output: string): boolean {
  return (
    /^(?:grep|rg|ag|diff|cmp|test|\[|which|pgrep|git diff)\b/.test(programOf(line)) &&
    !/\w+:/.test(output.slice(0, 400))
  )
}

/** Returns the file whose content the output is, when it is that of one. */
function noteScriptFiles(state: State, command: string, failed: boolean): string | undefined {
  if (failed) return undefined
  // A path is put together only to find a file that is known by it: what nobody wrote is not carried.
  const files = filesInScript(command).map(({ path, whole, ...file }) => ({
    ...file,
    path: whole !== undefined && state.files.has(whole) ? whole : path,
  }))
  for (const { path, act, seen } of files) noteFile(state, path, { act, seen })
  const read = files.filter(({ act }) => act === 'read')
  return read.length === 1 ? read[0]?.path : undefined
}

function noteRepository(state: State, command: string, output: string): void {
  const news = readGit(command, output)
  if (!news) return
  const now = state.messages
  const known = state.repository
  const branch = news.branch ?? known.branch
  const before = known.tracking?.branch === branch ? known.tracking : undefined
  state.repository = {
    ...known,
    ...(branch === undefined ? {} : { branch }),
    ...(news.tracking
      ? { tracking: { ...before, ...(branch === undefined ? {} : { branch }), ...news.tracking } }
      : {}),
    ...(news.lists ? { ...news.lists, statusLast: now } : {}),
    ...(news.commits.length > 0 ? { touchedLast: now } : {}),
    ...(news.pushed ? { pushedLast: now } : {}),
  }
  for (const commit of news.commits) state.commits.set(commit.hash, { ...commit, last: now })
}
