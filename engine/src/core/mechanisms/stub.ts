// The stub of a cleared result: one line that says what the result was. A plan makes it once and the edit stores it, so it has
// the same bytes for ever, whoever reads the transcript. It is made of what the result showed, and quoted text stays a quotation.

import { blocksOf, isMedia, type ToolResultBlock, textOf } from '../message/block.ts'
import type { SafeRedact } from '../ports/restore.ts'
import { tailOf } from '../text/cut.ts'
import { neutralize } from '../text/neutralize.ts'
import { oneLine } from '../text/one-line.ts'
import { withoutSecrets } from '../text/secrets.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { ToolCall } from '../tools/call.ts'
import { commandText, endingOf, outcomeLine, reportingLines } from '../tools/commands.ts'

/** Characters, about 35 tokens. */
export const maxStub = 140
/** Of the result. A stub is paid for with every later request; with this share a session costs about 1 % more. */
const maxShare = 0.02
const maxName = 40
const maxInput = 60
const maxQuote = 50

/**
 * `Bash(npm test): exit 1, 349 lines, 36 error lines, "Tests 9 failed | 246 passed"`. Empty for a file that was read or changed,
 * because the call, which stays, says all of that; for a short result; and if the host's redaction broke.
 */
export function stubOf(call: ToolCall, result: ToolResultBlock, redact?: SafeRedact): string {
  const given = textOf(result.content)
  // Secrets are found in the whole text: a single line of a private key looks like any other.
  const clean = (text: string) => withoutSecrets((redact ? redact(text) : text) ?? '')
  const text = clean(given)
  const media = blocksOf(result.content).filter(isMedia)
  const room = media.length > 0 ? maxStub : Math.min(maxStub, Math.floor(given.length * maxShare))
  if (room === 0 || (text === '' && given !== '')) return ''
  const isError = result.is_error === true
  if (saysAll(call) && !isError && media.length === 0) return ''
  const { end, errors, quote } = read(call, text, isError)
  const lines = linesIn(given)
  const all = [
    ...end,
    ...(lines === 0 ? [] : [counted(lines, 'line')]),
    ...(errors === 0 ? [] : [counted(errors, 'error line')]),
    ...media.slice(0, 1).map(({ type }) => counted(media.length, type)),
  ]
  const input = quotable(inputOf(call, clean), maxInput)
  const name = `${quotable(call.name, maxName)}${input === '' ? '' : `(${input})`}`
  const brief = all.length === 0 ? name : `${name}: ${all.join(', ')}`
  const line = quotable(quote, maxQuote)
  const whole = line === '' ? brief : `${brief}, ${JSON.stringify(line)}`
  return [whole, brief, end.join()].find(({ length }) => length <= room) ?? ''
}

/** One line without tags and markers of ours. */
function quotable(text: string, maxLength: number): string {
  return neutralize(oneLine(text, maxLength))
}

function inputOf(call: ToolCall, clean: (text: string) => string): string {
  if (call.type === 'command') return clean(commandText(call.script))
  const named = call.path ?? (call.type === 'search' ? call.query : call.type === 'fetch' ? call.url : undefined) ?? ''
  const whole = clean(named)
  // The end of a path says more than its start.
  return call.path === undefined || whole.length <= maxInput ? whole : `…${tailOf(whole, maxInput - 1)}`
}

/** Reads and changes of files without an error: the path is in the call. */
function saysAll({ type }: ToolCall): boolean {
  return type === 'read' || type === 'write' || type === 'edit' || type === 'patch'
}

type Outcome = {
  /** `exit 1`, or `failed` where the code is unknown. */
  readonly end: readonly string[]
  /** Lines that name an error, where a command failed. */
  readonly errors: number
  readonly quote: string
}

const errorLine = /\b(?:error|fatal|panic|exception)\b|[a-z]Error\b|^\s*(?:FAIL|✗|✘)/i

function read(call: ToolCall, text: string, isError: boolean): Outcome {
  if (call.type !== 'command') {
    const quote = isError || call.type === 'fetch' ? (reportingLines(text)[0] ?? '') : ''
    return { end: isError ? ['failed'] : [], errors: 0, quote }
  }
  const { exit, ended, output } = endingOf(text, { isError })
  const lines = reportingLines(output)
  const hasFailed = ended === 'badly'
  return {
    end: exit === undefined ? (hasFailed ? ['failed'] : []) : [`exit ${exit}`],
    errors: hasFailed ? lines.filter((line) => errorLine.test(line)).length : 0,
    quote: outcomeLine(lines, hasFailed),
  }
}

/** Without empty lines at the end. */
function linesIn(text: string): number {
  const whole = text.trimEnd()
  let lines = whole === '' ? 0 : 1
  for (let at = whole.indexOf('\n'); at >= 0; at = whole.indexOf('\n', at + 1)) lines++
  return lines
}

function counted(count: number, what: string): string {
  return `${formatNumber(count)} ${what}${count === 1 ? '' : 's'}`
}
