// Hooks around compactions: functions of yours, or shell commands as coding agents have them in their settings.
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'

let isDeploying = true
const engine = createEngine({
  model: offline(),
  hookSettings: {
    functions: {
      // Before: refuse it, add instructions for the summarizer, or write the summary yourself ({ summary }).
      PreCompact: [
        () => (isDeploying ? { veto: 'A deployment is running.' } : { instructions: ['Name every ticket.'] }),
      ],
      // When the new context begins: add what the agent must know.
      SessionStart: [
        (call) =>
          call.event === 'SessionStart' && call.source === 'compact'
            ? { context: ['Dana is on call today.'] }
            : undefined,
      ],
      // After: the outcome.
      PostCompact: [
        (call) => {
          if (call.event === 'PostCompact') console.log(`compacted: ${call.tokensBefore} → ${call.tokensAfter} tokens`)
          return undefined
        },
      ],
    },
    // It gets the event as JSON on stdin; what it prints goes to the summarizer.
    settings: { PreCompact: [{ matcher: 'manual', hooks: [{ type: 'command', command: 'echo Keep all dates.' }] }] },
  },
})
const session = await engine.start()
session.add({ role: 'user', content: `Ticket 4711: the importer loses umlauts. ${'Here is the log. '.repeat(400)}` })
session.record({ content: `It reads Latin-1 as UTF-8. ${'I checked each step. '.repeat(400)}` })

const refused = await session.compact()
console.log(refused.type === 'failed' ? `refused: ${refused.why}` : 'not refused')
isDeploying = false
await session.compact()
console.log(`told: ${JSON.stringify(session.messages()).includes('Dana is on call today.')}`)
await session.close()
