// A mechanism of your own: of all polls of a status only the newest counts, so older ones are dropped from the
// context. Everlong checks the plan, keeps calls with their results, and can undo it.
import { offline } from 'everlong'
import { blocksOf, type PlanningMechanism, snip } from 'everlong/mechanisms'
import { createEngine } from 'everlong/node'

const name = 'drop-old-polls'
const dropOldPolls: PlanningMechanism = {
  name,
  plan: (view, situation) => {
    const polls = view.messages.flatMap(({ content }, at) => {
      const isPoll = blocksOf(content).some((block) => block.type === 'tool_use' && block.name === 'poll_status')
      return isPoll ? [at] : []
    })
    const [oldest, newer] = polls
    const from = view.sources[oldest ?? -1]?.uuids[0]
    if (oldest === undefined || newer === undefined || from === undefined) {
      return { type: 'declined', mechanism: name, reason: 'nothing-to-do', why: 'There are no two polls.' }
    }
    // It grows to the result of the call.
    const plan = snip({ from, to: from, marker: '[An older poll of the status was here.]' }).plan(view, situation)
    return { ...plan, mechanism: name }
  },
}

const engine = createEngine({
  model: offline(),
  mechanisms: ({ reduce }) => ({ reduce: [dropOldPolls, ...reduce] }),
})
const session = await engine.start({ tools: [{ name: 'poll_status', input_schema: { type: 'object' } }] })
session.add({ role: 'user', content: 'Deploy version 7, and tell me when it is up.' })
for (let poll = 1; poll <= 4; poll++) {
  session.record({ content: [{ type: 'tool_use', id: `toolu_${poll}`, name: 'poll_status', input: {} }] })
  const content = `status ${poll}: ${'pod is starting; '.repeat(200)}`
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${poll}`, content }] })
  const request = await session.prepare()
  if (request.type === 'blocked') throw new Error(request.why)
  const sent = JSON.stringify(request.body.messages)
  console.log(`poll ${poll}: in the request: ${[1, 2, 3, 4].filter((at) => sent.includes(`status ${at}:`)).join(', ')}`)
}
await session.close()
