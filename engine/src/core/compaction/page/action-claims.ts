// Claims of success: "All tests pass now.", "The work was pushed to origin." They are compared with the latest run of such a
// command. Only plain statements count: a condition, a plan, a part of the tests or an older success is no contradiction.
import type { CommandFact, Exchange } from '../../ledger/facts.ts'
import type { Action } from '../../tools/actions.ts'

/**
 * The latest run of a command of one kind: of the tests, a build, a push. It is also unfinished if it is unclear which command
 * of a script failed.
 */
export type ActionFact = Omit<CommandFact, 'hasSucceeded'> & {
  readonly action: Action
  /** This run or an earlier one of this kind succeeded. */
  readonly hasSucceeded: boolean
}

/** At most one for each kind: `npm test` failed, then `npm test gate` passed → test: well. */
export function latestActions(commands: readonly CommandFact[]): readonly ActionFact[] {
  const latest = new Map<Action, ActionFact>()
  for (const run of commands.toSorted((a, b) => a.last - b.last)) {
    for (const action of run.actions ?? []) {
      const hasSucceeded = [run.ended === 'well', run.hasSucceeded, latest.get(action)?.hasSucceeded].includes(true)
      const ended = run.ended === 'badly' && run.failed !== action ? 'unfinished' : run.ended
      const outcome = run.outcome === '' && run.exit ? `exit code ${run.exit}` : run.outcome
      latest.set(action, { ...run, action, ended, outcome, hasSucceeded })
    }
  }
  return [...latest.values()]
}

/** "All tests pass." → "`npm test` failed, "3 failed"", if that is how the latest run of the tests ended. */
export function failedActionIn(
  sentence: string,
  { actions, exchanges }: { readonly actions: readonly ActionFact[]; readonly exchanges: readonly Exchange[] },
): string | undefined {
  const failed = actions.filter(({ ended }) => ended === 'badly')
  if (failed.length === 0 || hedges.test(sentence) || conditional.test(sentence)) return undefined
  for (const fact of failed) {
    const claimed = claimOf(fact, sentence)
    // A claim about the past may be about an earlier run.
    if (claimed === undefined || (claimed === 'past' && fact.hasSucceeded)) continue
    // The user may have reported it later ("I pushed it", "the build is green"), or may have written this sentence.
    const isUsers = ({ last, text }: Exchange) =>
      (last > fact.last && text.toLowerCase().includes(fact.action.slice(0, 4))) ||
      text.includes(sentence.replace(/^[\s\-*\d.)]+/, '').trim())
    if (exchanges.some(isUsers)) continue
    const said = fact.outcome === '' ? '' : `, "${fact.outcome.replaceAll('"', "'")}"`
    return `\`${fact.text.replaceAll('`', "'")}\` failed${said}`
  }
  return undefined
}

