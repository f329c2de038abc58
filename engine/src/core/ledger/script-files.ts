// Files that a shell script reads, makes or removes, where its words leave no doubt. Agents without file tools do all
// their reading this way.
import { folderOf, withoutDocuments } from './commands.ts'
import type { FileAct, Lines } from './facts.ts'

export type ScriptFile = {
  /** As written. */
  readonly path: string
  /** With the folder that the script went to, where it went to one. */
  readonly whole?: string
  readonly act: FileAct
  readonly seen?: Lines
}

const longestScript = 4000

export function filesInScript(whole: string): readonly ScriptFile[] {
  const script = whole.slice(0, longestScript)
  const written = [...script.matchAll(/(?:^|\s)(?:cat|tee)\s*(?:-a\s+)?>{0,2}\s*([^\s<>|&;'"]+)\s*<</g)]
  const made = written.map(([, path = '']): ScriptFile => ({ path, act: 'written' })).filter(({ path }) => isPath(path))
  const commands = withoutDocuments(script).split(/\s*(?:&&|\|\||;|\n)\s*/)
  const folder = folderOf(script)
  return [...made, ...commands.flatMap(filesInCommand)].map((file) => ({ ...file, ...wholeOf(folder, file.path) }))
}

function wholeOf(folder: string | undefined, path: string): { readonly whole?: string } {
  if (folder === undefined || !/^[~/]/.test(folder) || /^[~/$]/.test(path)) return {}
  return { whole: `${folder.replace(/\/$/, '')}/${path.replace(/^\.\//, '')}` }
}

function filesInCommand(command: string): readonly ScriptFile[] {
  const [first = ''] = command.split('|')
  const words = first.match(/"[^"]*"|'[^']*'|[^\s"']+/g)?.map((word) => word.replace(/^["']|["']$/g, '')) ?? []
  const [program = '', ...rest] = words
  const paths = rest.filter((word, index) => isPath(word) && !/^s\//.test(word) && !/^[<>]/.test(rest[index - 1] ?? ''))
  switch (program) {
    case 'cat':
    case 'nl':
    case 'bat':
    case 'less':
    case 'head':
    case 'tail':
      return /[<>]/.test(first) ? [] : paths.map((path) => ({ path, act: 'read', ...linesOf(command) }))
    case 'sed':
      if (rest.includes('-n')) return paths.map((path) => ({ path, act: 'read', ...linesOf(command) }))
      return rest.some((word) => /^-i/.test(word)) ? paths.map((path) => ({ path, act: 'edited' })) : []
    case 'rm':
      return paths.map((path) => ({ path, act: 'deleted' }))
    default:
      return []
  }
}

/** `sed -n '10,80p'` shows lines 10 to 80. */
function linesOf(command: string): { readonly seen?: Lines } {
  const [, from, to] = /\bsed\s+-n\s+["']?(\d+),(\d+)p/.exec(command) ?? []
  return from === undefined || to === undefined ? {} : { seen: [Number(from), Number(to)] }
}

function isPath(word: string): boolean {
  return (
    /^[\w~./@+-]+$/.test(word) &&
    /[./]/.test(word) &&
    /[A-Za-z]/.test(word) &&
    !/^(?:-|\.{1,2}\/?$|\d+$|\/dev\/)|\/$/.test(word)
  )
}
