// Without a session: a list of messages becomes a shorter one. Run it: node examples/src/compact-messages.ts
import { compact } from 'everlong'

export async function main(say: (line: string) => void = console.log): Promise<void> {
  const messages = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content:
      at === 0
        ? 'Always use pnpm. Mend the login in src/login.ts.'
        : at % 2 === 0
          ? 'Go on.'
          : `Step ${at}: ${'what was looked at, and what it said. '.repeat(60)}`,
  }))
  const result = await compact(messages, { keep: 4 })
  if (result.type === 'failed') throw new Error(result.detail)
  const { before, after } = result.tokens
  say(`${messages.length} messages became ${result.messages.length}; ${before} tokens became ${after}`)
  say(`the rule is still there: ${result.summary.includes('Always use pnpm')}`)
}

if (import.meta.main) await main()
