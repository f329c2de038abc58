// Without a session: a list of messages becomes a shorter one. No key, no network.
import { compact } from 'everlong'

const messages = Array.from({ length: 40 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: at % 2 === 0 ? 'Go on.' : `Step ${at}: ${'what I looked at, and what it said. '.repeat(60)}`,
}))
messages.unshift({ role: 'user', content: 'Always use pnpm. Fix the login in src/login.ts.' })

const result = await compact(messages, { keep: 4 }) // the newest 4 stay; { model } has a model write the summary
if (result.type === 'failed') throw new Error(result.why)
const { before, after } = result.tokens
console.log(`${messages.length} messages became ${result.messages.length}; ${before} tokens became ${after}`)
console.log(`the rule is still there: ${result.summary.includes('Always use pnpm')}`)