/** No plain claim: "the tests will pass", "9 of 10 tests pass", "the tests probably pass", "the user says the tests pass". */
const hedges =
  /\?\s*$|\b(?:not|never|nothing|none|cannot|n['’]t|yet|fail\w*|reject\w*|broken|pending|except|but|apart from|besides|other than|until|unless|whether|should|would|could|will|must|may|might|can|needs?|wants?|ready|to be|awaiting|waiting|previously|earlier|already|yesterday|last (?:week|time|session)|initially|at first|at that (?:time|point)|user|human|claim\w*|assum\w*|suppos\w*|probabl\w*|\d+ (?:of|out of) \d+)\b|\b\d+\/\d+\b/i
/** "Once the tests pass, …", "Make sure the build is green." */
const conditional =
  /^[\s\-*\d.)]*(?:if|once|when|as soon as|before|to|ensure|make|verify|check|confirm|run|wait|next|then|todo|goal)\b/i
/** Before the claim, in the same clause: "verify that the tests pass". */
const wished =
  /\b(?:if|once|when|before|after|ensure|ensuring|make sure|making sure|verify|check|confirm|so|want|expect\w*|require\w*|goal|try|tries|tried|ask\w*|request\w*|plan\w*|hope\w*|see)\b/i

/** A plain statement starts with the sentence, after a comma, or after a joining word: "It is fixed, and the tests pass". */
const start = String.raw`(?:^[\s\-*_#\d.)]*|[,;:(–—]\s*|\b(?:and|now|that|with|so)\s+)`
/** "The tests now all pass" */
const adverbs = String.raw`(?:\s+(?:now|all|currently|again|still|also|finally|successfully|fully|both)){0,2}`
/** "All 40 existing tests pass" */
const all = String.raw`(?:(?:all|the|every|both|of|our|\d+|full|whole|entire|complete|existing|production|project|project['’]s)\s+){0,3}`
/** No claim about everything: "the tests pass for the parser", "passes locally". */
const noLimit = String.raw`(?!\s+(?:for|in|on|when|if|with|against|under|only|locally)\b)`

/** Matches claims about a state, now or in the past: "The tests pass", "the build was green". */
function stateClaim(subject: string, more = ''): RegExp {
  const be = String.raw`(?:\s+(?:is|are))${adverbs}\s+(?:passing|green|clean|succeeding|working|successful)`
  const present = String.raw`${adverbs}\s+(?:pass|passes|succeed|succeeds|works?|passing|green)`
  const past = String.raw`${adverbs}(?:\s+(?:was|were|has|have))?${adverbs}\s+(?<past>passed|succeeded|completed|green)`
  return new RegExp(
    String.raw`${start}${all}(?:${subject})(?:${be}|${past}|${present})\b${noLimit}${more === '' ? '' : `|${start}(?:${more})`}`,
    'i',
  )
}

/** Matches claims about a completed action: "It was pushed", "pushed the branch". */
function doneClaim(participle: string, limit = ''): RegExp {
  const passive = String.raw`\b(?:(?:is|are)|(?<past>was|were|been))${adverbs}\s+(?:${participle})\b`
  const active = String.raw`(?:${start}|\b(?:agent|assistant|I|we|has|have|successfully)\s+)(?<done>${participle})\b(?=\s+(?:it|them|the|all|everything|to|this|these|both)\b|\s*[.,;)]|\s*$)`
  return new RegExp(`(?:${passive}|${active})${limit}`, 'i')
}

/** The claims about each action. "The item was pushed to the queue" and "committed to it" are about something else. */
const claims: Readonly<Record<Action, RegExp>> = {
  test: stateClaim(String.raw`tests?(?:[\s-]suites?)?|suite|specs`),
  lint: stateClaim(
    'lint|linter|linting|lint check',
    String.raw`(?:there are )?no lint(?:er|ing)? (?:errors|warnings)\b`,
  ),
  types: stateClaim(String.raw`type[\s-]?check(?:s|er|ing)?|types`, String.raw`(?:there are )?no type errors\b`),
  check: stateClaim('checks'),
  build: stateClaim(
    'build|compilation',
    String.raw`(?:it|everything|the (?:project|code|app|package|workspace)) (?:now )?(?:builds|compiles)\b${noLimit}`,
  ),
  commit: doneClaim('committed', String.raw`(?!\s+to\b)`),
  push: doneClaim(
    'pushed',
    String.raw`(?!\s+(?:back|down|onto|into|up|through|aside|out|off|by|for|to (?:(?:the|an?) )?(?:\w+ )?(?:array|stack|queue|list|end|top|front|buffer|right|left|client|clients|browser|subscribers?|next|later)\b))`,
  ),
  deploy: doneClaim('deployed'),
  publish: doneClaim('published'),
  install: doneClaim('installed'),
  migrate: doneClaim('migrated|applied the migrations?'),
}

/** "The tests pass" → present; "The work was pushed" → past; "verify that the tests pass" → undefined. */
function claimOf(fact: ActionFact, sentence: string): 'present' | 'past' | undefined {
  const found = claims[fact.action].exec(sentence)
  if (!found || isQuoted(sentence, found.index) || (fact.action === 'install' && !isAbout(fact, sentence))) return
  const before = sentence.slice(0, found.index)
  const clause = before.slice(Math.max(...[',', ';', ':'].map((mark) => before.lastIndexOf(mark))) + 1)
  if (wished.test(clause)) return undefined
  return found.groups?.past === undefined && found.groups?.done === undefined ? 'present' : 'past'
}

/** `the log says "all tests pass"`: somebody else's words, or a name. */
function isQuoted(sentence: string, at: number): boolean {
  const before = sentence.slice(0, at)
  return (
    ['"', '`'].some((mark) => before.split(mark).length % 2 === 0) || before.lastIndexOf('“') > before.lastIndexOf('”')
  )
}

/** "zod is installed" is about `npm install zod`, not about another package; "the dependencies are installed" is about any. */
function isAbout({ text }: ActionFact, sentence: string): boolean {
  const named = text
    .split(/\s+/)
    .slice(2)
    .filter((word) => /^[@\w][\w@/.-]{2,}$/.test(word))
  return (
    /\b(?:dependencies|packages|requirements|modules|everything)\b/i.test(sentence) ||
    named.some((word) => sentence.includes(word))
  )
}
