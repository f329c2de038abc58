// Permissions of a running agent: decides by mode and rules, asks the person one question at a time, and remembers the calls that
// are always allowed.
import type { Session } from 'everlong/node'
import type { Denial, KeptPlace, PermissionAnswer, PermissionMode, PermissionRequest, Person } from '../app.ts'
import { type Access, type Decision, decide, isOrdinaryEdit } from './decide.ts'
import { disk } from './disk.ts'
import { hiddenBy, isOpened } from './path-rules.ts'
import { formatRule, type Rule, type RuleSet } from './rule.ts'
import { isSecretFile } from './secrets.ts'

/** The current mode, and how to change it. */
export type Mode = { readonly get: () => PermissionMode; readonly set: (mode: PermissionMode) => void }

export type PermissionOptions = {
  readonly person: Person
  readonly mode: Mode
  readonly rules: RuleSet
  /** The workspace's folder with all links resolved. */
  readonly root: string
  /** Our own folders that this session may read: output of its commands. */
  readonly ownFolders: (session: Session) => readonly string[]
  /** Stores rules for later sessions. If absent, they apply only to this session. */
  readonly keepRules?: (rules: readonly string[], place: KeptPlace) => void
}

export type AskedCall = {
  readonly access: Access
  readonly tool: string
  readonly title: string
  readonly detail?: PermissionRequest['detail']
  readonly toolUseId: string
  readonly signal: AbortSignal
  readonly session: Session
}

export type PermissionResult = { readonly type: 'allowed' } | { readonly type: 'denied'; readonly message: string }

export type Permissions = {
  readonly check: (asked: AskedCall) => Promise<PermissionResult>
  /** The current rules: from the settings, and those that the person has added. */
  readonly rules: () => RuleSet
  /** For one search, which skips such files and folders. */
  readonly hidden: () => (path: string) => boolean
  /** A search of a folder skips such files. Reading one by name asks. */
  readonly isSecret: (path: string) => boolean
}

export function createPermissions(options: PermissionOptions): Permissions {
  const { rules, mode, root, ownFolders } = options
  const always: Rule[] = []
  const rulesNow = (): RuleSet => ({ deny: rules.deny, allow: [...rules.allow, ...always] })
  const decideNow = ({ access, session }: AskedCall) =>
    decide(access, {
      mode: mode.get(),
      rules: rulesNow(),
      root,
      ownFolders: ownFolders(session),
      disk,
    })
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const result = last.then(task, task)
    last = result
    return result
  }
  const askNow = async (asked: AskedCall): Promise<PermissionResult> => {
    // The answer to the previous question may have decided this one.
    const decision = decideNow(asked)
    if (decision.type === 'allow') return { type: 'allowed' }
    if (decision.type === 'deny') return byRule(decision.reason)
    const request = requestOf(asked, decision, {
      canKeep: options.keepRules !== undefined,
      offersEdits: isOrdinaryEdit(asked.access, root) && mode.get() === 'ask',
    })
    const answer = await answerOf(options.person, request, asked.signal)
    if (answer.type === 'deny') return byPerson(asked, answer)
    if (answer.type === 'accept-edits') mode.set('accept-edits')
    if (answer.type === 'always') {
      always.push(...decision.rules)
      if (answer.place) options.keepRules?.(decision.rules.map(formatRule), answer.place)
    }
    return { type: 'allowed' }
  }
  return {
    check: async (asked) => {
      const decision = decideNow(asked)
      if (decision.type === 'allow') return { type: 'allowed' }
      if (decision.type === 'deny') return byRule(decision.reason)
      return inTurn(() => askNow(asked))
    },
    rules: rulesNow,
    hidden: () => hiddenBy(rules.deny, { root, disk }),
    isSecret: (path) => mode.get() !== 'allow' && isSecretFile(path) && !isOpened(rulesNow().allow, path, root),
  }
}

/** An interrupted question is over even if the host does not say so, because others wait for it. */
async function answerOf(person: Person, request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
  const { promise, resolve } = Promise.withResolvers<PermissionAnswer>()
  const stop = () => resolve({ type: 'deny', reason: 'The question was interrupted.' })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  try {
    return await Promise.race([person.askPermission(request, signal), promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type Offers = { readonly canKeep: boolean; readonly offersEdits: boolean }

function requestOf(
  { toolUseId, tool, title, detail, session }: AskedCall,
  { rules, reason }: Decision & { readonly type: 'ask' },
  { canKeep, offersEdits }: Offers,
): PermissionRequest {
  const reasons = [
    ...(session.agentId === undefined ? [] : ['for a sub-agent']),
    ...(reason === undefined ? [] : [reason]),
  ]
  return {
    toolUseId,
    tool,
    title: oneLine(title),
    ...(detail ? { detail } : {}),
    ...(reasons.length === 0 ? {} : { reason: reasons.join('; ') }),
    ...(rules.length > 0 ? { rules: rules.map(formatRule), ...(canKeep ? { places: keptPlaces } : {}) } : {}),
    ...(offersEdits ? { offersEdits } : {}),
  }
}

const keptPlaces: readonly KeptPlace[] = ['project', 'user']

/** Line breaks in a name could imitate the rest of the question. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function byRule(reason: string): PermissionResult {
  const message = `Permission was denied: ${reason}. Do not try to reach the same in another way. If the task needs it, say so to the user.`
  return { type: 'denied', message }
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`
}

function byPerson({ title }: AskedCall, { reason = '', isUnattended = false }: Denial): PermissionResult {
  const why = reason.trim() === '' ? '' : ` They said: ${sentence(reason)}`
  const next = 'Nothing was done. Do not try to reach the same in another way: continue without it,'
  const message = isUnattended
    ? `There was nobody to ask for permission: ${title}. ${next} and say at the end what is missing.`
    : `Permission was denied by the user: ${title}.${why} ${next} or ask the user how to go on.`
  return { type: 'denied', message }
}
