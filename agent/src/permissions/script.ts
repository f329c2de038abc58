// Reads a shell script into the commands that it may run, for permission rules. Words that are known only at run time stay
// unknown, and everything that cannot be read from the text is reported in `unseen`, so that rules can fail closed.
import {
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type WordPart,
} from 'unbash'
import { programOf, startedBy } from './programs.ts'
import { literal, pipePath, textOf, type Word, type Words, wordOf, wordsOf } from './words.ts'

export type Script = {
  readonly text: string
  /** Every command that may run, including commands that another command or a text in the script starts. */
  readonly commands: readonly Words[]
  /** Words outside of commands that may name files: redirections and values of variables. */
  readonly files: Words
  /** Reasons why unlisted commands may run, one each. */
  readonly unseen: readonly string[]
  /** The words of each command, if the script consists only of plain commands joined by `&&`, `||`, `;`, `|` or line ends. */
  readonly plain: readonly (readonly string[])[] | undefined
}

const maxDepth = 8
const maxCommands = 500

export function readScript(text: string): Script {
  const found: Found = { commands: [], files: [], unseen: [] }
  const tree = parsed(text)
  if (tree === undefined) found.unseen.push(unreadable)
  else collect(tree, { found, depth: 0 })
  if (runsItsOwnFile(found)) found.unseen.push('it runs a file that it writes')
  return { text, ...found, plain: tree === undefined || hasControl(text) ? undefined : plainCommands(tree) }
}

const unreadable = 'it cannot be read as a Bash script'

function parsed(text: string): ParsedScript | undefined {
  try {
    return parse(text)
  } catch {
    // The parser should return errors. If it throws, nothing is known about the script.
    return undefined
  }
}

type Found = { readonly commands: Words[]; readonly files: Word[]; readonly unseen: string[] }
type Reading = { readonly found: Found; readonly depth: number }

function collect(node: SyntaxNode, reading: Reading): void {
  const { found } = reading
  if (node.type === 'Script' && (node.errors?.length ?? 0) > 0) found.unseen.push(unreadable)
  if (node.type === 'Command') addCommand(node, reading)
  if (node.type === 'Assignment') addAssignment(node, reading)
  if (node.type === 'Redirect' && node.target && !isDescriptor(node)) found.files.push(...wordsOf(node.target))
  forEachChild(node, (child) => collect(child, reading))
}

