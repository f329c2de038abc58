// Claims about state in a summary that contradict what outputs showed: a command said to pass that last failed, a commit
// said to be pushed after which no push was seen, a todo said to be open that is done. They are marked with what was last
// seen.
import type { CommandFact, Ledger, Todo } from '../../ledger/facts.ts'

export type StateCheck = { readonly text: string; readonly contradicted: readonly string[] }

export function annotateStateClaims(text: string, ledger: Ledger): StateCheck {
  const contradicted: string[] = []
  const lines = text.split('\n').map((line) => {
    const seen = lastSeen(line, ledger)
    if (seen === undefined) return line
    contradicted.push(line.trim().slice(0, 200))
    return `${line} (last seen: ${seen})`
  })
  return { text: lines.join('\n'), contradicted }
}

const longestLine = 2_000

function lastSeen(line: string, { commands, commits, repository, todos }: Ledger): string | undefined {
  if (line.length > longestLine) return undefined
  const command = commands.find(({ text, ended }) => ended !== 'unfinished' && line.includes(`\`${text}\``))
  const [commit, ...others] = commits.filter(({ hash }) => line.includes(hash.slice(0, 7)))
  const todo = todos.find(({ text }) => text.length >= 12 && line.includes(text))
  return (
    (command && commandSeen(line, command)) ??
    (commit && others.length === 0 ? pushSeen(line, commit.last <= repository.pushedLast) : undefined) ??
    (todo && todoSeen(line, todo))
  )
}

const passes = /\b(?:pass(?:es|ed|ing)?|succe\w+|green|clean|ok)\b/i
const fails = /\b(?:fail(?:s|ed|ing)?|broken|red)\b/i
const notPushed = /\b(?:not (?:yet )?(?:been )?pushed|unpushed)\b/i
const negated = /\b(?:not|no|never|n['’]t|0|zero|until|before|previously|first|then|earlier|was|were)\b/i

function pushSeen(line: string, isPushed: boolean): string | undefined {
  if (isPushed) return notPushed.test(line) ? 'pushed' : undefined
  return /\bpushed\b/i.test(line) && !negated.test(withoutWas(line)) ? 'no push after this commit' : undefined
}

/** "Was pushed" takes nothing back. */
function withoutWas(line: string): string {
  return line.replace(/\b(?:was|were) (?=pushed\b)/gi, '')
}

/** Only where the line says one thing and nothing in it takes that back. */
function commandSeen(line: string, { ended, outcome }: CommandFact): string | undefined {
  if (negated.test(line) || (passes.test(line) && fails.test(line))) return undefined
  const said = outcome === '' ? '' : `, "${outcome.replaceAll('"', "'")}"`
  if (ended === 'badly' && passes.test(line)) return `failed${said}`
  return ended === 'well' && fails.test(line) ? `passed${said}` : undefined
}

function todoSeen(line: string, { status }: Todo): string | undefined {
  const isOpen = /^\s*[-*] \[ \]|\b(?:pending|not (?:yet )?(?:done|started)|to do)\b/i.test(line)
  const isDone = /^\s*[-*] \[x\]|\b(?:done|completed|finished)\b/i.test(line) && !negated.test(line)
  if (status === 'done' && isOpen && !isDone) return 'done'
  return status === 'pending' && isDone ? 'not done' : undefined
}