/** `2>&1` opens no file. */
function isDescriptor({ operator, target }: Redirection & { readonly type: 'Redirect' }): boolean {
  return (operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(target?.value ?? '')
}

/** Programs run the values of these variables, or use them to find what they run. */
const runningNames =
  /(?:EDITOR|FCEDIT|VISUAL|PAGER|BROWSER|COMMAND|CMD|SHELL|SSH|ASKPASS|OPTIONS|OPTS?|PRELOAD|LIBRARY_PATH|STARTUP)$|^(?:ENV|BASH_ENV|LESSOPEN|LESSCLOSE|MAKEFLAGS|GIT_.*|LD_.*|PS\d)$/i

function addAssignment({ name, value }: Assignment, reading: Reading): void {
  const { found } = reading
  const values = value.type === 'ArrayValue' ? value.elements.map(wordOf) : [wordOf(value)]
  for (const word of values) {
    if (word.type !== 'unknown') found.files.push(word)
    // An arithmetic expression and a prompt run substitutions in a variable's text.
    const isRun = runningNames.test(name) || (word.type === 'literal' && /\$\(|`/.test(word.text))
    if (isRun) readText(word, reading)
  }
}

function addCommand(node: Command, reading: Reading): void {
  if (node.name === undefined) return
  const words = [node.name, ...node.args].flatMap((each) => (each.type === 'Word' ? wordsOf(each) : declared(each)))
  const queue: Words[] = [words]
  const input = inputOf(node)
  for (const command of queue) {
    if (reading.found.commands.length >= maxCommands) {
      reading.found.unseen.push(`it has more than ${maxCommands} commands`)
      return
    }
    reading.found.commands.push(command)
    const { commands = [], scripts = [], unseen } = startedBy(command, input)
    // More would not be read.
    if (queue.length <= maxCommands) queue.push(...commands.filter(({ length }) => length > 0))
    for (const script of scripts) readText(script, reading)
    if (unseen !== undefined) reading.found.unseen.push(unseen)
  }
}

const writers = /^(?:cp|mv|ln|install|tee|dd)$/

/** `echo 'rm x' > y; sh y` and `cp /bin/rm y; ./y x`. */
function runsItsOwnFile({ commands, files }: Found): boolean {
  const named = commands.flatMap((words) => (writers.test(programOf(words[0]) ?? '') ? words.slice(1) : []))
  const written = new Set([...files, ...named].flatMap((word) => fileNames(word)))
  return commands.some(([program]) => fileNames(program).some((name) => written.has(name)))
}

function fileNames(word: Word | undefined): readonly string[] {
  const text = textOf(word)
  return text === undefined ? [] : [text.replace(/^(?:\.\/)+|^of=/, '')]
}

/** `X=1` as an argument of `export`, `alias` and similar. */
function declared({ name, value, text }: Assignment): Words {
  const word = value.type === 'Word' ? wordOf(value) : undefined
  return [word?.type === 'literal' ? literal(`${name}=${word.text}`) : { type: 'unknown', source: text, isOne: true }]
}

/** The text that the script itself gives a command as input. */
function inputOf({ redirects }: Command): Word | undefined {
  const last = redirects.findLast(({ type }) => type === 'HereDoc' || type === 'HereString')
  if (last?.type === 'HereString') return last.target && wordOf(last.target)
  if (last?.type !== 'HereDoc') return undefined
  const { parts, text } = last.body
  const isKnown = (parts ?? []).every(({ type }) => type === 'Literal')
  return isKnown ? literal(text) : { type: 'unknown', source: 'a here-document', isOne: true }
}

/** A text that may run as a script. */
function readText(word: Word, { found, depth }: Reading): void {
  if (word.type === 'literal' && word.text.includes(pipePath))
    found.unseen.push('a program may run what it reads from a pipe')
  else if (word.type !== 'literal') found.unseen.push(`${word.type === 'unknown' ? word.source : word.text} may be run`)
  else if (depth >= maxDepth) found.unseen.push('it has scripts in scripts in scripts')
  else {
    const tree = parsed(word.text)
    if (tree) collect(tree, { found, depth: depth + 1 })
    else found.unseen.push(unreadable)
  }
}

/** These run other commands, or change the meaning of names. */
const notPlain = new Set('. source eval exec command builtin alias trap coproc'.split(' '))

/** Undefined if the script contains anything else: substitutions, redirections to files, variables, groups, patterns, keywords. */
function plainCommands(tree: ParsedScript): readonly (readonly string[])[] | undefined {
  const commands: (readonly string[])[] = []
  const isPlain = (node: SyntaxNode): boolean => {
    switch (node.type) {
      case 'Statement':
        return !node.background && isPlain(node.command)
      case 'AndOr':
        return node.commands.every(isPlain)
      case 'Pipeline':
        return (
          node.prefixes.length === 0 && node.operators.every((sign) => sign === '|') && node.commands.every(isPlain)
        )
      case 'Command': {
        const words = plainWords(node)
        if (words) commands.push(words)
        return words !== undefined
      }
      default:
        return false
    }
  }
  const isAll = (tree.errors?.length ?? 0) === 0 && tree.commands.every(isPlain)
  return isAll && commands.length > 0 ? commands : undefined
}

function plainWords({ name, args, prefix, redirects }: Command): readonly string[] | undefined {
  if (name === undefined || name.value === '' || prefix.length > 0) return undefined
  if (!redirects.every((each) => isDiscarding(each))) return undefined
  const words: string[] = []
  for (const node of [name, ...args]) {
    if (node.type !== 'Word' || !(node.parts ?? []).every(isPlainPart)) return undefined
    // A single `$` is literal, but a person should not have to know that.
    if (node.text.startsWith('~') || /[$`]/.test(node.text.replace(/'[^']*'/g, ''))) return undefined
    const [word, ...more] = wordsOf(node)
    if (word?.type !== 'literal' || more.length > 0) return undefined
    words.push(word.text)
  }
  return notPlain.has(name.value) ? undefined : words
}

/** `2>&1` and `>/dev/null`: no file is written. */
function isDiscarding(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return false
  return isDescriptor(redirect) || (/^(?:>|>>|&>)$/.test(redirect.operator) && redirect.target?.text === '/dev/null')
}

/** Every shell reads these parts the same way. */
function isPlainPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(({ type }) => type === 'Literal')
  return part.type === 'Literal' || part.type === 'SingleQuoted'
}

/** Control characters and continued lines may hide from a person what a command does. */
function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  return /[\u0000-\u0008\u000b-\u001f\u007f]|\\\n/.test(text)
}
